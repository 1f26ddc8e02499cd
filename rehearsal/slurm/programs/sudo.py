"""sudo without a password, for a user who is root already; refused where the file `no-sudo` says so."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`sudo -n COMMAND...`"""
    if not arguments or arguments[0] != "-n":
        print("sudo: a terminal is required to read the password", file=sys.stderr)
        return 1
    if (folder / "no-sudo").exists():
        print("sudo: a password is required", file=sys.stderr)
        return 1
    # Like the real one, it keeps little of the caller's environment.
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "PATH", "TERM")}
    os.execvpe(arguments[1], arguments[1:], {**kept, "SLURM_CONF": str(folder / "client.conf")})
