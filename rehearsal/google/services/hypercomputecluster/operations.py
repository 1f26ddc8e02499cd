"""Long-running operations of Cluster Director: the records that clients poll."""

from __future__ import annotations

import uuid

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.errors import failed_precondition, not_found
from rehearsal.google.services.hypercomputecluster.service import KEY, PREFIX, SERVICE, Json, parent_of

TYPES = "type.googleapis.com/google.cloud.hypercomputecluster.v1."
INTERNAL = 13
"""google.rpc.Code of a failure that is not the caller's."""


def start(cloud: Cloud, cluster: str, verb: str, action: str, steps: list[Json], detail: Json) -> Json:
    """Record an operation on a cluster (by relative name) and begin its work."""
    id = f"operation-{uuid.uuid4()}"
    name = f"{cluster.split('/clusters/')[0]}/operations/{id}"
    record = {
        "name": name,
        "metadata": {
            "@type": TYPES + "OperationMetadata",
            "createTime": now(),
            "target": cluster,
            "verb": verb,
            "apiVersion": "v1",
            "progress": {"steps": [{"state": "WAITING", **step} for step in steps]},
        },
        "done": False,
    }
    cloud.store.put(KEY + name, record)
    cloud.work.start(id, action, {"operation": name, "cluster": cluster, **detail})
    return record


def running(cloud: Cloud, name: str) -> bool:
    """Whether an operation, by relative name, still has work to do."""
    record = cloud.store.get(KEY + name)
    return record is not None and not record["done"]


def finish(cloud: Cloud, name: str, response: Json | None = None, error: str = "") -> None:
    """Mark an operation done: with the cluster, with nothing (a deletion), or with what went wrong."""
    record = cloud.store.get(KEY + name)
    if record is None:
        return
    record |= {"done": True}
    record["metadata"]["endTime"] = now()
    if error:
        record["error"] = {"code": INTERNAL, "message": error}
    else:
        for step in record["metadata"]["progress"]["steps"]:
            step["state"] = "DONE"
        kind = TYPES + "Cluster" if response else "type.googleapis.com/google.protobuf.Empty"
        record["response"] = {"@type": kind, **(response or {})}
    cloud.store.put(KEY + name, record)


def refuse_while_busy(cloud: Cloud, cluster: str) -> None:
    """Raises the error of a cluster (by relative name) on which an operation runs."""
    for record in cloud.store.list(f"{KEY}{cluster.split('/clusters/')[0]}/operations/").values():
        if record["metadata"]["target"] == cluster and not record["done"]:
            raise failed_precondition(f"Cluster '{cluster}' has an operation in progress: {record['name']}.")


@SERVICE.handles(PREFIX + "operations.get")
def get(cloud: Cloud, call: Call) -> Json:
    project, location = parent_of(cloud, call)
    name = f"projects/{project.id}/locations/{location}/operations/{call.path['operationsId']}"
    record = cloud.store.get(KEY + name)
    if record is None:
        raise not_found(f"Operation '{name}' was not found.")
    return record


@SERVICE.handles(PREFIX + "operations.list")
def list_operations(cloud: Cloud, call: Call) -> Json:
    project, location = parent_of(cloud, call)
    return {
        "operations": list(cloud.store.list(f"{KEY}projects/{project.id}/locations/{location}/operations/").values())
    }
