"""Faults inside a cluster: nodes that are lost or not ready, pods that find no node, containers that do not run."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pathways import kueue
from pathways.labels import JOB_SET
from rehearsal.errors import RehearsalError
from rehearsal.kubernetes import pools
from rehearsal.kubernetes.api import Api, each
from rehearsal.kubernetes.nodes import POOL
from rehearsal.processes import wait_for

Json = dict[str, Any]
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
# The stage that makes nodes ready leaves those with it alone.
BROKEN = "rehearsal/broken"
KEPT = "rehearsal/topology"
#: Nodes that are lost for the time being.
LOST = "/api/v1/namespaces/kube-system/configmaps/rehearsal-lost-nodes"
QUOTAS, NO_PODS = "/api/v1/resourcequotas", "rehearsal-no-pods"
QUEUES = f"/apis/{kueue.API_VERSION}/clusterqueues"
Action = Callable[[Api, bool], None]


def disturb(api: Api, what: str, on: bool) -> None:
    """Begin or end a fault; to repeat either does no harm."""
    actions: dict[str, Action] = {
        "nodes-not-ready": _nodes_not_ready,
        "nodes-lost": _nodes_lost,
        "cordon": _cordon,
        "topology": _topology,
        "image-pull": partial(_workers, broken=_cannot_pull),
        "crash-loop": partial(_workers, broken=_crashes),
        "slow-start": partial(_workers, broken=_starts),
        "queue-stopped": _queue_stopped,
        "pod-quota": _pod_quota,
    }
    if what not in actions:
        raise RehearsalError(f"Clusters have no fault {what}. They have {', '.join(actions)}.")
    actions[what](api, on)


def _nodes_not_ready(api: Api, on: bool) -> None:
    for node in _first_slice(api):
        path = f"{NODES}/{node['metadata']['name']}"
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {
            "type": "Ready",
            "status": "False" if on else "True",
            "reason": "KubeletNotReady" if on else "KubeletReady",
            "message": "container runtime is down" if on else "",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        others = [each for each in node["status"].get("conditions", []) if each["type"] != "Ready"]
        api.patch(path, {"metadata": {"annotations": {BROKEN: "true" if on else None}}})
        api.patch(f"{path}/status", {"status": {"conditions": [*others, ready]}})


def _nodes_lost(api: Api, on: bool) -> None:
    """Take a VM of the first slice, and give it back."""
    kept = api.get(LOST)
    if on and kept is None:
        node = _first_slice(api)[-1]
        metadata = {key: node["metadata"][key] for key in ("name", "labels", "annotations")}
        data = {node["metadata"]["name"]: json.dumps({**node, "metadata": metadata})}
        api.create(LOST.rpartition("/")[0], {"metadata": {"name": LOST.rpartition("/")[2]}, "data": data})
        pools.remove(api, data)
    elif not on and kept is not None:
        for node in kept["data"].values():
            api.create(NODES, json.loads(node))
        api.delete(LOST)


def _cordon(api: Api, on: bool) -> None:
    """Let the nodes take no more pods, and have their job made anew."""
    names = [node["metadata"]["name"] for node in _first_slice(api)]
    each(lambda name: api.patch(f"{NODES}/{name}", {"spec": {"unschedulable": on or None}}), names)
    if on:
        _remake(api, names)


def _topology(api: Api, on: bool) -> None:
    """Give the nodes another topology, and have their job made anew."""
    names = []
    for node in _first_slice(api):
        names.append(node["metadata"]["name"])
        kept = node["metadata"].get("annotations", {}).get(KEPT)
        now = node["metadata"]["labels"][TOPOLOGY]
        wanted = ("16x16" if now != "16x16" else "8x8") if on and not kept else kept if kept and not on else now
        patch = {"labels": {TOPOLOGY: wanted}, "annotations": {KEPT: (kept or now) if on else None}}
        api.patch(f"{NODES}/{node['metadata']['name']}", {"metadata": patch})
    if on:
        _remake(api, names)


def _remake(api: Api, nodes: Iterable[str]) -> None:
    """Have the jobs made anew whose pods are on these nodes."""
    # Pods alone would count as failures of their job, which then waits longer each time.
    pods = [pod for pod in _pods(api) if pod["spec"].get("nodeName") in set(nodes)]
    jobs = {(pod["metadata"]["namespace"], pod["metadata"]["labels"]["job-name"]) for pod in pods}
    for namespace, job in jobs:
        api.delete(f"/apis/batch/v1/namespaces/{namespace}/jobs/{job}", dependents=True)


def _workers(api: Api, on: bool, broken: Callable[[Json], Json]) -> None:
    """The containers of the workers are as `broken` makes them of a container's status."""
    workers = [pod for pod in _pods(api) if pod["status"].get("containerStatuses") and _is_worker(pod)]
    each(lambda pod: api.patch(f"{_path(pod)}/status", {"status": _with(pod, broken if on else _runs)}), workers)


def _with(pod: Json, state: Callable[[Json], Json]) -> Json:
    """The status of a pod whose containers are in a state."""
    known = [{key: each[key] for key in _IDENTITY} for each in pod["status"]["containerStatuses"]]
    statuses = [{**each, **state({**each, "startedAt": pod["status"]["startTime"]})} for each in known]
    ready = all(each["ready"] for each in statuses)
    conditions = [
        {**each, "status": str(ready) if each["type"] in _CONCERNED else each["status"]}
        for each in pod["status"]["conditions"]
    ]
    return {"containerStatuses": statuses, "conditions": conditions}


_IDENTITY = ("name", "image", "imageID")
_CONCERNED = ("Ready", "ContainersReady")


def _runs(status: Json) -> Json:
    return {"ready": True, "started": True, "restartCount": 0, "state": {"running": {"startedAt": status["startedAt"]}}}


def _starts(status: Json) -> Json:
    return {**_runs(status), "ready": False, "started": False}


def _cannot_pull(status: Json) -> Json:
    message = f'Back-off pulling image "{status["image"]}": not found'
    waiting = {"reason": "ImagePullBackOff", "message": message}
    return {"ready": False, "started": False, "restartCount": 0, "state": {"waiting": waiting}}


def _crashes(status: Json) -> Json:
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}
    ended = {"exitCode": 1, "reason": "Error", "startedAt": status["startedAt"], "finishedAt": status["startedAt"]}
    last = {"lastState": {"terminated": ended}}
    return {"ready": False, "started": False, "restartCount": 3, "state": {"waiting": waiting}, **last}


def _queue_stopped(api: Api, on: bool) -> None:
    """Kueue's queues admit nothing, and take back what they admitted."""
    for queue in (api.get(QUEUES) or {"items": []})["items"]:
        api.patch(f"{QUEUES}/{queue['metadata']['name']}", {"spec": {"stopPolicy": "HoldAndDrain" if on else "None"}})


def _pod_quota(api: Api, on: bool) -> None:
    """Let no more pods into the JobSets' namespaces, and have the first slice's job made anew."""
    if not on:
        for quota in api.items(QUOTAS):
            if quota["metadata"]["name"] == NO_PODS:
                api.delete(f"/api/v1/namespaces/{quota['metadata']['namespace']}/resourcequotas/{NO_PODS}")
        return
    for namespace in {pod["metadata"]["namespace"] for pod in _pods(api)}:
        path = f"/api/v1/namespaces/{namespace}/resourcequotas"
        api.create(path, {"metadata": {"name": NO_PODS}, "spec": {"hard": {"pods": "0"}}})
        # Until its controller has counted, a quota refuses nothing.
        counted = partial(_counted, api, f"{path}/{NO_PODS}")
        wait_for(counted, f"the quota of {namespace} is counted", timeout=30)
    _remake(api, [node["metadata"]["name"] for node in _first_slice(api)])


def _counted(api: Api, path: str) -> bool:
    return bool(((api.get(path) or {}).get("status") or {}).get("hard"))


def _first_slice(api: Api) -> list[Json]:
    """The nodes of the first pool of TPU VMs."""
    nodes = [node for node in api.items(NODES) if TOPOLOGY in node["metadata"]["labels"]]
    pools = sorted({node["metadata"]["labels"][POOL] for node in nodes})
    return [node for node in nodes if node["metadata"]["labels"][POOL] == pools[0]]


def _pods(api: Api) -> list[Json]:
    return api.items(PODS, labelSelector=JOB_SET)


def _is_worker(pod: Json) -> bool:
    return "google.com/tpu" in str(pod["spec"]["containers"][0].get("resources", {}))


def _path(pod: Json) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
