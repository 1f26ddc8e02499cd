"""Runs the command of a JAX client's container, or the check of rehearsal.client where a rehearsal lacks its program.

The image itself is not here: of a user's own code a rehearsal knows the name only. REHEARSAL_CHECK is the command of
the check, as JSON. It runs in the environment with JAX: standard library only.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys

# What it says begins so where the check runs.
IN_PLACE = "The rehearsal lacks "


def lacking(command: list[str]) -> str | None:
    """What of a command line is not on this machine; None where all of it is."""
    if not command:
        return "the image's own command"
    if shutil.which(command[0]) is None:
        return command[0]
    if not os.path.basename(command[0]).startswith("python"):
        return None
    if command[1:2] == ["-m"] and len(command) > 2:
        return None if _found(command[2]) else f"the Python module {command[2]}"
    script = next((word for word in command[1:] if word.endswith(".py")), None)
    return script if script and not os.path.exists(script) else None


def _found(module: str) -> bool:
    sys.path.insert(0, os.getcwd())  # as python -m does
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def main() -> int:
    command = sys.argv[1:]
    if missing := lacking(command):
        if "REHEARSAL_CHECK" not in os.environ:
            print(f"{IN_PLACE}{missing}, and does not know the slices to look for.", file=sys.stderr)
            return 127
        print(f"{IN_PLACE}{missing}: it checks Pathways in its place.", flush=True)
        command = json.loads(os.environ["REHEARSAL_CHECK"])
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
