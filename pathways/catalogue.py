"""The accelerator catalogue's form: what tpu.yaml states, and that it does not contradict itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pathways import data
from pathways.geometry import Topology

MultiHostPlacement = Literal["compact", "workload_policy"]
FurtherNetworks = Literal["second", "dranet"]


@dataclass(frozen=True)
class MachineType:
    """A TPU machine type of Compute Engine.

    Memory in GiB; vCPUs and memory are None where no source states them. Topologies go up by size.
    """

    name: str
    generation: str
    host: Topology
    pathways_prefix: str | None
    vcpus: int | None
    memory_gib: int | None
    topologies: tuple[Topology, ...]

    @property
    def chips_per_vm(self) -> int:
        return self.host.chips

    def vms(self, topology: Topology) -> int:
        """VMs of a slice of this topology."""
        return topology.chips // self.chips_per_vm

    @property
    def supports_pathways(self) -> bool:
        return self.pathways_prefix is not None


@dataclass(frozen=True)
class ChipQuota:
    """Compute Engine's quotas for a generation's chips in a region, as its console names them."""

    standard: str
    preemptible: str
    family: str | None


@dataclass(frozen=True)
class Generation:
    """A TPU generation as GKE offers it; GKE versions as written in tpu.yaml, None where none is stated."""

    name: str
    aliases: tuple[str, ...]
    experimental: bool
    accelerator_type: str
    gke_label: str
    tensorcores_per_chip: int
    dimensions: int
    documented_largest: Topology | None
    multi_host_placement: MultiHostPlacement
    minimum_gke: str | None
    node_auto_provisioning: str | None
    networks: tuple[FurtherNetworks, ...]
    zones: tuple[str, ...]
    zones_to_confirm: tuple[str, ...]
    quota: ChipQuota | None
    machine_types: tuple[MachineType, ...]

    @property
    def topologies(self) -> tuple[Topology, ...]:
        """Every topology that Pathways can use, smallest first."""
        usable = {t for machine in self.machine_types if machine.supports_pathways for t in machine.topologies}
        return tuple(sorted(usable, key=by_size))


@dataclass(frozen=True)
class Catalogue:
    """All generations by name, all TPU machine types by name, and the least GKE version of each feature."""

    generations: Mapping[str, Generation]
    machine_types: Mapping[str, MachineType]
    minimum_gke: Mapping[str, str]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _MachineTypeEntry(_Entry):
    host: str
    pathways: str | None = None
    vcpus: int | None = None
    memory_gib: int | None = None
    topologies: list[str]


class _QuotaEntry(_Entry):
    standard: str
    preemptible: str
    family: str | None = None


class _GenerationEntry(_Entry):
    aliases: list[str] = []
    experimental: bool = False
    accelerator_type: str
    gke_label: str
    tensorcores_per_chip: int = Field(ge=1)
    dimensions: int = Field(ge=2, le=3)
    documented_largest: str | None = None
    multi_host_placement: MultiHostPlacement
    minimum_gke: str | None = None
    node_auto_provisioning: str | None = None
    networks: list[FurtherNetworks] = []
    zones: list[str]
    zones_to_confirm: list[str] = []
    quota: _QuotaEntry | None = None
    machine_types: dict[str, _MachineTypeEntry]


class _File(_Entry):
    minimum_gke: dict[str, str]
    topology_sets: dict[str, list[str]]
    generations: dict[str, _GenerationEntry]


def load(text: str) -> Catalogue:
    """Read a catalogue from YAML. Raises ValueError naming the entry that contradicts itself."""
    file = _File.model_validate(data.load(text))
    generations = {name: _generation(name, entry, file.topology_sets) for name, entry in file.generations.items()}
    machine_types = {m.name: m for g in generations.values() for m in g.machine_types}
    _check_names(generations.values())
    return Catalogue(MappingProxyType(generations), MappingProxyType(machine_types), MappingProxyType(file.minimum_gke))


def _generation(name: str, entry: _GenerationEntry, sets: dict[str, list[str]]) -> Generation:
    largest = entry.documented_largest
    return Generation(
        name=name,
        aliases=tuple(entry.aliases),
        experimental=entry.experimental,
        accelerator_type=entry.accelerator_type,
        gke_label=entry.gke_label,
        tensorcores_per_chip=entry.tensorcores_per_chip,
        dimensions=entry.dimensions,
        documented_largest=Topology.parse(largest) if largest else None,
        multi_host_placement=entry.multi_host_placement,
        minimum_gke=entry.minimum_gke,
        node_auto_provisioning=entry.node_auto_provisioning,
        networks=tuple(entry.networks),
        zones=tuple(entry.zones),
        zones_to_confirm=tuple(entry.zones_to_confirm),
        quota=ChipQuota(**entry.quota.model_dump()) if entry.quota else None,
        machine_types=tuple(
            _machine_type(machine, name, entry.dimensions, fields, sets)
            for machine, fields in entry.machine_types.items()
        ),
    )


def _machine_type(
    name: str, generation: str, dimensions: int, entry: _MachineTypeEntry, sets: dict[str, list[str]]
) -> MachineType:
    written = [text for item in entry.topologies for text in sets.get(item, [item])]
    machine = MachineType(
        name=name,
        generation=generation,
        host=Topology.parse(entry.host),
        pathways_prefix=entry.pathways,
        vcpus=entry.vcpus,
        memory_gib=entry.memory_gib,
        topologies=tuple(sorted(map(Topology.parse, written), key=by_size)),
    )
    if not name.endswith(f"-{machine.chips_per_vm}t"):
        raise ValueError(f"{name}: a host of {machine.host} has {machine.chips_per_vm} chips, the name says otherwise")
    if len(set(written)) != len(written):
        raise ValueError(f"{name}: a topology is listed twice")
    for topology in machine.topologies:
        hosts_fit = all(a % b == 0 for a, b in zip(topology.in_three_dims, machine.host.dims, strict=True))
        if len(topology.dims) != dimensions or not hosts_fit:
            raise ValueError(f"{name}: hosts of {machine.host} do not tile {topology} in {dimensions} dimensions")
    return machine


def _check_names(generations: Iterable[Generation]) -> None:
    """Every name a user can write means one thing."""
    owner: dict[str, str] = {}
    for generation in generations:
        own = {generation.name, *generation.aliases, generation.accelerator_type, generation.gke_label}
        for name in own | {machine.name for machine in generation.machine_types}:
            if owner.setdefault(name, generation.name) != generation.name:
                raise ValueError(f"{name} names both {owner[name]} and {generation.name}")


def by_size(topology: Topology) -> tuple[int, tuple[int, ...]]:
    """Sort key: chips, then the axes."""
    return topology.chips, topology.dims
