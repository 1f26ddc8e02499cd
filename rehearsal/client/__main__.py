"""`python -m rehearsal.client`: make the environment with JAX, or with `check ARGUMENTS...` run the check in it."""

from __future__ import annotations

import os
import sys

from rehearsal.client import CHECK, ENVIRONMENT, python
from rehearsal.errors import RehearsalError


def main() -> int:
    command, *arguments = sys.argv[1:] or ["install"]
    if command not in ("install", "check") or (command == "install" and arguments):
        print("Write python -m rehearsal.client install, or check ARGUMENTS...", file=sys.stderr)
        return 2
    try:
        interpreter = python() or ENVIRONMENT.ensure() / "bin" / "python"
    except RehearsalError as error:
        print(error, file=sys.stderr)
        return 1
    if command == "check":
        os.execv(interpreter, [str(interpreter), str(CHECK), *arguments])
    print(interpreter.parent.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
