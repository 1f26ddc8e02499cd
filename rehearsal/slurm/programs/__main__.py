"""`python -m rehearsal.slurm.programs NAME ARGUMENTS...`, called by the scripts in a cluster's bin folder."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path


def main() -> int:
    name, *arguments = sys.argv[1:]
    module = {"resume": "power", "suspend": "power"}.get(name, name)
    return int(
        importlib.import_module(f"rehearsal.slurm.programs.{module}").run(
            name, arguments, Path(os.environ["REHEARSAL_SLURM"])
        )
    )


if __name__ == "__main__":
    sys.exit(main())
