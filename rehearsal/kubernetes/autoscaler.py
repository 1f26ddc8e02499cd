"""Node pools that grow when pods wait for them, as GKE's cluster autoscaler grows those of TPU slices."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rehearsal.kubernetes import pools
from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.nodes import POOL, ZONE, NodePool, Placement

Json = dict[str, Any]
PODS = "/api/v1/pods"
TPU = "google.com/tpu"
FOLDER = "autoscaled-pools"
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
    """Grows pools of TPU nodes. It never shrinks them: GKE does so after ten minutes without pods."""

    def __init__(self, api: Api, folder: Path) -> None:
        self._api = api
        self._pools = AutoscaledPools(folder)

    def step(self) -> None:
        """Make all nodes of one empty pool for each slice whose pods wait for nodes."""
        if not self._pools.all():
            return
        pending = self._api.items(PODS, fieldSelector="spec.nodeName=,status.phase=Pending", resourceVersion="0")
        # The pods of a Job are one slice's, and any one of them speaks for it.
        slices = {_owner(pod): pod for pod in pending if _waits_for_nodes(pod)}
        if not slices:
            return
        with self._pools.lock():
            nodes = Counter(_pool(node) for node in self._api.items(pools.NODES, labelSelector=POOL))
            busy = self._with_tpu_pods()
            # Those with nodes first: the scheduler has not yet used what was made for a slice a moment ago.
            free = sorted((p for p in self._pools.all() if p.name not in busy), key=lambda p: not nodes[p.name])
            for pod in slices.values():
                pool = next((pool for pool in free if fits(pod, pool)), None)
                if pool is None:
                    continue
                free.remove(pool)
                if not nodes[pool.name]:
                    log.info("pool %s grows for pod %s", pool.name, pod["metadata"]["name"])
                    pools.apply(self._api, pool, limits(pool))

    def _with_tpu_pods(self) -> set[str]:
        pool_of = {n["metadata"]["name"]: _pool(n) for n in self._api.items(pools.NODES, labelSelector=POOL)}
        placed = (pod for pod in self._api.items(PODS, resourceVersion="0") if chips(pod))
        return {pool_of.get(pod["spec"].get("nodeName", ""), "") for pod in placed}


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
    requests = (c.get("resources", {}).get("requests", {}) for c in pod["spec"]["containers"])
    return sum(int(request.get(TPU, 0)) for request in requests)


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


def _owner(pod: Json) -> str:
    owners = pod["metadata"].get("ownerReferences") or [pod["metadata"]]
    return str(owners[0]["uid"])


def _pool(node: Json) -> str:
    return str(node["metadata"]["labels"][POOL])
