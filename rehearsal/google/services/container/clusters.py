"""Clusters: create, read, delete."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.documents import get_path, merge
from rehearsal.google.errors import already_exists, invalid, unimplemented
from rehearsal.google.services.container import addressing, endpoints, node_pools, operations, work
from rehearsal.google.services.container.canonical import canonical, view
from rehearsal.google.services.container.defaults import default
from rehearsal.google.services.container.pool_rules import check_name
from rehearsal.google.services.container.records import BASE_LINK, ClusterRecord, clusters_in
from rehearsal.google.services.container.service import (
    PREFIX,
    SERVICE,
    Place,
    cluster_of,
    place_of,
    project_of,
)
from rehearsal.google.services.container.versions import number, resolve

Json = dict[str, Any]

CLUSTERS = PREFIX + "clusters."
DEFAULT_POOL_FIELDS = {"nodeConfig": "config"}

SERVICE.start = work.register


@SERVICE.handles(CLUSTERS + "create")
def create(cloud: Cloud, call: Call) -> Json:
    place = place_of(cloud, call)
    given: Json = call.body.get("cluster", {})
    name = given.get("name", "")
    check_name("cluster", name)
    record = ClusterRecord(f"{place.name}/clusters/{name}", {})
    if ClusterRecord.load(cloud, record.name):
        raise already_exists(f"Already exists: {place.link}/clusters/{name}.")
    pools = _pools(given)
    record.cluster = merge(default("cluster"), {k: v for k, v in given.items() if k not in ("nodePools", "nodeConfig")})
    _check(place, record.cluster)
    addressing.place_cluster(cloud, place, record)
    endpoints.fill_in(cloud, place, record)
    _fill_in(place, record.cluster)
    if get_path(record.cluster, "workloadIdentityConfig.workloadPool"):
        place.project.workload_pool = True
        cloud.projects.save(place.project)
    save(cloud, record)
    for pool in pools:
        node_pools.add(cloud, place, record, pool)
    return operations.start(cloud, place, "CREATE_CLUSTER", "create_cluster", record.name)


def save(cloud: Cloud, record: ClusterRecord) -> None:
    """Save a cluster in the form GKE answers, with a new etag."""
    record.cluster.pop("etag", None)
    record.cluster = canonical("Cluster", record.cluster)
    record.cluster["etag"] = hashlib.sha256(json.dumps(record.cluster, sort_keys=True).encode()).hexdigest()[:32]
    record.save(cloud)


def _pools(given: Json) -> list[Json]:
    """The pools a new cluster starts with: those it lists, or default-pool."""
    if get_path(given, "autopilot.enabled"):
        raise unimplemented("Autopilot clusters are not rehearsed: Pathways runs on Standard clusters.")
    listed, count = given.get("nodePools", []), given.get("initialNodeCount", 0)
    if listed and (count or given.get("nodeConfig")):
        raise invalid(
            "Cluster.initial_node_count and Cluster.node_config cannot be set together with Cluster.node_pools."
        )
    if not listed and count < 1:
        raise invalid("Cluster.initial_node_count must be greater than zero.")
    return listed or [{"name": "default-pool", "initialNodeCount": count, "config": given.get("nodeConfig", {})}]


def _check(place: Place, cluster: Json) -> None:
    locations = cluster.setdefault("locations", [])
    if not locations:
        zones = [place.location] if place.is_zone else list(places.zones()[place.region])[:3]
        locations.extend(zones)
    if place.is_zone and place.location not in locations:
        locations.insert(0, place.location)
    for zone in locations:
        if not places.is_zone(zone) or places.region_of(zone) != place.region:
            raise invalid(f'Location "{zone}" is not a zone of region "{place.region}".')
    pool = get_path(cluster, "workloadIdentityConfig.workloadPool", "")
    if pool and not pool.endswith(".svc.id.goog"):
        raise invalid(f'Workload pool "{pool}" must be "{place.project.id}.svc.id.goog".')
    if pool and pool != f"{place.project.id}.svc.id.goog":
        raise invalid(f'Workload pool "{pool}" belongs to another project: use "{place.project.id}.svc.id.goog".')
    advanced = get_path(cluster, "networkConfig.datapathProvider") == "ADVANCED_DATAPATH"
    if advanced and get_path(cluster, "networkPolicy.enabled"):
        raise invalid("Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed.")
    if get_path(cluster, "networkConfig.enableMultiNetworking") and not advanced:
        raise invalid("Multi-networking requires DatapathProvider=ADVANCED_DATAPATH.")


def _fill_in(place: Place, cluster: Json) -> None:
    channel = get_path(cluster, "releaseChannel.channel", "UNSPECIFIED")
    version = resolve(cluster.get("initialClusterVersion", ""), channel)
    labels = json.dumps(cluster.get("resourceLabels", {}), sort_keys=True)
    cluster |= {
        "id": uuid.uuid4().hex + uuid.uuid4().hex,
        "selfLink": f"{BASE_LINK}{place.link}/clusters/{cluster['name']}",
        "location": place.location,
        "zone": place.location,
        "status": "PROVISIONING",
        "createTime": now(),
        "initialClusterVersion": version,
        "currentMasterVersion": version,
        "labelFingerprint": hashlib.sha256(labels.encode()).hexdigest()[:8],
    }


def present(cloud: Cloud, record: ClusterRecord, version: str) -> Json:
    """A cluster as GKE answers it, with its pools."""
    pools = record.pools(cloud)
    answer = {**record.cluster, "nodePools": [pool.pool for pool in pools]}
    if pools:
        first = next((pool for pool in pools if pool.pool["name"] == "default-pool"), pools[0])
        answer |= {
            "nodeConfig": first.pool["config"],
            "currentNodeVersion": min((pool.pool["version"] for pool in pools), key=number),
            "currentNodeCount": sum(sum(pool.sizes.values()) for pool in pools),
            "instanceGroupUrls": [url for pool in pools for url in pool.pool.get("instanceGroupUrls", [])],
        }
    else:
        answer["currentNodeVersion"] = record.cluster["currentMasterVersion"]
    return view("Cluster", answer, version)


@SERVICE.handles(CLUSTERS + "get")
def get(cloud: Cloud, call: Call) -> Json:
    return present(cloud, cluster_of(cloud, call)[1], call.version)


@SERVICE.handles(CLUSTERS + "list")
def list_clusters(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call)
    records = clusters_in(cloud, project.id, call.path["locationsId"])
    return {"clusters": [present(cloud, record, call.version) for record in records]}


@SERVICE.handles(CLUSTERS + "delete")
def delete(cloud: Cloud, call: Call) -> Json:
    place, record = cluster_of(cloud, call)
    operations.refuse_while_busy(cloud, record)
    record.cluster["status"] = "STOPPING"
    record.save(cloud)
    return operations.start(cloud, place, "DELETE_CLUSTER", "delete_cluster", record.name)
