"""The node pools: one per slice, and one of CPU nodes for the head.

Source: GKE documentation on TPU slices, flex-start, reservations and Pathways clusters; accelerator facts in tpu.yaml.
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
# GKE ends flex-start VMs after seven days at the latest.
LONGEST_FLEX_START_HOURS = 168
# What turns DRANET, GKE's driver for networks as resources, on in a pool.
DRANET_PROFILE, DRANET_LABELS = "auto", {"cloud.google.com/gke-networking-dra-driver": "true"}


@dataclass(frozen=True)
class Reservation:
    """How a pool uses reservations. Stated in every case: what GKE would fill in replaces the pool later."""

    consume: Literal["NO_RESERVATION", "SPECIFIC_RESERVATION"]
    name: str | None = None


@dataclass(frozen=True)
class FlexStart:
    """Capacity that is waited for: seconds a VM runs at most, and whether a slice's VMs are asked for together."""

    max_run_seconds: int
    queued: bool


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
    """The nodes of one slice. `autoscaled`: GKE makes all of them or none, as pods ask for them."""

    topology: str
    placement: Placement
    autoscaled: bool
    spot: bool
    reservation: Reservation
    flex_start: FlexStart | None
    protected: bool
    second_network: bool
    dranet: bool


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
    slices, capacity = settings.slices, settings.slices.capacity
    return tuple(
        TpuPool(
            name=name,
            machine_type=shape.machine_type.name,
            nodes=shape.vms,
            zone=slices.zone,
            max_pods_per_node=TPU_MAX_PODS,
            labels=settings.labels,
            topology=str(shape.topology),
            placement=shape.placement,
            autoscaled=slices.autoscaling or capacity.type == "flexStart",
            spot=capacity.type == "spot",
            reservation=_reservation(capacity),
            flex_start=_flex_start(capacity),
            protected=slices.protect,
            second_network=settings.network.second is not None,
            dranet=slices.dranet,
        )
        for name in names.of(settings).tpu_pools
    )


def reservation_path(capacity: Capacity) -> str:
    """The reservation as a node pool names it: alone, or with the project that shares it and the part of it."""
    part = ""
    if capacity.reservation_block:
        part += f"/reservationBlocks/{capacity.reservation_block}"
    if capacity.reservation_sub_block:
        part += f"/reservationSubBlocks/{capacity.reservation_sub_block}"
    shared_from = f"projects/{capacity.reservation_project}/reservations/" if capacity.reservation_project else ""
    return f"{shared_from}{capacity.reservation}{part}"


def _reservation(capacity: Capacity) -> Reservation:
    # Calendar mode delivers its capacity as a specific reservation.
    if capacity.type not in ("reservation", "calendar"):
        return Reservation("NO_RESERVATION")
    return Reservation("SPECIFIC_RESERVATION", reservation_path(capacity))


def _flex_start(capacity: Capacity) -> FlexStart | None:
    if capacity.type != "flexStart":
        return None
    hours = capacity.max_run_hours or LONGEST_FLEX_START_HOURS
    return FlexStart(max_run_seconds=hours * 3600, queued=capacity.queued)
