"""Faults inside a cluster: nodes that are not ready, nodes of another shape, images that cannot be pulled."""

from __future__ import annotations

import datetime
from typing import Any

from rehearsal.errors import RehearsalError
from rehearsal.kubernetes.api import Api, each
from rehearsal.kubernetes.nodes import POOL

Json = dict[str, Any]
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
# The stage that makes nodes ready leaves those with it alone.
BROKEN = "rehearsal/broken"
KEPT = "rehearsal/topology"
JOB_SET = "jobset.sigs.k8s.io/jobset-name"


def disturb(api: Api, what: str, on: bool) -> None:
    """Begin or end a fault; to repeat either does no harm."""
    actions = {"nodes-not-ready": _nodes_not_ready, "topology": _topology, "image-pull": _image_pull}
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


def _topology(api: Api, on: bool) -> None:
    """Give the nodes another topology, and have their job made anew."""
    names = set()
    for node in _first_slice(api):
        names.add(node["metadata"]["name"])
        kept = node["metadata"].get("annotations", {}).get(KEPT)
        now = node["metadata"]["labels"][TOPOLOGY]
        wanted = ("16x16" if now != "16x16" else "8x8") if on and not kept else kept if kept and not on else now
        patch = {"labels": {TOPOLOGY: wanted}, "annotations": {KEPT: (kept or now) if on else None}}
        api.patch(f"{NODES}/{node['metadata']['name']}", {"metadata": patch})
    if on:
        # Pods alone would count as failures of their job, which then waits longer each time.
        pods = [pod for pod in _pods(api) if pod["spec"].get("nodeName") in names]
        jobs = {(pod["metadata"]["namespace"], pod["metadata"]["labels"]["job-name"]) for pod in pods}
        for namespace, job in jobs:
            api.delete(f"/apis/batch/v1/namespaces/{namespace}/jobs/{job}", dependents=True)


def _image_pull(api: Api, on: bool) -> None:
    """The containers of the workers wait for an image."""
    workers = [pod for pod in _pods(api) if pod["status"].get("containerStatuses") and _is_worker(pod)]
    each(lambda pod: api.patch(f"{_path(pod)}/status", {"status": _pulling(pod, on)}), workers)


def _pulling(pod: Json, on: bool) -> Json:
    """The status of a pod whose images cannot be pulled, or could be after all."""
    waiting = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "{image}": not found'}
    statuses = []
    for status in pod["status"]["containerStatuses"]:
        message = waiting["message"].format(image=status["image"])
        state = (
            {"waiting": {**waiting, "message": message}}
            if on
            else {"running": {"startedAt": pod["status"]["startTime"]}}
        )
        statuses.append({**status, "ready": not on, "started": not on, "state": state})
    concerned = ("Ready", "ContainersReady")
    conditions = [
        {**each, "status": str(not on) if each["type"] in concerned else each["status"]}
        for each in pod["status"]["conditions"]
    ]
    return {"containerStatuses": statuses, "conditions": conditions}


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
