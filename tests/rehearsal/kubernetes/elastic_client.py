"""An elastic JAX program: tells which slices are active whenever that changes, and ends with the code in /tmp/end."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

# What jaxlib logs of each lost array hides what the program tells.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax  # noqa: E402
import pathwaysutils  # noqa: E402
from pathwaysutils.elastic import elastic  # noqa: E402

END = Path("/tmp/end")


def main(wanted: int) -> int:
    pathwaysutils.initialize()
    slices = elastic.get_slice_to_devices(jax.devices())
    if len(slices) < wanted:
        # JAX asks for devices once: only another process sees slices that come later.
        time.sleep(1)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    told: list[int] = []
    while True:
        active = sorted(elastic.get_active_slice_indices(slices))
        if active != told:
            print(json.dumps({"active": active}), flush=True)
            told = active
        with contextlib.suppress(FileNotFoundError):
            code = int(END.read_text())
            END.unlink()
            return code
        time.sleep(0.5)


if __name__ == "__main__":
    ended = main(int(sys.argv[1]))
    sys.stdout.flush()
    os._exit(ended)
