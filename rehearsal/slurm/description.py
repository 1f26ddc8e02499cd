"""What a rehearsed Slurm cluster consists of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rehearsal.errors import RehearsalError

# Addresses of a /24 that its nodes use: .1 to .250; and how many /24 each node set has to itself.
_PER_THIRD_OCTET = 250
_OCTETS_PER_NODE_SET = 16
_MOST_NODE_SETS = 15
MOST_NODES = _PER_THIRD_OCTET * _OCTETS_PER_NODE_SET

ANY_TPU = "any"
"""For TPU nodes whose generation nobody stated, as with a reservation."""


@dataclass(frozen=True)
class NodeSet:
    """Nodes of one kind. `static` nodes run from the start; the `dynamic` ones after them come when a job wants them.

    Memory in MiB. `tpu` is the generation of TPU nodes, and `slices` the numbers of VMs that their slices may have.
    `place` says which addresses are theirs.
    """

    name: str
    static: int
    dynamic: int
    cpus: int
    memory: int
    tpu: str | None = None
    slices: tuple[int, ...] = ()
    place: int = 0

    @property
    def count(self) -> int:
        return self.static + self.dynamic

    def blocks(self, vms: int) -> tuple[str, ...]:
        """The blocks that a slice of so many VMs may lie on, as features of their nodes."""
        return tuple(_block(self, vms, number) for number in range(self.count // vms)) if vms in self.slices else ()


@dataclass(frozen=True)
class Partition:
    """A queue over node sets; an exclusive one gives out whole nodes."""

    name: str
    node_sets: tuple[str, ...]
    exclusive: bool = False


@dataclass(frozen=True)
class Node:
    """One node: its name, its own loopback address, whether it is made on demand, what a job may ask of it."""

    name: str
    address: str
    node_set: NodeSet
    dynamic: bool
    features: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """A cluster: its name, the second octet of its loopback addresses, its node sets and partitions.

    `logins` counts the login nodes. `mounts` are folders of this machine by the path where nodes see them.
    """

    name: str
    octet: int
    node_sets: tuple[NodeSet, ...]
    partitions: tuple[Partition, ...]
    default_partition: str
    logins: int = 1
    mounts: Mapping[str, str] = field(default_factory=dict)

    @property
    def controller(self) -> str:
        """Host name of the machine of slurmctld."""
        return f"{self.name}-controller"

    @property
    def controller_address(self) -> str:
        return f"127.{self.octet}.0.1"

    def login(self, number: int = 1) -> str:
        """Host name of a login node."""
        return f"{self.name}-login-{number:03}"

    def nodes(self) -> Iterator[Node]:
        """Every node, named as Cluster Director names them: CLUSTER-NODESET-NUMBER."""
        for node_set in self.node_sets:
            for index in range(node_set.count):
                third, fourth = divmod(index, _PER_THIRD_OCTET)
                yield Node(
                    f"{self.name}-{node_set.name}-{index}",
                    f"127.{self.octet}.{1 + node_set.place * _OCTETS_PER_NODE_SET + third}.{fourth + 1}",
                    node_set,
                    dynamic=index >= node_set.static,
                    features=_features(node_set, index),
                )

    def members(self, node_set: NodeSet) -> list[Node]:
        return [node for node in self.nodes() if node.node_set.name == node_set.name]

    def node_set(self, name: str) -> NodeSet:
        return next(node_set for node_set in self.node_sets if node_set.name == name)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> Description:
        values: dict[str, Any] = json.loads(path.read_text())
        values["node_sets"] = tuple(
            NodeSet(**{**each, "slices": tuple(each["slices"])}) for each in values["node_sets"]
        )
        values["partitions"] = tuple(
            Partition(**{**each, "node_sets": tuple(each["node_sets"])}) for each in values["partitions"]
        )
        return cls(**values)


def placed(node_sets: Iterable[NodeSet], before: Iterable[NodeSet] = ()) -> tuple[NodeSet, ...]:
    """Node sets with addresses. Those that were there before keep theirs, so that their nodes can go on running.

    Raises RehearsalError for more nodes than loopback has room for.
    """
    known = {each.name: each.place for each in before}
    wanted = list(node_sets)
    kept = {known[each.name] for each in wanted if each.name in known}
    free = (place for place in range(_MOST_NODE_SETS) if place not in kept)
    found = []
    for each in wanted:
        place = known[each.name] if each.name in known else next(free, None)
        if place is None or each.count > MOST_NODES:
            raise RehearsalError(
                f"Node set {each.name} ({each.count} nodes) is too much for one machine: a rehearsed cluster has up to "
                f"{_MOST_NODE_SETS} node sets of {MOST_NODES} nodes. Rehearse the stack with fewer or smaller slices."
            )
        found.append(replace(each, place=place))
    return tuple(found)


def _features(node_set: NodeSet, index: int) -> tuple[str, ...]:
    """The generation, and the blocks that the node is part of, one for each size of slices."""
    blocks = (_block(node_set, vms, index // vms) for vms in node_set.slices if index // vms < node_set.count // vms)
    return (*([node_set.tpu] if node_set.tpu else []), *blocks)


def _block(node_set: NodeSet, vms: int, number: int) -> str:
    return f"{node_set.name}-{vms}-{number}"
