"""Sizes of the CPU machine types that a head pool may use, read from machines.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml


@dataclass(frozen=True)
class CpuMachine:
    """A CPU machine type; memory in GiB."""

    name: str
    vcpus: int
    memory_gib: float


def cpu_machine(name: str) -> CpuMachine | None:
    """The machine type of that name, None where the catalogue does not know it."""
    family, _, size = name.rpartition("-")
    known = _families().get(family)
    if known is None or not size.isdigit() or int(size) not in known["sizes"]:
        return None
    return CpuMachine(name, int(size), int(size) * known["gib_per_vcpu"])


@cache
def _families() -> dict[str, dict[str, Any]]:
    text = resources.files("pathways").joinpath("machines.yaml").read_text("utf-8")
    families: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return families
