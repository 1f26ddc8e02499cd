"""The Pathways JobSet.

Source: JobSet API v1alpha2; shape as xpk and pathways-job make it.
"""

from __future__ import annotations

from typing import Any

from pathways import containers, names
from pathways.settings import Settings
from pathways.topology import SliceShape

API_VERSION = "jobset.x-k8s.io/v1alpha2"
EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
# A worker that fails is retried this many times per VM before its slice, and with it the JobSet, fails.
RETRIES_PER_VM = 4


def manifest(settings: Settings, shape: SliceShape, scratch: str) -> dict[str, Any]:
    """The JobSet as Kubernetes takes it: a head on a CPU node and one replicated job of workers per slice."""
    batch = settings.workload.mode == "batch"
    return {
        "apiVersion": API_VERSION,
        "kind": "JobSet",
        "metadata": {"name": settings.workload.name, "namespace": settings.workload.namespace},
        "spec": {
            "coordinator": {"replicatedJob": names.HEAD_JOB, "jobIndex": 0, "podIndex": 0},
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "failurePolicy": {"restartStrategy": "Recreate", "maxRestarts": settings.workload.max_restarts},
            # Without a client nothing ends by itself, so there is no success to define.
            **(
                {"successPolicy": {"operator": "All", "targetReplicatedJobs": [names.HEAD_JOB]}}
                if batch
                else {}
            ),
            "suspend": False,
            "replicatedJobs": [_head(settings, shape, scratch), _workers(settings, shape, scratch)],
        },
    }


def _head(settings: Settings, shape: SliceShape, scratch: str) -> dict[str, Any]:
    servers = [containers.proxy(settings, scratch), containers.resource_manager(settings, shape, scratch)]
    if settings.workload.mode == "batch":
        # Sidecars, so that the head's job ends with its client.
        sidecars = [{**server, "restartPolicy": "Always"} for server in servers]
        inside = {"initContainers": sidecars, "containers": [containers.client(settings)]}
    else:
        inside = {"containers": servers}
    pod = {
        "nodeSelector": {"cloud.google.com/gke-nodepool": names.HEAD_POOL},
        "restartPolicy": "Never",
        **_host_network(),
        **inside,
    }
    return _replicated_job(names.HEAD_JOB, 1, 1, "kubernetes.io/hostname", 0, pod)


def _workers(settings: Settings, shape: SliceShape, scratch: str) -> dict[str, Any]:
    pod = {
        "nodeSelector": {
            "cloud.google.com/gke-tpu-accelerator": shape.generation.gke_label,
            "cloud.google.com/gke-tpu-topology": str(shape.topology),
        },
        "tolerations": [{"key": "google.com/tpu", "operator": "Exists"}],
        "restartPolicy": "OnFailure",
        "terminationGracePeriodSeconds": 30,
        **_host_network(),
        "containers": [containers.worker(settings, shape, scratch)],
    }
    return _replicated_job(
        names.WORKER_JOB,
        settings.slices.count,
        shape.vms,
        "cloud.google.com/gke-nodepool",
        RETRIES_PER_VM * shape.vms,
        pod,
    )


def _host_network() -> dict[str, Any]:
    return {
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "volumes": [
            {"name": containers.SHARED_TMP["name"], "hostPath": {"path": "/tmp", "type": "DirectoryOrCreate"}}
        ],
    }


def _replicated_job(
    name: str, replicas: int, pods: int, exclusive_by: str, backoff_limit: int, pod: dict[str, Any]
) -> dict[str, Any]:
    """`replicas` jobs of `pods` pods each; every job alone on the nodes that share the label `exclusive_by`."""
    return {
        "name": name,
        "replicas": replicas,
        "template": {
            "metadata": {"annotations": {EXCLUSIVE_TOPOLOGY: exclusive_by}},
            "spec": {
                "backoffLimit": backoff_limit,
                "completionMode": "Indexed",
                "completions": pods,
                "parallelism": pods,
                "template": {"spec": pod},
            },
        },
    }
