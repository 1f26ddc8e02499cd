"""The client check of a whole stack: what its outputs promise, and what it means when the check fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.client import CHECK
from rehearsal.errors import RehearsalError
from rehearsal.standins.slices import InstanceType


def command(python: str, outputs: Mapping[str, Any], patience: int = 60) -> list[str]:
    """The command line of the check, for a Python that has JAX, by the stack's outputs; it waits `patience` seconds."""
    slices = int(outputs["slices"])
    devices = slices * InstanceType.parse(outputs["instanceType"]).devices_per_slice
    return [python, str(CHECK), f"--slices={slices}", f"--devices={devices}", f"--timeout={patience}"]


def failure(said: str) -> RehearsalError:
    """The error of a stack that a JAX client cannot use. `said` is what the check, or its way, wrote to stderr."""
    return RehearsalError(f"A JAX client cannot use the stack: {said.strip().removeprefix('FAILED: ')}")
