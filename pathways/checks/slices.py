"""The slices: their shape, where they are and how they are obtained."""

from __future__ import annotations

from collections.abc import Iterator

from pathways import tpu
from pathways.checks.paths import ACCELERATOR, SHAPE, TOPOLOGY, ZONE
from pathways.checks.registry import Finding, check, shape_of
from pathways.settings import Settings
from pathways.topology import CatalogueError


@check("slice-shape", *SHAPE)
def _slice_shape(settings: Settings) -> Iterator[Finding]:
    """The accelerator has the topology, on a machine type that Pathways can use."""
    try:
        shape_of(settings).instance_type  # noqa: B018  raises for machine types without an instance type
    except CatalogueError as error:
        yield Finding(f"pathways:slices.{error.field or 'topology'}", error.message, error.fix)


@check("slice-documented-size", *SHAPE)
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
            "warning",
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


@check("zone-offers-accelerator", ACCELERATOR, ZONE)
def _zone_offers_accelerator(settings: Settings) -> Iterator[Finding]:
    """The zone is one where Google lists the accelerator."""
    generation = tpu.generation(settings.slices.accelerator)
    known = (*generation.zones, *generation.zones_to_confirm)
    if settings.slices.zone not in known:
        yield Finding(
            ZONE,
            f"{generation.name} is not listed in {settings.slices.zone}",
            f"listed zones: {', '.join(known)}; ignore this if Google gave you capacity here",
            "warning",
        )


@check("capacity-reservation", "pathways:slices.capacity")
def _capacity(settings: Settings) -> Iterator[Finding]:
    """A reservation is named exactly when the capacity comes from one."""
    capacity = settings.slices.capacity
    if capacity.type == "reservation" and not capacity.reservation:
        yield Finding(
            "pathways:slices.capacity.reservation",
            "capacity of type reservation names no reservation",
            "add reservation: NAME (gcloud compute reservations list shows yours)",
        )
    if capacity.type != "reservation" and (capacity.reservation or capacity.reservation_project):
        yield Finding(
            "pathways:slices.capacity.reservation",
            f"{capacity.type} capacity cannot draw on a reservation",
            "write type: reservation, or leave the reservation out",
        )
