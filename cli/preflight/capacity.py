"""Quota, and the reservation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cli.cloud.errors import CloudError
from cli.cloud.google import Google, Json
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import quotas
from pathways.quotas import Quota

QUOTA = Question("quota-suffices", "the project's quota covers the stack's sum")
EXISTS = Question("reservation-exists", "the reservation exists in the zone")
SPECIFIC = Question("reservation-specific", "the reservation is a specific one, as TPU node pools need it")
FITS = Question("reservation-fits", "the reservation holds enough free VMs of the machine type, and is ready")
SHARED = Question("reservation-shared", "the reservation is shared with the project")


def _quotas(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    wanted = quotas.of(plan)
    if not wanted:
        yield QUOTA.ok("the stack needs none: its chips are reserved")
        return
    project, region = plan.settings.project, plan.settings.region
    metrics = list(
        google.pages(
            "serviceusage",
            "v1beta1",
            lambda service: service.services().consumerQuotaMetrics(),
            "metrics",
            parent=f"projects/{project}/services/compute.googleapis.com",
            pageSize=200,
        )
    )
    used = _usage(google, project, region)
    for quota in wanted:
        yield _judged(quota, limit_of(metrics, quota), used, project)


def _usage(google: Google, project: str, region: str) -> dict[str, float]:
    """What is in use, by the metric's name, of the quotas that Compute Engine tells of."""
    found = google.ask("compute", "v1", lambda service: service.regions().get(project=project, region=region))
    return {each["metric"]: each.get("usage", 0) for each in found.get("quotas", [])}


def _judged(quota: Quota, known: tuple[str, int] | None, used: dict[str, float], project: str) -> Finding:
    name = quota.name + (f" ({quota.family})" if quota.family else "")
    page = f"https://console.cloud.google.com/iam-admin/quotas?project={project}"
    if known is None:
        return QUOTA.unknown(f"Google states no limit of {name} in {quota.region}", f"look it up: {page}")
    metric, limit = known
    in_use = int(used.get(metric.rpartition("/")[2].upper(), 0)) if not quota.family else 0
    free = limit - in_use if limit >= 0 else quota.amount
    said = f"{name} in {quota.region}: needs {quota.amount:,} {quota.unit}, limit {limit:,}"
    said = said.replace("limit -1", "no limit") + (f", of which {in_use:,} in use" if in_use else "")
    if free >= quota.amount:
        return QUOTA.ok(said)
    return QUOTA.found(said, f"ask for {in_use + quota.amount:,} of {name} in {quota.region}: {page}")


def limit_of(metrics: Iterable[Json], quota: Quota) -> tuple[str, int] | None:
    """A quota's metric and its limit in the region, -1 where it is unlimited; None where Google states none.

    A bucket without a region holds for all regions that have none of their own; so for the family.
    """
    wanted = {
        "region": quota.region,
        **({"tpu_family": quota.family, "vm_family": quota.family} if quota.family else {}),
    }
    best: tuple[int, str, int] | None = None
    for metric in metrics:
        if metric.get("displayName", "").lower() != quota.name.lower():
            continue
        for limit in metric.get("consumerQuotaLimits", []):
            for bucket in limit.get("quotaBuckets", []):
                dimensions = bucket.get("dimensions", {})
                fits = all(str(wanted.get(key, "")).lower() == value.lower() for key, value in dimensions.items())
                if fits and (best is None or len(dimensions) > best[0]):
                    best = len(dimensions), metric["metric"], int(bucket.get("effectiveLimit", 0))
    return best[1:] if best else None


def _reservation(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    slices = plan.settings.slices
    capacity, zone = slices.capacity, slices.zone
    if capacity.type not in ("reservation", "calendar") or not capacity.reservation:
        return
    name, owner = capacity.reservation, capacity.reservation_project or plan.settings.project
    try:
        found = google.ask(
            "compute", "v1", lambda service: service.reservations().get(project=owner, zone=zone, reservation=name)
        )
    except CloudError as error:
        if error.kind != "missing":
            raise
        yield EXISTS.found(*_elsewhere(google, owner, name, zone))
        return
    yield EXISTS.ok(f"{name} of {owner} is in {zone}")
    if found.get("specificReservationRequired"):
        yield SPECIFIC.ok(f"{name} goes only to who names it")
    else:
        yield SPECIFIC.found(
            f"{name} goes to any VM that fits",
            "create it with --require-specific-reservation; it cannot be changed later",
        )
    yield _fits(found, name, plan)
    if owner != plan.settings.project:
        yield _shared(found, name, owner, plan.settings.project)


def _elsewhere(google: Google, owner: str, name: str, zone: str) -> tuple[str, str]:
    """Evidence and fix for a reservation that the zone does not have."""
    answer = google.ask(
        "compute", "v1", lambda service: service.reservations().aggregatedList(project=owner, filter=f'name = "{name}"')
    )
    zones = [
        scope.rpartition("/")[2]
        for scope, held in answer.get("items", {}).items()
        if any(each["name"] == name for each in held.get("reservations", []))
    ]
    if zones:
        return f"{name} of {owner} is in {', '.join(zones)}, not in {zone}", f"write pathways:slices.zone: {zones[0]}"
    return (
        f"{owner} has no reservation {name}",
        f"see which there are: gcloud compute reservations list --project {owner}",
    )


def _fits(found: Json, name: str, plan: AnyPlan) -> Finding:
    specific = found.get("specificReservation", {})
    machine = specific.get("instanceProperties", {}).get("machineType", "")
    held, used = int(specific.get("count", 0)), int(specific.get("inUseCount", 0))
    wanted = plan.settings.slices.count * plan.shape.vms
    said = f"{name} holds {held:,} {machine}, {used:,} in use, and is {found.get('status', 'READY')}"
    if machine != plan.shape.machine_type.name:
        return FITS.found(said, f"the stack needs {plan.shape.machine_type.name}: name another reservation")
    if found.get("status", "READY") != "READY":
        return FITS.found(said, "wait until it is READY")
    if held - used < wanted:
        fitting = (held - used) // plan.shape.vms
        return FITS.found(
            f"{said}; the stack needs {wanted:,}",
            f"write pathways:slices.count: {fitting}, or have the reservation enlarged",
        )
    return FITS.ok(said)


def _shared(found: Json, name: str, owner: str, project: str) -> Finding:
    share = found.get("shareSettings", {})
    kind = share.get("shareType", "LOCAL")
    if kind == "SPECIFIC_PROJECTS" and project not in share.get("projectMap", {}):
        reason = f"{owner} shares {name} with {', '.join(share.get('projectMap', {})) or 'nobody'}"
    elif kind == "LOCAL":
        reason = f"{owner} shares {name} with nobody"
    else:
        return SHARED.ok(f"{owner} shares {name} with {project}")
    return SHARED.found(
        reason,
        f"gcloud compute reservations update {name} --project {owner} --add-share-with={project} --zone "
        f"{plan_zone(found)}",
    )


def plan_zone(found: Json) -> str:
    """The zone that a resource says it is in."""
    return str(found.get("zone", "ZONE")).rpartition("/")[2]


PROBES = (
    Probe("quotas", (QUOTA,), _quotas),
    Probe("the reservation", (EXISTS, SPECIFIC, FITS, SHARED), _reservation),
)
