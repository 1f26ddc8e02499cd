"""A JAX client as a user of a Pathways stack has it: its environment, and the check that Pathways answers it."""

from __future__ import annotations

import os
from pathlib import Path

from rehearsal.environments import PythonEnvironment, is_complete

CHECKOUT = Path(__file__).resolve().parents[2]
ENVIRONMENT = PythonEnvironment("client", CHECKOUT / "requirements-client.lock", "JAX and pathwaysutils (700 MB)")
CHECK = Path(__file__).with_name("check.py")
# Names another folder with such an environment; see rehearsal.standins.
VARIABLE = "REHEARSAL_CLIENT"


def python() -> Path | None:
    """The interpreter that has JAX; None where the environment has not been made yet, or not to its end."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else ENVIRONMENT.folder
    return folder / "bin" / "python" if is_complete(folder) else None
