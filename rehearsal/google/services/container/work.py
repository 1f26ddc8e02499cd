"""The work behind GKE's operations: what the cluster runtime does, and what the records say afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from rehearsal.google import faults
from rehearsal.google.cloud import Cloud
from rehearsal.google.services.container import endpoints, node_pools, operations
from rehearsal.google.services.container.addressing import remove_made_ranges
from rehearsal.google.services.container.records import ClusterRecord, PoolRecord

Json = dict[str, Any]
Step = Callable[[Cloud, ClusterRecord, Json], None]


def register(cloud: Cloud) -> None:
    """Tell the background work which actions GKE has."""
    for action in (create_cluster, delete_cluster, apply_pool, delete_pool, note):
        cloud.work.register(action.__name__, partial(action, cloud))


def _action(step: Step) -> Callable[[Cloud, Json], None]:
    """An action that ends its operation: well, or with what went wrong as the operation's error."""

    @wraps(step)
    def run(cloud: Cloud, arguments: Json) -> None:
        name = arguments["operation"]
        with cloud.store.transaction():
            cluster = ClusterRecord.load(cloud, arguments["cluster"])
            if not operations.running(cloud, name):
                return
            if cluster is None:
                return operations.finish(cloud, name)
        try:
            step(cloud, cluster, arguments)
        except Exception as error:
            _fail(cloud, arguments, str(error) or repr(error))
            raise

    return run


def _fail(cloud: Cloud, arguments: Json, message: str) -> None:
    with cloud.store.transaction():
        operations.finish(cloud, arguments["operation"], message)
        if arguments["pool"]:
            _set_pool(cloud, f"{arguments['cluster']}/nodePools/{arguments['pool']}", "ERROR", message)
        elif cluster := ClusterRecord.load(cloud, arguments["cluster"]):
            cluster.cluster |= {"status": "ERROR", "statusMessage": message}
            cluster.save(cloud)


def _set_pool(cloud: Cloud, name: str, status: str, message: str = "") -> None:
    if record := PoolRecord.load(cloud, name):
        record.pool["status"] = status
        record.pool["statusMessage"] = message
        node_pools.store(cloud, record)


@_action
def create_cluster(cloud: Cloud, cluster: ClusterRecord, arguments: Json) -> None:
    endpoint = cloud.runtime.create(cluster.runtime_key)
    with cloud.store.transaction():
        pools = cluster.pools(cloud)
    for record in pools:
        cloud.runtime.apply_pool(cluster.runtime_key, record.pool, record.sizes, cluster.project, cluster.location)
    with cloud.store.transaction():
        endpoints.connect(cluster.cluster, endpoint)
        cluster.cluster["status"] = "RUNNING"
        cluster.save(cloud)
        for record in pools:
            _set_pool(cloud, record.name, "RUNNING")
        operations.finish(cloud, arguments["operation"])


@_action
def delete_cluster(cloud: Cloud, cluster: ClusterRecord, arguments: Json) -> None:
    cloud.runtime.delete(cluster.runtime_key)
    with cloud.store.transaction():
        remove_made_ranges(cloud, cluster)
        for record in cluster.pools(cloud):
            cloud.store.delete(f"container/{record.name}")
        cloud.store.delete(f"container/{cluster.name}")
        operations.finish(cloud, arguments["operation"])


@_action
def apply_pool(cloud: Cloud, cluster: ClusterRecord, arguments: Json) -> None:
    """Make the nodes match the record, for a new pool and for a changed one."""
    name = f"{cluster.name}/nodePools/{arguments['pool']}"
    with cloud.store.transaction():
        record = PoolRecord.load(cloud, name)
    if record is not None and (error := faults.pool_error(cloud, record.pool)):
        return _lack(cloud, arguments, record, *error)
    if record is not None:
        cloud.runtime.apply_pool(cluster.runtime_key, record.pool, record.sizes, cluster.project, cluster.location)
    with cloud.store.transaction():
        _set_pool(cloud, name, "RUNNING")
        operations.finish(cloud, arguments["operation"])


def _lack(cloud: Cloud, arguments: Json, record: PoolRecord, code: str, message: str) -> None:
    """A pool whose machines cannot be had: it stays, in error, as GKE leaves it."""
    condition = {"code": code, "message": message}
    with cloud.store.transaction():
        record.pool |= {"status": "ERROR", "statusMessage": message, "conditions": [condition]}
        node_pools.store(cloud, record)
        operations.finish(cloud, arguments["operation"], message, [condition])


@_action
def delete_pool(cloud: Cloud, cluster: ClusterRecord, arguments: Json) -> None:
    cloud.runtime.delete_pool(cluster.runtime_key, arguments["pool"])
    with cloud.store.transaction():
        cloud.store.delete(f"container/{cluster.name}/nodePools/{arguments['pool']}")
        operations.finish(cloud, arguments["operation"])


@_action
def note(cloud: Cloud, cluster: ClusterRecord, arguments: Json) -> None:
    """A change of settings that no machine has to follow: it was made with the request."""
    with cloud.store.transaction():
        operations.finish(cloud, arguments["operation"])
