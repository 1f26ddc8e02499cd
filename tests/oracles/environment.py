"""Other people's tools, in an environment of their own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rehearsal.environments import PythonEnvironment

_LOCK = Path(__file__).resolve().parents[2] / "requirements-oracles.lock"
ENVIRONMENT = PythonEnvironment("oracles", _LOCK, "xpk, pathwaysutils and JAX (1.1 GB)")


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
