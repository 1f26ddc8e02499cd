"""Regions, zones and machine types that exist."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from rehearsal.google import tpus


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(
        resources.files("rehearsal.google").joinpath("locations.yaml").read_text("utf-8")
    )
    return data


@cache
def zones() -> dict[str, tuple[str, ...]]:
    """The zones of every region."""
    found = {region: {f"{region}-{letter}" for letter in letters} for region, letters in _data()["regions"].items()}
    for zone in tpus.zones():
        found.setdefault(region_of(zone), set()).add(zone)
    return {region: tuple(sorted(names)) for region, names in sorted(found.items())}


def region_of(location: str) -> str:
    """The region of a zone; a region is its own."""
    return location.rsplit("-", 1)[0] if location.count("-") == 2 else location


def is_zone(location: str) -> bool:
    return location in zones().get(region_of(location), ())


def is_region(location: str) -> bool:
    return location in zones()


def bucket_location_type(location: str) -> str | None:
    """region, multi-region or dual-region, for the upper-case location of a bucket; None where unknown."""
    if location.lower() in zones():
        return "region"
    if location in _data()["multi_regions"]:
        return "multi-region"
    return "dual-region" if location in _data()["dual_regions"] else None


@dataclass(frozen=True)
class Machine:
    """A machine type; vCPUs and memory are 0 where no source states them."""

    name: str
    vcpus: int
    memory_mib: int


@cache
def machine_types() -> dict[str, Machine]:
    """Every machine type, general-purpose and TPU."""
    found: dict[str, Machine] = {}
    for name, (vcpus, gib) in _data()["shared_core"].items():
        found[name] = Machine(name, vcpus, int(gib * 1024))
    for family, kinds in _data()["machine_families"].items():
        for kind, gib in kinds.items():
            for vcpus in kinds["vcpus"] if kind != "vcpus" else ():
                found[f"{family}-{kind}-{vcpus}"] = Machine(f"{family}-{kind}-{vcpus}", vcpus, int(vcpus * gib * 1024))
    for name, (vcpus, gib) in tpus.sizes().items():
        found[name] = Machine(name, vcpus, gib * 1024)
    return found


def machine_exists(name: str) -> bool:
    """Whether a machine type exists; custom sizes of general-purpose families do."""
    custom = re.fullmatch(r"(?:(\w+)-)?custom-\d+-\d+(?:-ext)?", name)
    if custom:
        return (custom[1] or "n1") in _data()["machine_families"]
    return name in machine_types()
