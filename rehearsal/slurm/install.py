"""Slurm's programs, from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from rehearsal.errors import RehearsalError

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged", "unshare", "scontrol")
# Daemons live where an ordinary user's PATH does not look.
SYSTEM_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def missing() -> list[str]:
    """Those of Slurm's programs that this machine lacks."""
    return [name for name in PROGRAMS if program(name) is None]


def program(name: str, besides: Path | None = None) -> str | None:
    """Path of a program of the system, None where there is none. The folder `besides` is not looked into."""
    folders = [folder for folder in SYSTEM_PATH.split(os.pathsep) if Path(folder) != besides]
    return shutil.which(name, path=os.pathsep.join(folders))


def ensure(report: Callable[[str], None]) -> None:
    """Install what is missing, saying so. Raises RehearsalError that names the command where it cannot."""
    absent = missing()
    if not absent:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
    by_hand = f"Install it as root: {' '.join(command)}"
    if program("apt-get") is None:
        raise RehearsalError(
            f"The Slurm rehearsal needs {', '.join(absent)}. {by_hand}, or your system's own packages "
            "of Slurm and munge."
        )
    if os.geteuid() != 0:
        raise RehearsalError(f"The Slurm rehearsal needs {', '.join(absent)}. {by_hand}")
    report(f"installing Slurm from Debian's packages {', '.join(PACKAGES)} (about 2 MB, once)")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update"], command):
        done = subprocess.run(step, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RehearsalError(f"{' '.join(step)} failed:\n{(done.stderr or done.stdout).strip()[-800:]}")
    if missing():
        raise RehearsalError(f"{', '.join(missing())} are still missing after {' '.join(command)}")
