"""Node pools: create, read, delete."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.errors import already_exists, failed_precondition
from rehearsal.google.services.container import operations, pool_rules
from rehearsal.google.services.container.canonical import canonical, view
from rehearsal.google.services.container.records import BASE_LINK, ClusterRecord, PoolRecord, group_url
from rehearsal.google.services.container.service import PREFIX, SERVICE, Place, cluster_of, pool_of

Json = dict[str, Any]

POOLS = PREFIX + "clusters.nodePools."


def add(cloud: Cloud, place: Place, cluster: ClusterRecord, given: Json) -> PoolRecord:
    """Check, complete and store a new pool; its nodes come later. Raises what GKE refuses."""
    name = f"{cluster.name}/nodePools/{given.get('name', '')}"
    shown = f"{place.link}/clusters/{cluster.cluster['name']}/nodePools/{given.get('name', '')}"
    if PoolRecord.load(cloud, name):
        raise already_exists(f"Already exists: {shown}.")
    pool, policy = pool_rules.complete(cloud, place, cluster, dict(given))
    pool |= {"selfLink": BASE_LINK + shown, "status": "PROVISIONING"}
    count: int = pool.get("initialNodeCount", 0)
    sizes = dict.fromkeys(pool["locations"], count)
    record = PoolRecord(name, pool, sizes, now(), policy)
    store(cloud, record)
    return record


def store(cloud: Cloud, record: PoolRecord) -> None:
    """Save a pool with what follows from the rest of it."""
    record.pool["instanceGroupUrls"] = [group_url(record, zone) for zone in record.sizes]
    record.pool.pop("etag", None)
    record.pool = canonical("NodePool", record.pool)
    record.pool["etag"] = hashlib.sha256(json.dumps(record.pool, sort_keys=True).encode()).hexdigest()[:32]
    record.save(cloud)


@SERVICE.handles(POOLS + "create")
def create(cloud: Cloud, call: Call) -> Json:
    place, cluster = cluster_of(cloud, call)
    given = call.body.get("nodePool", {})
    if cluster.cluster["status"] in ("ERROR", "STOPPING"):
        raise failed_precondition(f"Cluster {cluster.cluster['name']} is in state {cluster.cluster['status']}.")
    operations.refuse_while_busy(cloud, cluster, given.get("name", ""))
    record = add(cloud, place, cluster, given)
    return operations.start(cloud, place, "CREATE_NODE_POOL", "apply_pool", cluster.name, record.pool["name"])


@SERVICE.handles(POOLS + "get")
def get(cloud: Cloud, call: Call) -> Json:
    return view("NodePool", pool_of(cloud, call)[2].pool, call.version)


@SERVICE.handles(POOLS + "list")
def list_pools(cloud: Cloud, call: Call) -> Json:
    _, cluster = cluster_of(cloud, call)
    return {"nodePools": [view("NodePool", record.pool, call.version) for record in cluster.pools(cloud)]}


@SERVICE.handles(POOLS + "delete")
def delete(cloud: Cloud, call: Call) -> Json:
    place, cluster, record = pool_of(cloud, call)
    operations.refuse_while_busy(cloud, cluster, record.pool["name"])
    record.pool["status"] = "STOPPING"
    record.save(cloud)
    return operations.start(cloud, place, "DELETE_NODE_POOL", "delete_pool", cluster.name, record.pool["name"])
