"""Runs a command in a container: `python enter.py RUN COMMAND ARGUMENTS...`; RUN is the folder of the container's run.

`kubectl exec` comes here as well: kwok starts the command by its name, finds a link to this file (debugging.py), and
has put the container's folder of runs into REHEARSAL_CONTAINER. It runs in a bare interpreter: standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import NoReturn

CONTAINER = "REHEARSAL_CONTAINER"


def enter(run: str, argv: list[str]) -> NoReturn:
    """Become `argv` in the container of that run. Raises OSError where it does not run, or has no such program."""
    with open(f"{run}/record.json") as record, open(f"{run}/run.json") as command:
        pid, known = json.load(record)["pid"], json.load(command)
    root = os.open(f"/proc/{pid}/root", os.O_PATH)
    kinds = ["mnt", "uts"] if os.geteuid() == 0 else ["user", "mnt", "uts"]
    for namespace in [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in kinds]:
        if ctypes.CDLL(None, use_errno=True).setns(namespace, 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    os.fchdir(root)
    os.chroot(".")
    os.chdir(known["workingDir"])
    os.execvpe(argv[0], argv, {**known["env"], **({"TERM": os.environ["TERM"]} if "TERM" in os.environ else {})})


def latest(container: str) -> str:
    """The folder of a container's latest run."""
    return max((entry.path for entry in os.scandir(container)), key=lambda path: int(path.rpartition("/")[2]))


def main() -> int:
    # Started by a name of its own, this file stands for the command of that name.
    name = os.path.basename(sys.argv[0])
    try:
        if name == os.path.basename(__file__):
            enter(sys.argv[1], sys.argv[2:])
        enter(latest(os.environ[CONTAINER]), [name, *sys.argv[1:]])
    except (OSError, ValueError, KeyError) as error:
        print(f"{name}: cannot run in the container: {error}", file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
