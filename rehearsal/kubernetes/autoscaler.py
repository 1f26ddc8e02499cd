"""Node pools that grow when pods wait for them, as GKE's cluster autoscaler grows those of TPU slices, and go again.

Pools of queued provisioning grow for a ProvisioningRequest only (provisioning.py).
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rehearsal.kubernetes import pools, provisioning
from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.nodes import POOL, ZONE, NodePool, Placement

Json = dict[str, Any]
PODS = "/api/v1/pods"
TPU = "google.com/tpu"
FOLDER = "autoscaled-pools"
# How long a slice may be without pods before its nodes go. GKE waits ten minutes, which nobody wants to rehearse.
UNNEEDED_SECONDS = 60.0
# Looking for such slices reads every pod.
LOOK_SECONDS = 5.0
log = logging.getLogger(__name__)


class AutoscaledPools:
    """The node pools of a cluster that scale themselves, kept in its folder.

    The double makes and deletes pools, the autoscaler of the cluster grows them: two processes, which take
    turns by `lock`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._lock = folder / f"{FOLDER}.lock"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold while Nodes are made or removed; the kernel lets go of it when a process dies."""
        with self._lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def keep(self, pool: NodePool) -> None:
        """Remember a pool, or forget it when it no longer scales itself."""
        if not limits(pool):
            return self.forget(pool.name)
        self._folder.mkdir(exist_ok=True)
        place = pool.placement
        document = {
            "pool": pool.json,
            "placement": [place.project, place.location, place.cluster],
            "version": pool.version,
        }
        fresh = self._file(pool.name).with_suffix(".new")
        fresh.write_text(json.dumps(document))
        os.replace(fresh, self._file(pool.name))

    def forget(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def all(self) -> list[NodePool]:
        """By name."""
        documents = (json.loads(file.read_text()) for file in sorted(self._folder.glob("*.json")))
        return [NodePool(known["pool"], Placement(*known["placement"]), known["version"]) for known in documents]

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"


class Autoscaler:
    """Grows pools of TPU nodes, and empties those that no pod has used for `unneeded` seconds."""

    def __init__(self, api: Api, folder: Path, unneeded: float = UNNEEDED_SECONDS) -> None:
        self._api = api
        self._pools = AutoscaledPools(folder)
        self._unneeded = unneeded
        self._idle_since: dict[str, float] = {}
        self._looked = 0.0

    def step(self) -> None:
        """Make all nodes of one empty pool for each slice that waits for nodes; remove those of unneeded ones."""
        known = self._pools.all()
        if not known:
            return
        self._grow_for_pods()
        if any(is_queued(pool) for pool in known):
            self._grow_for_requests()
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            self._shrink()

    def _grow_for_pods(self) -> None:
        pending = self._api.items(PODS, fieldSelector="spec.nodeName=,status.phase=Pending", resourceVersion="0")
        # The pods of a Job are one slice's, and any one of them speaks for it.
        slices = {_owner(pod): pod for pod in pending if _waits_for_nodes(pod)}
        if not slices:
            return
        with self._pools.lock():
            nodes, free = self._free()
            free = [pool for pool in free if not is_queued(pool)]
            for pod in slices.values():
                pool = next((pool for pool in free if fits(pod, pool)), None)
                if pool is None:
                    continue
                free.remove(pool)
                if not nodes[pool.name]:
                    self._grow(pool, f"pod {pod['metadata']['name']}")

    def _grow_for_requests(self) -> None:
        for request in provisioning.waiting(self._api):
            with self._pools.lock():
                nodes, free = self._free()
                # What has nodes was made for an earlier request, whose pods are still to come.
                empty = [pool for pool in free if is_queued(pool) and not nodes[pool.name]]
                chosen: list[NodePool] = []
                for pod, count in request.pods:
                    fitting = [pool for pool in empty if pool not in chosen and fits(pod, pool)]
                    chosen += _enough(fitting, count)
                if not chosen:
                    continue
                for pool in chosen:
                    self._grow(pool, f"ProvisioningRequest {request.name}")
            request.provisioned(self._api, len(chosen))

    def _shrink(self) -> None:
        with self._pools.lock():
            nodes, free = self._free()
            idle = {pool.name for pool in free if nodes[pool.name]}
            self._idle_since = {name: self._idle_since.get(name, time.monotonic()) for name in idle}
            for name, since in self._idle_since.items():
                if time.monotonic() - since >= self._unneeded:
                    log.info("pool %s is empty again: no pod used it for %.0f seconds", name, self._unneeded)
                    pools.delete(self._api, name)

    def _free(self) -> tuple[Counter[str], list[NodePool]]:
        """Nodes per pool, and the pools without TPU pods.

        Those with nodes come first: the scheduler has not yet used what was made for a slice a moment ago.
        """
        pool_of = {n["metadata"]["name"]: _pool(n) for n in self._api.items(pools.NODES, labelSelector=POOL)}
        nodes = Counter(pool_of.values())
        placed = (pod for pod in self._api.items(PODS, resourceVersion="0") if chips(pod) and not _ended(pod))
        busy = {pool_of.get(pod["spec"].get("nodeName", ""), "") for pod in placed}
        return nodes, sorted((p for p in self._pools.all() if p.name not in busy), key=lambda p: not nodes[p.name])

    def _grow(self, pool: NodePool, reason: str) -> None:
        log.info("pool %s grows for %s", pool.name, reason)
        pools.apply(self._api, pool, limits(pool))


def _enough(found: Iterable[NodePool], pods: int) -> list[NodePool]:
    """As many of the pools as have room for so many pods, one pod on each node; none where all have too little."""
    chosen: list[NodePool] = []
    for pool in found:
        if pods <= 0:
            break
        chosen.append(pool)
        pods -= sum(limits(pool).values())
    return chosen if pods <= 0 else []


def is_queued(pool: NodePool) -> bool:
    """Whether the pool grows for a ProvisioningRequest only."""
    return bool((pool.json.get("queuedProvisioning") or {}).get("enabled"))


def limits(pool: NodePool) -> dict[str, int]:
    """The most nodes per zone of a pool that scales itself; empty for any other."""
    scaling = pool.json.get("autoscaling") or {}
    if not scaling.get("enabled"):
        return {}
    zones = pool.json["locations"]
    most = scaling.get("maxNodeCount") or scaling.get("totalMaxNodeCount", 0) // len(zones)
    return dict.fromkeys(zones, int(most))


def sizes(api: Api, pool: NodePool, wanted: Mapping[str, int]) -> dict[str, int]:
    """Nodes per zone that a change of the pool leaves: `wanted`, but no fewer than the autoscaler made."""
    nodes = api.items(pools.NODES, labelSelector=f"{POOL}={pool.name}")
    made = Counter(node["metadata"]["labels"][ZONE] for node in nodes)
    return {zone: max(count, min(made[zone], limits(pool).get(zone, 0))) for zone, count in wanted.items()}


def fits(pod: Json, pool: NodePool) -> bool:
    """Whether a node of the pool would take the pod, by labels, taints and chips."""
    spec, labels = pod["spec"], pool.labels
    zone = (spec.get("nodeSelector") or {}).get(ZONE)
    selected = {key: value for key, value in (spec.get("nodeSelector") or {}).items() if key != ZONE}
    return (
        0 < chips(pod) <= pool.machine.chips
        and selected.items() <= labels.items()
        and (zone is None or zone in limits(pool))
        and all(any(_tolerates(t, taint) for t in spec.get("tolerations") or ()) for taint in pool.taints)
    )


def chips(pod: Json) -> int:
    """The TPU chips that a pod asks for."""
    resources = (container.get("resources", {}) for container in pod["spec"]["containers"])
    # A pod template states limits only; of a pod, the API server makes them requests.
    return sum(int({**each.get("limits", {}), **each.get("requests", {})}.get(TPU, 0)) for each in resources)


def _tolerates(toleration: Json, taint: Mapping[str, str]) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    return toleration.get("key") == taint["key"] and toleration.get("value", "") == taint.get("value", "")


def _waits_for_nodes(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return not pod["metadata"].get("deletionTimestamp") and any(
        condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable" for condition in conditions
    )


def _ended(pod: Json) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def _owner(pod: Json) -> str:
    owners = pod["metadata"].get("ownerReferences") or [pod["metadata"]]
    return str(owners[0]["uid"])


def _pool(node: Json) -> str:
    return str(node["metadata"]["labels"][POOL])
