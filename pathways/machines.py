"""Sizes of the CPU machine types that a head pool may use, read from machines.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pathways import data


@dataclass(frozen=True)
class CpuMachine:
    """A CPU machine type; memory in GiB."""

    name: str
    vcpus: int
    memory_gib: float

    @property
    def allocatable_vcpus(self) -> float:
        """What GKE leaves to pods."""
        return self.vcpus - reserved_millicpus(self.vcpus) / 1000

    @property
    def allocatable_gib(self) -> float:
        """What GKE leaves to pods."""
        return self.memory_gib - reserved_mib(int(self.memory_gib * 1024)) / 1024


def cpu_machine(name: str) -> CpuMachine | None:
    """The machine type of that name, None where the catalogue does not know it."""
    family, _, size = name.rpartition("-")
    known = _families().get(family)
    if known is None or not size.isdigit() or int(size) not in known["sizes"]:
        return None
    return CpuMachine(name, int(size), int(size) * known["gib_per_vcpu"])


def reserved_millicpus(vcpus: int) -> int:
    """CPU that GKE keeps for itself: 6% of the first core, 1% of the second, 0.5% of two more, 0.25% beyond.

    Source: "Plan node sizes", GKE documentation; so for the memory.
    """
    return int(sum(1000 * share * _within(vcpus, low, high) for low, high, share in _CPU_SHARES))


def reserved_mib(mib: int) -> int:
    """Memory that GKE keeps for itself, in MiB, the 100 MiB below which the kubelet evicts included."""
    if mib < 1024:
        return 255 + 100
    shares = (share * _within(mib, low * 1024, high * 1024) for low, high, share in _MEMORY_SHARES)
    return 100 + int(sum(shares))


_ALL = 1 << 40
_CPU_SHARES = ((0, 1, 0.06), (1, 2, 0.01), (2, 4, 0.005), (4, _ALL, 0.0025))
_MEMORY_SHARES = ((0, 4, 0.25), (4, 8, 0.20), (8, 16, 0.10), (16, 128, 0.06), (128, _ALL, 0.02))


def _within(amount: int, low: int, high: int) -> int:
    return max(0, min(amount, high) - low)


@cache
def _families() -> dict[str, dict[str, Any]]:
    text = resources.files("pathways").joinpath("machines.yaml").read_text("utf-8")
    families: dict[str, dict[str, Any]] = data.load(text)
    return families
