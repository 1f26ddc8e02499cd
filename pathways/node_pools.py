"""The node pools: one per slice, and one of CPU nodes for the head.

Source: GKE documentation on TPU slices and Pathways clusters; accelerator facts in tpu.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pathways import names
from pathways.settings import Capacity, Settings
from pathways.topology import Placement, SliceShape

HEAD_MAX_PODS = 110
# A TPU node runs a worker and node agents; fewer pods leave addresses for more nodes.
TPU_MAX_PODS = 16


@dataclass(frozen=True)
class Reservation:
    """How a pool uses reservations. Stated in every case: what GKE would fill in replaces the pool later."""

    consume: Literal["NO_RESERVATION", "SPECIFIC_RESERVATION"]
    name: str | None = None


@dataclass(frozen=True)
class NodePool:
    """What both kinds of pool have. `nodes` is per pool; every pool lies in one zone."""

    name: str
    machine_type: str
    nodes: int
    zone: str
    max_pods_per_node: int
    labels: Mapping[str, str]


@dataclass(frozen=True)
class TpuPool(NodePool):
    """The nodes of one slice."""

    topology: str
    placement: Placement
    spot: bool
    reservation: Reservation


def head_pool(settings: Settings) -> NodePool:
    """The CPU pool, in the slices' zone so that the head's traffic stays there."""
    return NodePool(
        name=names.of(settings).head_pool,
        machine_type=settings.head.machine_type,
        nodes=settings.head.node_count,
        zone=settings.slices.zone,
        max_pods_per_node=HEAD_MAX_PODS,
        labels=settings.labels,
    )


def tpu_pools(settings: Settings, shape: SliceShape) -> tuple[TpuPool, ...]:
    """One pool per slice, all alike but for the name."""
    capacity = settings.slices.capacity
    return tuple(
        TpuPool(
            name=name,
            machine_type=shape.machine_type.name,
            nodes=shape.vms,
            zone=settings.slices.zone,
            max_pods_per_node=TPU_MAX_PODS,
            labels=settings.labels,
            topology=str(shape.topology),
            placement=shape.placement,
            spot=capacity.type == "spot",
            reservation=_reservation(capacity),
        )
        for name in names.of(settings).tpu_pools
    )


def _reservation(capacity: Capacity) -> Reservation:
    if capacity.type != "reservation":
        return Reservation("NO_RESERVATION")
    shared_from = (
        f"projects/{capacity.reservation_project}/reservations/" if capacity.reservation_project else ""
    )
    return Reservation("SPECIFIC_RESERVATION", f"{shared_from}{capacity.reservation}")
