"""The managed instance groups behind node pools: one per pool and zone, to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import not_found
from rehearsal.google.projects import Project
from rehearsal.google.services.compute.catalogue import _numbered
from rehearsal.google.services.compute.service import BASE, SERVICE, aggregated, listing, project_of, scope_of
from rehearsal.google.services.container.records import base_name, pools_in_project

Json = dict[str, Any]


def _managers(cloud: Cloud, project: Project) -> Iterator[Json]:
    for record in pools_in_project(cloud, project.id):
        for zone, size in record.sizes.items():
            base = base_name(record, zone)
            parent = f"{BASE}projects/{project.id}/zones/{zone}"
            yield {
                "kind": "compute#instanceGroupManager",
                "id": _numbered(base),
                "name": f"{base}-grp",
                "baseInstanceName": base,
                "zone": parent,
                "instanceGroup": f"{parent}/instanceGroups/{base}-grp",
                "instanceTemplate": f"{BASE}projects/{project.id}/global/instanceTemplates/{base}",
                "targetSize": size,
                "currentActions": {"none": size},
                "status": {"isStable": True},
                "creationTimestamp": record.created,
                "selfLink": f"{parent}/instanceGroupManagers/{base}-grp",
            }


def _group(manager: Json) -> Json:
    return {
        "kind": "compute#instanceGroup",
        "id": manager["id"],
        "name": manager["name"],
        "size": manager["targetSize"],
        "zone": manager["zone"],
        "creationTimestamp": manager["creationTimestamp"],
        "selfLink": manager["instanceGroup"],
    }


def _all(cloud: Cloud, call: Call) -> tuple[str, str, list[Json]]:
    """The collection of a request, its kind, and everything in it."""
    managers = list(_managers(cloud, project_of(cloud, call)))
    if ".instanceGroups." in call.method.id:
        return "instanceGroups", "compute#instanceGroup", [_group(manager) for manager in managers]
    return "instanceGroupManagers", "compute#instanceGroupManager", managers


def _in_zone(items: list[Json], zone: str) -> list[Json]:
    return [item for item in items if item["zone"].endswith(f"/zones/{zone}")]


@SERVICE.handles("compute.instanceGroupManagers.get", "compute.instanceGroups.get")
def get(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    collection, _, items = _all(cloud, call)
    name = call.path[collection.removesuffix("s")]
    for item in _in_zone(items, scope.location):
        if item["name"] == name:
            return item
    raise not_found(f"The resource '{scope.resource(collection, name)}' was not found")


@SERVICE.handles("compute.instanceGroupManagers.list", "compute.instanceGroups.list")
def list_groups(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    collection, kind, items = _all(cloud, call)
    path = f"projects/{scope.project.id}/{scope.path}/{collection}"
    return listing(call, f"{kind}List", path, _in_zone(items, scope.location))


@SERVICE.handles("compute.instanceGroupManagers.aggregatedList", "compute.instanceGroups.aggregatedList")
def aggregate_groups(cloud: Cloud, call: Call) -> Json:
    collection, kind, items = _all(cloud, call)
    return aggregated(call, f"{kind}AggregatedList", collection, project_of(cloud, call), items)
