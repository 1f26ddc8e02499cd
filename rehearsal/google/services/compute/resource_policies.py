"""Resource policies: the placement and workload policies that TPU node pools name."""

from __future__ import annotations

from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.compute.resources import Collection
from rehearsal.google.services.compute.service import Scope

Json = dict[str, Any]

POLICIES = (
    "diskConsistencyGroupPolicy",
    "groupPlacementPolicy",
    "instanceSchedulePolicy",
    "snapshotSchedulePolicy",
    "workloadPolicy",
)


def _insert(_cloud: Cloud, _scope: Scope, body: Json) -> Json:
    stated = [name for name in POLICIES if name in body]
    if len(stated) != 1:
        raise invalid(f"Invalid value for field 'resource': state exactly one of {', '.join(POLICIES)}.", "invalid")
    workload = body.get("workloadPolicy", {})
    if "workloadPolicy" in body and "type" not in workload:
        raise invalid("Required field 'resource.workloadPolicy.type' not specified.", "required")
    topology, distance = workload.get("acceleratorTopology"), workload.get("maxTopologyDistance")
    if topology and distance:
        raise invalid(
            "Invalid value for field 'resource.workloadPolicy': acceleratorTopology and "
            "maxTopologyDistance exclude "
            "each other.",
            "invalid",
        )
    if topology and workload["type"] != "HIGH_THROUGHPUT":
        raise invalid(
            "Invalid value for field 'resource.workloadPolicy.acceleratorTopology': it goes with type HIGH_THROUGHPUT.",
            "invalid",
        )
    return {"status": "READY", **body}


def _change(_cloud: Cloud, _scope: Scope, old: Json, new: Json) -> Json:
    """Only the description of a placement or workload policy can change."""
    for name in POLICIES:
        if new.get(name) != old.get(name) and name != "snapshotSchedulePolicy":
            raise invalid(f"Invalid value for field 'resource.{name}': it cannot be changed.", "invalid")
    return new


Collection("resourcePolicies", "resourcePolicy", _insert, _change, ("patch", "aggregatedList")).register()
