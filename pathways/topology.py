"""Slice geometry: what a generation, a topology and a machine type amount to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pathways import tpu
from pathways.geometry import CatalogueError, Topology, count

__all__ = ["CatalogueError", "HostKind", "Placement", "SliceShape", "Topology", "resolve"]

HostKind = Literal["single", "multi"]
Placement = Literal["none", "compact", "workload_policy"]


@dataclass(frozen=True)
class SliceShape:
    """One slice of a generation's machine type in a topology that it offers; all else is derived."""

    generation: tpu.Generation
    machine_type: tpu.MachineType
    topology: Topology

    @property
    def chips(self) -> int:
        return self.topology.chips

    @property
    def tensorcores(self) -> int:
        return self.chips * self.generation.tensorcores_per_chip

    @property
    def chips_per_vm(self) -> int:
        """Also the google.com/tpu resource of each node and worker."""
        return self.machine_type.chips_per_vm

    @property
    def vms(self) -> int:
        """VMs of the slice, thus nodes of its pool and worker pods."""
        return self.machine_type.vms(self.topology)

    @property
    def host_kind(self) -> HostKind:
        return "single" if self.vms == 1 else "multi"

    @property
    def placement(self) -> Placement:
        """How GKE is asked to place the pool; GKE refuses a placement policy on single-host pools."""
        return "none" if self.vms == 1 else self.generation.multi_host_placement

    @property
    def chips_per_host_bounds(self) -> str:
        """The chips of one VM along three axes, as in "2,2,1"."""
        return _bounds(self.machine_type.host.in_three_dims)

    @property
    def host_bounds(self) -> str:
        """The VMs of the slice along three axes, as in "2,2,4"."""
        axes = zip(self.topology.in_three_dims, self.machine_type.host.in_three_dims, strict=True)
        return _bounds(tuple(chips // per_host for chips, per_host in axes))

    @property
    def accelerator_type(self) -> str:
        """Google's short name, which counts TensorCores: v6e-16, v5litepod-16, v5p-32."""
        return f"{self.generation.accelerator_type}-{self.tensorcores}"

    @property
    def instance_type(self) -> str:
        """The Pathways instance type, as in tpuv6e:4x4. Raises CatalogueError where there is none."""
        if not self.machine_type.supports_pathways:
            raise _unsupported(self.machine_type)
        return f"{self.machine_type.pathways_prefix}:{self.topology}"

    @property
    def beyond_documented(self) -> bool:
        """Whether the slice is larger than Google documents as schedulable, though the tables list it."""
        largest = self.generation.documented_largest
        return largest is not None and self.chips > largest.chips


def resolve(accelerator: str, topology: str, machine_type: str | None = None) -> SliceShape:
    """The slice that a stack asks for, on the default machine type unless one is named.

    Raises CatalogueError for names, topologies and combinations that Pathways on GKE cannot have.
    """
    generation = tpu.generation(accelerator)
    machine = None if machine_type is None else _machine_of(generation, machine_type)
    wanted = Topology.parse(topology)
    if machine is None:
        machine = tpu.default_machine_type(generation, wanted)
    if machine is None or wanted not in machine.topologies:
        raise _topology_fault(generation, wanted, machine)
    return SliceShape(generation, machine, wanted)


def _machine_of(generation: tpu.Generation, name: str) -> tpu.MachineType:
    machine = tpu.machine_type(name)
    if machine.generation != generation.name:
        own = ", ".join(m.name for m in generation.machine_types if m.supports_pathways)
        message = f"{name} is a machine type of {machine.generation}, not of {generation.name}."
        raise CatalogueError(message, f"Write one of {own}, or accelerator: {machine.generation}.", "machineType")
    if not machine.supports_pathways:
        raise _unsupported(machine)
    return machine


def _unsupported(machine: tpu.MachineType) -> CatalogueError:
    generation = tpu.catalogue().generations[machine.generation]
    usable = ", ".join(m.name for m in generation.machine_types if m.supports_pathways)
    message = f"Pathways has no instance type for {machine.name} ({count(machine.chips_per_vm, 'chip')} per VM)."
    return CatalogueError(message, f"Write one of {usable}, or leave machineType out.", "machineType")


def _topology_fault(generation: tpu.Generation, wanted: Topology, machine: tpu.MachineType | None) -> CatalogueError:
    """Why the topology cannot be had, and the one that was probably meant or the nearest ones."""
    offering = tpu.machine_types_for(generation, wanted)
    usable = [other for other in offering if other.supports_pathways]
    valid = generation.topologies if machine is None else machine.topologies
    if usable and machine is not None:
        message = f"{machine.name} does not offer {wanted}: {_hosts(machine, wanted)}."
        other = " or ".join(other.name for other in usable)
        fix = f"Write machineType: {other}, or for {machine.name} one of {_nearest(wanted, valid)}."
        return CatalogueError(message, fix, "topology")
    if offering:
        message = f"{wanted} of {generation.name} exists only on {offering[0].name}, which Pathways cannot use."
        return CatalogueError(message, f"Write one of the nearest: {_nearest(wanted, valid)}.", "topology")
    for same in valid:
        if sorted(same.in_three_dims) == sorted(wanted.in_three_dims):
            why = "the axes in this order" if len(same.dims) == len(wanted.dims) else f"{generation.dimensions} axes"
            return CatalogueError(
                f'{generation.name} has {same}, not "{wanted}".', f"Write {same} ({why}).", "topology"
            )
    message = f"{generation.name} has no topology {wanted} ({count(wanted.chips, 'chip')})"
    if len(wanted.dims) != generation.dimensions:
        message += f"; its topologies have {generation.dimensions} axes"
    return CatalogueError(f"{message}.", f"Write one of the nearest: {_nearest(wanted, valid)}.", "topology")


def _nearest(wanted: Topology, valid: tuple[Topology, ...], most: int = 4) -> str:
    """Up to `most` topologies nearest in chips, smallest first, as text."""

    def distance(topology: Topology) -> float:
        return abs(math.log(topology.chips / wanted.chips))

    nearest = sorted(sorted(valid, key=distance)[:most], key=lambda topology: topology.chips)
    return ", ".join(f"{topology} ({count(topology.chips, 'chip')})" for topology in nearest)


def _hosts(machine: tpu.MachineType, wanted: Topology) -> str:
    whole = wanted.chips / machine.chips_per_vm
    return f"its VMs have {count(machine.chips_per_vm, 'chip')}, {wanted} would need {whole:g} of them"


def _bounds(axes: tuple[int, ...]) -> str:
    return ",".join(map(str, axes))
