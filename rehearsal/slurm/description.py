"""What a rehearsed Slurm cluster consists of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Addresses of a /24 that its nodes use: .1 to .250.
_PER_THIRD_OCTET = 250


@dataclass(frozen=True)
class NodeSet:
    """Nodes of one kind. `block` nodes at a time are close to each other, as the VMs of a TPU slice are.

    `static` nodes run from the start; the `dynamic` ones after them are made when a job wants them. `tpu` is the
    generation of TPU nodes. Memory in MiB.
    """

    name: str
    static: int
    dynamic: int
    cpus: int
    memory: int
    block: int = 1
    tpu: str | None = None

    @property
    def count(self) -> int:
        return self.static + self.dynamic


@dataclass(frozen=True)
class Partition:
    """A queue over node sets; an exclusive one gives out whole nodes."""

    name: str
    node_sets: tuple[str, ...]
    exclusive: bool = False


@dataclass(frozen=True)
class Node:
    """One node: its name, its own loopback address, whether it is made on demand."""

    name: str
    address: str
    node_set: NodeSet
    dynamic: bool


@dataclass(frozen=True)
class Description:
    """A cluster: its name, the second octet of its loopback addresses, its node sets and partitions."""

    name: str
    octet: int
    node_sets: tuple[NodeSet, ...]
    partitions: tuple[Partition, ...]
    default_partition: str

    @property
    def controller(self) -> str:
        """Host name of the machine of slurmctld."""
        return f"{self.name}-controller"

    @property
    def controller_address(self) -> str:
        return f"127.{self.octet}.0.1"

    def nodes(self) -> Iterator[Node]:
        """Every node, named as Cluster Director names them: CLUSTER-NODESET-NUMBER."""
        number = 0
        for node_set in self.node_sets:
            for index in range(node_set.count):
                third, fourth = divmod(number, _PER_THIRD_OCTET)
                yield Node(
                    f"{self.name}-{node_set.name}-{index}",
                    f"127.{self.octet}.{third + 1}.{fourth + 1}",
                    node_set,
                    dynamic=index >= node_set.static,
                )
                number += 1

    def members(self, node_set: NodeSet) -> list[Node]:
        return [node for node in self.nodes() if node.node_set.name == node_set.name]

    def node_set(self, name: str) -> NodeSet:
        return next(node_set for node_set in self.node_sets if node_set.name == name)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> Description:
        values: dict[str, Any] = json.loads(path.read_text())
        values["node_sets"] = tuple(NodeSet(**each) for each in values["node_sets"])
        values["partitions"] = tuple(
            Partition(**{**each, "node_sets": tuple(each["node_sets"])}) for each in values["partitions"]
        )
        return cls(**values)
