"""What an instance type such as tpuv6e:4x4 amounts to: hosts, and devices as JAX shows them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from pathways import tpu
from pathways.catalogue import MachineType
from pathways.geometry import CatalogueError, Topology
from pathways.topology import SliceShape

# What libtpu calls the devices of a generation. Source: jax, mesh_utils.py and pallas/mosaic/tpu_info.py.
_KINDS = {"v4": "TPU v4", "v5e": "TPU v5 lite", "v5p": "TPU v5", "v6e": "TPU v6 lite", "tpu7x": "TPU7x"}
# JAX sees both halves of an Ironwood chip; of v4 and v5p chips it sees one device with two cores (megacore).
_DEVICES_PER_CHIP = {"tpu7x": 2}


@dataclass(frozen=True)
class Device:
    """A device of a slice. `id` and `process` count over all slices, `host` within the slice."""

    id: int
    kind: str
    slice_index: int
    host: int
    process: int
    coords: tuple[int, int, int]
    core: int


@dataclass(frozen=True)
class InstanceType:
    """A slice's machine type and topology."""

    machine: MachineType
    topology: Topology

    @classmethod
    def parse(cls, text: str) -> InstanceType:
        """Read tpuv6e:4x4. Raises ValueError for one that does not exist."""
        prefix, _, written = text.partition(":")
        try:
            topology = Topology.parse(written)
        except CatalogueError as error:
            raise ValueError(f"unsupported instance type {text}: {error}") from error
        for machine in tpu.catalogue().machine_types.values():
            if machine.pathways_prefix == prefix and topology in machine.topologies:
                return cls(machine, topology)
        raise ValueError(f"unsupported instance type {text}")

    @property
    def accelerator_type(self) -> str:
        """As libtpu names it, such as v6e-16."""
        generation = tpu.catalogue().generations[self.machine.generation]
        return SliceShape(generation, self.machine, self.topology).accelerator_type

    @property
    def hosts(self) -> int:
        """VMs of a slice."""
        return self.machine.vms(self.topology)

    @property
    def host_shape(self) -> tuple[int, int, int]:
        """Chips of a VM along each axis."""
        return self.machine.host.in_three_dims

    @property
    def host_grid(self) -> tuple[int, int, int]:
        """VMs of a slice along each axis."""
        x, y, z = (whole // own for whole, own in zip(self.topology.in_three_dims, self.host_shape, strict=True))
        return x, y, z

    @property
    def devices_per_slice(self) -> int:
        return self.topology.chips * self._devices_per_chip

    def devices(self, slice_index: int) -> list[Device]:
        """The devices of one slice, host by host; hosts and chips of a host go along x first, then y, then z."""
        kind = _KINDS.get(self.machine.generation, f"TPU {self.machine.generation}")
        found: list[Device] = []
        for host, corner in enumerate(_cells(self.host_grid)):
            for chip in _cells(self.host_shape):
                x, y, z = (c * own + offset for c, own, offset in zip(corner, self.host_shape, chip, strict=True))
                for core in range(self._devices_per_chip):
                    id = slice_index * self.devices_per_slice + len(found)
                    process = slice_index * self.hosts + host
                    found.append(Device(id, kind, slice_index, host, process, (x, y, z), core))
        return found

    @property
    def _devices_per_chip(self) -> int:
        return _DEVICES_PER_CHIP.get(self.machine.generation, 1)


def _cells(bounds: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every cell of a grid, x first."""
    return [cell[::-1] for cell in itertools.product(*(range(bound) for bound in reversed(bounds)))]
