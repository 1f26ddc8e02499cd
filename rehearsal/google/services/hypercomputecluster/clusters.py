"""Clusters: create, read, list, change, delete."""

from __future__ import annotations

import copy
import uuid

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.errors import already_exists, invalid, not_found
from rehearsal.google.services.hypercomputecluster import operations, rules
from rehearsal.google.services.hypercomputecluster.service import KEY, PREFIX, SERVICE, Json, parent_of

MUTABLE = ("computeResources", "description", "labels", "networkResources", "orchestrator", "storageResources")


def load(cloud: Cloud, name: str) -> Json | None:
    """The cluster of a relative name."""
    return cloud.store.get(KEY + name)


def save(cloud: Cloud, cluster: Json) -> None:
    cloud.store.put(KEY + cluster["name"], {**cluster, "updateTime": now()})


@SERVICE.handles(PREFIX + "clusters.create")
def create(cloud: Cloud, call: Call) -> Json:
    project, location = parent_of(cloud, call)
    id = call.query.get("clusterId", "")
    rules.check_id(id)
    name = f"projects/{project.id}/locations/{location}/clusters/{id}"
    if load(cloud, name) is not None:
        raise already_exists(f"Resource '{name}' already exists")
    asked = {field: call.body[field] for field in MUTABLE if call.body.get(field)}
    cluster = {"name": name, **fill_in(asked), "createTime": now(), "uid": str(uuid.uuid4()), "reconciling": True}
    rules.check(cloud, cluster, location)
    save(cloud, cluster)
    return operations.start(cloud, name, "create", "create_director", _steps("create", {}, cluster), {})


@SERVICE.handles(PREFIX + "clusters.get")
def get(cloud: Cloud, call: Call) -> Json:
    return _present(_find(cloud, call))


@SERVICE.handles(PREFIX + "clusters.list")
def list_clusters(cloud: Cloud, call: Call) -> Json:
    project, location = parent_of(cloud, call)
    stored = cloud.store.list(f"{KEY}projects/{project.id}/locations/").values()
    found = [item for item in stored if "/clusters/" in item["name"] and location in ("-", item["name"].split("/")[3])]
    start, size = int(call.query.get("pageToken") or 0), int(call.query.get("pageSize") or 500)
    answer: Json = {"clusters": [_present(item) for item in found[start : start + size]]}
    if start + size < len(found):
        answer["nextPageToken"] = str(start + size)
    return answer


@SERVICE.handles(PREFIX + "clusters.patch")
def patch(cloud: Cloud, call: Call) -> Json:
    """Replaces what the mask names; paths are top-level fields, as clients send them."""
    old = _find(cloud, call)
    paths = [path for path in call.query.get("updateMask", "").split(",") if path]
    if not paths:
        raise invalid("update_mask: at least one path must be provided.")
    fields = [_field(path) for path in paths]
    operations.refuse_while_busy(cloud, old["name"])
    asked = {field: call.body[field] for field in fields if call.body.get(field)}
    new = {field: value for field, value in old.items() if field not in fields} | fill_in(copy.deepcopy(asked))
    rules.check_update(old, new)
    rules.check(cloud, new, call.path["locationsId"])
    new = _keep_made(old, new)
    save(cloud, {**new, "reconciling": True})
    return operations.start(cloud, old["name"], "update", "update_director", _steps("update", old, new), {"old": old})


@SERVICE.handles(PREFIX + "clusters.delete")
def delete(cloud: Cloud, call: Call) -> Json:
    cluster = _find(cloud, call)
    operations.refuse_while_busy(cloud, cluster["name"])
    save(cloud, {**cluster, "reconciling": True})
    return operations.start(cloud, cluster["name"], "delete", "delete_director", _steps("delete", cluster, {}), {})


def fill_in(cluster: Json) -> Json:
    """What the API adds to what it was asked for."""
    for resource in cluster.get("computeResources", {}).values():
        spot = resource.get("config", {}).get("newSpotInstances")
        if spot is not None:
            spot.setdefault("terminationAction", "DELETE")
    for resource in cluster.get("storageResources", {}).values():
        config = resource.get("config", {})
        if "newFilestore" in config:
            config["newFilestore"].setdefault("protocol", "NFSV3")
        if "newBucket" in config:
            config["newBucket"].setdefault("hierarchicalNamespace", {})
    return cluster


def _keep_made(old: Json, new: Json) -> Json:
    """The references to what was made for the cluster, which a request does not carry."""
    for field, keys in (("networkResources", ("network",)), ("storageResources", ("bucket", "filestore", "lustre"))):
        for id, resource in new.get(field, {}).items():
            before = old.get(field, {}).get(id, {})
            resource |= {key: before[key] for key in keys if key in before}
    return new


def _find(cloud: Cloud, call: Call) -> Json:
    project, location = parent_of(cloud, call)
    name = f"projects/{project.id}/locations/{location}/clusters/{call.path['clustersId']}"
    cluster = load(cloud, name)
    if cluster is None:
        raise not_found(f"Resource '{name}' was not found")
    return cluster


def _present(cluster: Json) -> Json:
    """A cluster as it is answered: false is left out."""
    return {field: value for field, value in cluster.items() if field != "reconciling" or value}


def _field(path: str) -> str:
    top, _, rest = path.partition(".")
    head, *tail = top.split("_")
    field = head + "".join(part.title() for part in tail)
    if "*" in path:
        raise invalid(f"update_mask: '{path}': wildcards are not supported.")
    if rest or field not in MUTABLE:
        known = ", ".join(MUTABLE)
        raise invalid(f"update_mask: '{path}' cannot be updated; the rehearsal takes whole fields: {known}.")
    return field


def _steps(verb: str, old: Json, new: Json) -> list[Json]:
    """The steps that an operation shows."""
    made = {"create": "create", "delete": "delete", "update": "create"}[verb]
    cluster = new or old
    steps: list[Json] = []
    for _, kind, config in rules.configs(cluster, "networkResources"):
        if kind == "newNetwork" and verb != "update":
            steps.append({f"{made}Network": {"network": config["network"]}})
    for id, resource in cluster.get("storageResources", {}).items():
        for kind, config in resource["config"].items():
            if kind.startswith("new") and (verb != "update" or id not in old.get("storageResources", {})):
                what = kind.removeprefix("new")
                title = {"Bucket": "StorageBucket"}.get(what, f"{what}Instance")
                steps.append({f"{made}{title}": {what.lower(): config[what.lower()]}})
    if "slurm" in cluster.get("orchestrator", {}):
        slurm = cluster["orchestrator"]["slurm"]
        steps += [
            {f"{verb}Orchestrator": {}},
            {f"{verb}Nodeset": {"nodesets": [each["id"] for each in slurm.get("nodeSets", [])]}},
            {f"{verb}Partition": {"partitions": [each["id"] for each in slurm.get("partitions", [])]}},
            {f"{verb}LoginNode": {}},
        ]
    return steps if verb == "delete" else [*steps, {"checkClusterHealth": {}}]
