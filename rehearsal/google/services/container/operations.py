"""GKE operations: the records clients poll, and the work behind them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.errors import GoogleError, failed_precondition, not_found
from rehearsal.google.services.container.records import BASE_LINK, ClusterRecord
from rehearsal.google.services.container.service import PREFIX, SERVICE, Place, place_of, project_of

Json = dict[str, Any]


def start(
    cloud: Cloud,
    place: Place,
    kind: str,
    action: str,
    cluster: str,
    pool: str = "",
    detail: Json | None = None,
) -> Json:
    """Record an operation on a cluster (by relative name), or on a pool of it, and begin its work."""
    id = f"operation-{uuid.uuid4()}"
    target = f"{place.link}/clusters/{cluster.rsplit('/', 1)[-1]}" + (f"/nodePools/{pool}" if pool else "")
    parent = f"projects/{place.project.number}/{place.link.split('/', 2)[2]}"
    record = {
        "name": id,
        "operationType": kind,
        "status": "RUNNING",
        "startTime": now(),
        "selfLink": f"{BASE_LINK}{parent}/operations/{id}",
        "targetLink": BASE_LINK + target.replace(f"projects/{place.project.id}/", f"projects/{place.project.number}/"),
        "location": place.location,
        "zone": place.location,
    }
    name = f"{place.name}/operations/{id}"
    _save(cloud, name, record, cluster, pool)
    arguments = {"operation": name, "cluster": cluster, "pool": pool, **(detail or {})}
    cloud.work.start(id, action, arguments)
    return record


def _save(cloud: Cloud, name: str, record: Json, cluster: str, pool: str) -> None:
    cloud.store.put(f"container/{name}", {"operation": record, "cluster": cluster, "pool": pool})


def running(cloud: Cloud, name: str) -> bool:
    """Whether an operation, by relative name, still has work to do."""
    stored = cloud.store.get(f"container/{name}")
    return stored is not None and stored["operation"]["status"] != "DONE"


def finish(cloud: Cloud, name: str, error: str = "", conditions: Sequence[Json] = ()) -> None:
    """Mark an operation done, with an error if it failed and conditions of its pool that say why."""
    stored = cloud.store.get(f"container/{name}")
    if stored is None:
        return
    record = {**stored["operation"], "status": "DONE", "endTime": now()}
    if error:
        record |= {"statusMessage": error, "error": {"code": 13, "message": error}}
    if conditions:
        record["nodepoolConditions"] = list(conditions)
    _save(cloud, name, record, stored["cluster"], stored["pool"])


def refuse_while_busy(cloud: Cloud, cluster: ClusterRecord, pool: str | None = None) -> None:
    """Raises GKE's error while an operation runs that excludes a new one.

    Pools are worked on side by side, so with a pool named only its own operations count, and those that
    create or delete the cluster. Without one, every operation on the cluster counts.
    """
    parent = cluster.name.split("/clusters/")[0]
    for stored in cloud.store.list(f"container/{parent}/operations/").values():
        record = stored["operation"]
        if stored["cluster"] != cluster.name or record["status"] == "DONE":
            continue
        whole = record["operationType"] in ("CREATE_CLUSTER", "DELETE_CLUSTER")
        if pool is None or whole or stored["pool"] == pool:
            raise _busy(record["name"])


def _busy(operation: str) -> GoogleError:
    return failed_precondition(f"Cluster is running incompatible operation {operation}.")


@SERVICE.handles(PREFIX + "operations.get")
def get(cloud: Cloud, call: Call) -> Json:
    place, id = place_of(cloud, call), call.path["operationsId"]
    stored = cloud.store.get(f"container/{place.name}/operations/{id}")
    if stored is None:
        raise not_found(f"Not found: {place.link}/operations/{id}.")
    record: Json = stored["operation"]
    return record


@SERVICE.handles(PREFIX + "operations.list")
def list_operations(cloud: Cloud, call: Call) -> Json:
    project, location = project_of(cloud, call), call.path["locationsId"]
    stored = cloud.store.list(f"container/projects/{project.id}/locations/").items()
    records = [item["operation"] for key, item in stored if "/operations/" in key]
    return {"operations": [record for record in records if location in ("-", record["location"])]}


@SERVICE.handles(PREFIX + "operations.cancel")
def cancel(cloud: Cloud, call: Call) -> Json:
    get(cloud, call)
    raise failed_precondition("Operation is not cancellable: the rehearsal finishes what it has begun.")
