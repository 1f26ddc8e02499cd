"""Pods and nodes as the API server gives them to a node agent."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
ADDRESSES = {"host": "127.200.0.4", "pod": "127.200.0.4"}


def node(machine: str = "ct6e-standard-4t", chips: int = 4, topology: str = "4x4") -> Json:
    labels = {
        "node.kubernetes.io/instance-type": machine,
        "cloud.google.com/gke-tpu-topology": topology,
        "topology.kubernetes.io/region": "us-east5",
    }
    allocatable = {"cpu": "178", "memory": "650Gi", "google.com/tpu": str(chips)}
    addresses = [{"type": "InternalIP", "address": "10.128.0.4"}]
    return {
        "metadata": {"name": "tpu-0", "uid": "node-uid", "labels": labels},
        "spec": {"podCIDR": "10.64.1.0/24"},
        "status": {"allocatable": allocatable, "addresses": addresses},
    }


def container(name: str = "worker", **changes: Any) -> Json:
    return {"name": name, "image": "example.pkg.dev/pathways/server:jax-0.11.1", **changes}


def pod(*containers: Json, labels: dict[str, str] | None = None, **spec: Any) -> Json:
    return {
        "metadata": {
            "name": "worker-0-1-abcde",
            "namespace": "default",
            "uid": "pod-uid",
            "labels": labels or {},
            "annotations": {"jobset.sigs.k8s.io/jobset-name": "pathways"},
        },
        "spec": {"nodeName": "tpu-0", "containers": list(containers) or [container()], **spec},
        "status": {},
    }


def nothing(_kind: str, _name: str) -> Json | None:
    """A namespace without ConfigMaps and Secrets."""
    return None
