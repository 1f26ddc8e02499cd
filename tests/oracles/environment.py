"""The environment of other people's tools: locked, apart from ours, and made once in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements-oracles.lock"


@dataclass(frozen=True)
class Oracles:
    """Programs of the environment. `home` stands in for the user's home, so that no tool reads or writes settings."""

    folder: Path
    home: Path

    def run(self, program: str, *arguments: str, input: str = "") -> str:
        """What a program printed. Raises AssertionError with its errors where it failed."""
        environment = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            # xpk would send what it was asked to its makers, and ask Google about the reservation.
            "TELEMETRY_ENABLED": "false",
            "RESERVATIONS_VALIDATION_ENABLED": "false",
            "JAX_PLATFORMS": "cpu",
        }
        argv = [str(self.folder / "bin" / program), *arguments]
        done = subprocess.run(argv, input=input, capture_output=True, text=True, env=environment, cwd=self.home)
        assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def folder() -> Path:
    """Where the environment of exactly this lock lies."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "pulumi-pathways" / "oracles" / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]


def ensure() -> Path:
    """Make the environment unless it is there: about a minute and 900 MB."""
    target = folder()
    if not (target / "complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        venv.create(target, with_pip=True)
        pip = [str(target / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        options = ["--quiet", "--no-deps", "--no-compile", "--require-hashes", "--requirement", str(LOCK)]
        subprocess.run([*pip, "install", *options], check=True)
        (target / "complete").touch()
    return target
