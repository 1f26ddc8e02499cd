"""Operations of compute: get, wait, list, delete, in each scope."""

from __future__ import annotations

from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.services.compute.service import SERVICE, aggregated, listing, load, project_of, scope_of

Json = dict[str, Any]

SCOPES = ("global", "region", "zone")


@SERVICE.handles(*(f"compute.{scope}Operations.{verb}" for scope in SCOPES for verb in ("get", "wait")))
def get(cloud: Cloud, call: Call) -> Json:
    return load(cloud, scope_of(cloud, call).resource("operations", call.path["operation"]))


@SERVICE.handles(*(f"compute.{scope}Operations.list" for scope in SCOPES))
def list_operations(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    path = f"projects/{scope.project.id}/{scope.path}/operations"
    return listing(call, "compute#operationList", path, cloud.store.list(f"compute/{path}/").values())


@SERVICE.handles("compute.globalOperations.aggregatedList")
def aggregated_list(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call)
    stored = cloud.store.list(f"compute/projects/{project.id}/").items()
    items = [item for key, item in stored if "/operations/" in key]
    return aggregated(call, "compute#operationAggregatedList", "operations", project, items)


@SERVICE.handles(*(f"compute.{scope}Operations.delete" for scope in SCOPES))
def delete(cloud: Cloud, call: Call) -> None:
    path = scope_of(cloud, call).resource("operations", call.path["operation"])
    load(cloud, path)
    cloud.store.delete(f"compute/{path}")
