"""Bringing the Nodes of a cluster in line with a node pool: create, change, resize, delete."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from rehearsal.errors import RehearsalError
from rehearsal.kubernetes.api import Api, each
from rehearsal.kubernetes.nodes import APPLIED_LABELS, APPLIED_TAINTS, INSTANCE_TYPE, POOL, NodePool, written
from rehearsal.processes import wait_for

Json = dict[str, Any]
NODES = "/api/v1/nodes"
# Where a pool does not say: two halves of what GKE itself proposes, which never meet.
NODE_RANGE = IPv4Network("10.128.0.0/14")
POD_RANGE = IPv4Network("10.64.0.0/10")
READY_SECONDS = 180.0


def apply(api: Api, pool: NodePool, zones: Mapping[str, int]) -> None:
    """Create, change and remove Nodes until the pool has just these, and wait until they are ready."""
    nodes = api.items(NODES)
    wanted = dict(pool.members(zones))
    mine = {n["metadata"]["name"]: n for n in nodes if n["metadata"]["labels"].get(POOL) == pool.name}
    kept = {name: node for name, node in mine.items() if name in wanted and _same_machine(node, pool)}
    gone = mine.keys() - kept.keys()
    remove(api, gone)
    left = [node for node in nodes if node["metadata"]["name"] not in gone]
    missing = [(name, zone) for name, zone in wanted.items() if name not in kept]
    places = zip(missing, free_addresses(left), pod_ranges(left, pool), strict=False)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    created = [pool.node(name, zone, address, pods, now) for (name, zone), address, pods in places]
    if len(created) < len(missing):
        raise RehearsalError(
            f"Node pool {pool.name}: no addresses for {len(missing) - len(created)} of its nodes. Nodes get "
            f"theirs from {NODE_RANGE}, pods from {pool.pod_range or POD_RANGE} (/{pool.pod_prefix} per "
            "node); use a larger pod range or fewer pods per node"
        )
    each(lambda node: api.create(NODES, node), created)
    each(lambda node: _update(api, node, pool), kept.values())
    wait_for(
        lambda: _all_ready(api, pool.name),
        f"nodes of pool {pool.name} to be ready",
        READY_SECONDS,
        interval=0.5,
    )


def delete(api: Api, pool: str) -> None:
    """Remove every Node of a pool."""
    remove(api, [node["metadata"]["name"] for node in api.items(NODES, labelSelector=f"{POOL}={pool}")])


def remove(api: Api, names: Iterable[str]) -> None:
    """Remove Nodes, and the pods that ran on them at once.

    A node controller does the same for a VM that is gone; its garbage collection would take a minute.
    """
    doomed = set(names)
    if not doomed:
        return
    each(lambda name: api.delete(f"{NODES}/{name}"), doomed)
    pods = [pod["metadata"] for pod in api.items("/api/v1/pods") if pod["spec"].get("nodeName") in doomed]
    paths = (f"/api/v1/namespaces/{pod['namespace']}/pods/{pod['name']}" for pod in pods)
    each(lambda path: api.delete(path, at_once=True), paths)


def free_addresses(nodes: Iterable[Json]) -> Iterator[IPv4Address]:
    """Internal addresses that no node has, lowest first. The first one of the range is its gateway's."""
    addresses = itertools.chain.from_iterable(node["status"].get("addresses", ()) for node in nodes)
    used = {address["address"] for address in addresses if address["type"] == "InternalIP"}
    return (host for host in itertools.islice(NODE_RANGE.hosts(), 1, None) if str(host) not in used)


def pod_ranges(nodes: Iterable[Json], pool: NodePool) -> Iterator[IPv4Network]:
    """Free ranges for the pods of one node each, lowest first, in the range of the pool."""
    whole, step = pool.pod_range or POD_RANGE, 1 << (32 - pool.pod_prefix)
    taken = (IPv4Network(node["spec"]["podCIDR"]) for node in nodes if node["spec"].get("podCIDR"))
    first, last = int(whole.network_address), int(whole.broadcast_address) + 1
    spans = sorted((int(p.network_address), int(p.broadcast_address) + 1) for p in taken if p.subnet_of(whole))
    free = first
    for start, end in [*spans, (last, last)]:
        for address in range(-(-free // step) * step, start - step + 1, step):
            yield IPv4Network((address, pool.pod_prefix))
        free = max(free, end)


def _update(api: Api, node: Json, pool: NodePool) -> None:
    """Change what GKE changes in place: labels, taints and the node's version."""
    metadata, path = node["metadata"], f"{NODES}/{node['metadata']['name']}"
    wanted, before = pool.annotations, metadata.get("annotations", {})
    if any(before.get(key) != value for key, value in wanted.items()):
        was = _listed(before.get(APPLIED_LABELS))
        labels: dict[str, str | None] = {item.partition("=")[0]: None for item in was}
        labels |= pool.labels
        applied = _listed(before.get(APPLIED_TAINTS))
        others = [taint for taint in node["spec"].get("taints", ()) if written(taint) not in applied]
        spec = {"taints": [*others, *pool.taints]}
        api.patch(path, {"metadata": {"labels": labels, "annotations": wanted}, "spec": spec})
    version = pool.kubelet_version
    if node["status"]["nodeInfo"]["kubeletVersion"] != version:
        api.patch(f"{path}/status", {"status": {"nodeInfo": {"kubeletVersion": version}}})


def _listed(annotation: str | None) -> list[str]:
    return annotation.split(",") if annotation else []


def _same_machine(node: Json, pool: NodePool) -> bool:
    return bool(node["metadata"]["labels"].get(INSTANCE_TYPE) == pool.machine.name)


def _all_ready(api: Api, pool: str) -> bool:
    return all(_ready(node) for node in api.items(NODES, labelSelector=f"{POOL}={pool}", resourceVersion="0"))


def _ready(node: Json) -> bool:
    conditions = node["status"].get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
