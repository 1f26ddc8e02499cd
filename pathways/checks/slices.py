"""The slices: their shape, where they are and how they are obtained."""

from __future__ import annotations

from collections.abc import Iterator

from pathways import tpu
from pathways.checks.paths import ACCELERATOR, SHAPE, TOPOLOGY, ZONE
from pathways.checks.registry import Finding, check, gke_check, shape_of
from pathways.settings import Settings
from pathways.topology import CatalogueError


@check("slice-shape", *SHAPE)
def _slice_shape(settings: Settings) -> Iterator[Finding]:
    """The accelerator has the topology, on a machine type that Pathways can use."""
    try:
        shape_of(settings).instance_type  # noqa: B018  raises for machine types without an instance type
    except CatalogueError as error:
        yield Finding(f"pathways:slices.{error.field or 'topology'}", error.message, error.fix)


@check("slice-documented-size", *SHAPE, severities=("warning",))
def _documented_size(settings: Settings) -> Iterator[Finding]:
    """The slice is no larger than Google documents as schedulable."""
    shape = shape_of(settings)
    if shape.beyond_documented:
        largest = shape.generation.documented_largest
        yield Finding(
            TOPOLOGY,
            f"{shape.topology} is larger than {largest}, the largest {shape.generation.name} slice "
            "that Google documents as schedulable",
            "ask Google before you count on it",
        )


@check("zone-in-region", ZONE, "gcp:region")
def _zone_in_region(settings: Settings) -> Iterator[Finding]:
    """The slices' zone lies in the stack's region, where the cluster, the subnet and the bucket are."""
    zone, region = settings.slices.zone, settings.region
    if zone.rpartition("-")[0] != region:
        yield Finding(
            ZONE,
            f"zone {zone} is not in region {region}",
            f"write a zone of {region}, or gcp:region: {zone.rpartition('-')[0]}",
        )


@check("zone-offers-accelerator", ACCELERATOR, ZONE, severities=("warning",))
def _zone_offers_accelerator(settings: Settings) -> Iterator[Finding]:
    """The zone is one where Google lists the accelerator."""
    generation = tpu.generation(settings.slices.accelerator)
    known = (*generation.zones, *generation.zones_to_confirm)
    if settings.slices.zone not in known:
        yield Finding(
            ZONE,
            f"{generation.name} is not listed in {settings.slices.zone}",
            f"listed zones: {', '.join(known)}; ignore this if Google gave you capacity here",
        )


CAPACITY = "pathways:slices.capacity"


@check("capacity-reservation", CAPACITY)
def _reservation(settings: Settings) -> Iterator[Finding]:
    """A reservation is named exactly when the capacity comes from one."""
    capacity, path = settings.slices.capacity, f"{CAPACITY}.reservation"
    named = [capacity.reservation, capacity.reservation_project, capacity.reservation_block]
    if capacity.type in ("reservation", "calendar"):
        if not capacity.reservation:
            yield Finding(
                path,
                f"capacity of type {capacity.type} names no reservation",
                "add reservation: NAME (gcloud compute reservations list shows yours)",
            )
        if capacity.reservation_sub_block and not capacity.reservation_block:
            yield Finding(
                f"{CAPACITY}.reservationBlock",
                "a sub-block is named without the block it is in",
                "add reservationBlock: NAME",
            )
    elif any(named) or capacity.reservation_sub_block:
        yield Finding(
            path,
            f"{capacity.type} capacity cannot draw on a reservation",
            "write type: reservation, or leave the reservation out",
        )


@check("capacity-flex-start", CAPACITY)
def _flex_start(settings: Settings) -> Iterator[Finding]:
    """Only flex-start capacity has a run time and a queue."""
    capacity = settings.slices.capacity
    if capacity.type == "flexStart":
        return
    for key, value in [("maxRunHours", capacity.max_run_hours), ("queued", capacity.queued)]:
        if value:
            yield Finding(
                f"{CAPACITY}.{key}",
                f"{capacity.type} capacity has no {key}",
                f"write type: flexStart, or leave {key} out",
            )


@gke_check("capacity-queued", CAPACITY, *SHAPE, severities=("warning",))
def _queued(settings: Settings) -> Iterator[Finding]:
    """Queued provisioning of TPUs is doubtful: sources disagree on whether GKE accepts it."""
    if settings.slices.capacity.queued:
        yield Finding(
            f"{CAPACITY}.queued",
            "Google's own tools disagree on whether GKE takes queued provisioning for TPUs (xpk refuses it)",
            "leave queued out: a multi-host slice of flex-start VMs is provisioned as a whole anyway",
        )


@gke_check("capacity-queued-kueue", CAPACITY, "pathways:kueue")
def _queued_by_kueue(settings: Settings) -> Iterator[Finding]:
    """Queued provisioning makes nodes for a ProvisioningRequest only, which Kueue writes."""
    if settings.slices.capacity.queued and not settings.kueue.enabled:
        yield Finding(
            f"{CAPACITY}.queued",
            "GKE makes the nodes of a queued pool when a ProvisioningRequest asks for them, and nothing would write one",
            "add pathways:kueue: {enabled: true}, or leave queued out",
        )


@gke_check("capacity-spot-multi-host", CAPACITY, *SHAPE, "pathways:workload", severities=("warning",))
def _spot(settings: Settings) -> Iterator[Finding]:
    """Spot VMs of a multi-host slice are lost together, which only an elastic or restarting workload survives."""
    workload = settings.workload
    if settings.slices.capacity.type != "spot" or shape_of(settings).host_kind == "single":
        return
    if not workload.elastic and not workload.max_restarts:
        yield Finding(
            f"{CAPACITY}.type",
            "GKE reclaims a multi-host slice of spot VMs whole, and this workload is neither elastic nor restarted",
            "add pathways:workload.elastic or maxRestarts, or use another capacity type",
        )


@gke_check("autoscaling-fixed-capacity", CAPACITY, "pathways:slices.autoscaling", severities=("warning",))
def _autoscaling(settings: Settings) -> Iterator[Finding]:
    """Reserved capacity is paid for whether nodes run or not."""
    if settings.slices.autoscaling and settings.slices.capacity.type in ("reservation", "calendar"):
        yield Finding(
            "pathways:slices.autoscaling",
            f"{settings.slices.capacity.type} capacity is paid for while its nodes are scaled away",
            "leave autoscaling out, unless others use the reservation meanwhile",
        )
