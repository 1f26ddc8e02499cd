"""Runs a command in a container: `python enter.py FOLDER COMMAND ARGUMENTS...`; FOLDER has the container's runs.

It runs in a bare interpreter, for probes and `kubectl exec` (debugging.py): standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import NoReturn


def enter(run: str, argv: list[str]) -> NoReturn:
    """Become `argv` in the container of that run. Raises OSError where it does not run, or has no such program."""
    with open(f"{run}/record.json") as record, open(f"{run}/run.json") as command:
        pid, known = json.load(record)["pid"], json.load(command)
    root = os.open(f"/proc/{pid}/root", os.O_PATH)
    kinds = ["mnt", "uts"] if os.geteuid() == 0 else ["user", "mnt", "uts"]
    for namespace in [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in kinds]:
        if ctypes.CDLL(None, use_errno=True).setns(namespace, 0) != 0:
            raise OSError(ctypes.get_errno(), "the container's namespaces cannot be entered")
    os.fchdir(root)
    os.chroot(".")
    os.chdir(known["workingDir"])
    terminal = {"TERM": os.environ["TERM"]} if "TERM" in os.environ else {}
    os.execvpe(argv[0], argv, known["env"] | terminal)


def latest(container: str) -> str:
    """The folder of a container's latest run."""
    return max((entry.path for entry in os.scandir(container)), key=lambda path: int(path.rpartition("/")[2]))


def main() -> int:
    folder, *command = sys.argv[1:]
    try:
        enter(latest(folder), command)
    except (OSError, ValueError, KeyError) as error:
        print(f"{command[0]} cannot run in the container: {error}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
