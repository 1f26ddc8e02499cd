"""The Pathways JobSet.

Source: JobSet API v1alpha2; shape as xpk and pathways-job make it.
"""

from __future__ import annotations

from typing import Any

from pathways import containers, kueue, labels, names, volumes
from pathways.settings import Settings
from pathways.topology import SliceShape

API_VERSION = "jobset.x-k8s.io/v1alpha2"
EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
# A worker that fails is retried this many times per VM before its slice, and with it the JobSet, fails.
RETRIES_PER_VM = 4


def manifest(settings: Settings, shape: SliceShape, scratch: str) -> dict[str, Any]:
    """The JobSet as Kubernetes takes it: a head on a CPU node and one replicated job of workers per slice."""
    workload = settings.workload
    # Without a client nothing ends by itself, so there is no success to define.
    ends = workload.mode != "interactive"
    subdomain = {"subdomain": workload.subdomain} if workload.subdomain else {}
    return {
        "apiVersion": API_VERSION,
        "kind": "JobSet",
        "metadata": {
            "name": workload.name,
            "namespace": workload.namespace,
            **({"labels": {kueue.QUEUE_LABEL: settings.kueue.queue}} if settings.kueue.enabled else {}),
        },
        "spec": {
            "coordinator": {"replicatedJob": names.HEAD_JOB, "jobIndex": 0, "podIndex": 0},
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True, **subdomain},
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "failurePolicy": _failure_policy(settings),
            **({"successPolicy": {"operator": "All", "targetReplicatedJobs": [names.HEAD_JOB]}} if ends else {}),
            **({} if workload.ttl_seconds is None else {"ttlSecondsAfterFinished": workload.ttl_seconds}),
            "suspend": workload.suspend,
            "replicatedJobs": [_head(settings, shape, scratch), _workers(settings, shape, scratch)],
        },
    }


def _failure_policy(settings: Settings) -> dict[str, Any]:
    policy: dict[str, Any] = {"restartStrategy": "Recreate", "maxRestarts": settings.workload.max_restarts}
    if settings.workload.exit_codes:
        policy["rules"] = [
            {
                "name": "fatalExitCode",
                "action": "FailJobSet",
                "onJobFailureReasons": ["PodFailurePolicy"],
                "targetReplicatedJobs": [names.HEAD_JOB],
            }
        ]
    return policy


def _head(settings: Settings, shape: SliceShape, scratch: str) -> dict[str, Any]:
    workload = settings.workload
    servers = [containers.resource_manager(settings, shape, scratch)]
    if workload.mode != "service":
        servers.insert(0, containers.proxy(settings, scratch))
    job: dict[str, Any] = {}
    if workload.mode == "batch":
        # Sidecars, so that the head's job ends with its client.
        sidecars = [{**server, "restartPolicy": "Always"} for server in servers]
        inside = {"initContainers": sidecars, "containers": [containers.client(settings)]}
        if workload.exit_codes:
            job["podFailurePolicy"] = _fatal(workload.exit_codes.fatal)
    else:
        inside = {"containers": servers}
    pod = {
        "nodeSelector": labels.of_head_nodes(),
        "restartPolicy": "Never",
        **_common(settings),
        "volumes": volumes.head_volumes(settings),
        **inside,
    }
    mounts = bool(workload.mounts) and workload.mode == "batch"
    return _replicated_job(names.HEAD_JOB, 1, 1, "kubernetes.io/hostname", {"backoffLimit": 0, **job}, pod, mounts)


def _workers(settings: Settings, shape: SliceShape, scratch: str) -> dict[str, Any]:
    elastic, python = settings.workload.elastic, settings.runtime.colocated_python
    pod = {
        "nodeSelector": labels.of_slice_nodes(shape),
        "tolerations": [dict(labels.TPU_TOLERATION)],
        "restartPolicy": "OnFailure",
        "terminationGracePeriodSeconds": settings.workload.termination_grace_seconds,
        **_common(settings),
        "volumes": volumes.worker_volumes(settings),
        **({"initContainers": [containers.colocated_python(python)]} if python else {}),
        "containers": [containers.worker(settings, shape, scratch)],
    }
    return _replicated_job(
        names.WORKER_JOB,
        settings.slices.count,
        shape.vms,
        labels.NODE_POOL,
        {"backoffLimit": (elastic.max_slice_restarts if elastic else RETRIES_PER_VM) * shape.vms},
        pod,
        bool(settings.workload.mounts),
    )


def _common(settings: Settings) -> dict[str, Any]:
    """What every pod of Pathways has: its node's network, and who it is."""
    workload = settings.workload
    return {
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        **({"priorityClassName": workload.priority_class} if workload.priority_class else {}),
        **({"serviceAccountName": workload.service_account} if workload.service_account else {}),
    }


def _fatal(codes: list[int]) -> dict[str, Any]:
    """Kubernetes wants the codes sorted and without repetition."""
    values = sorted(set(codes))
    return {
        "rules": [
            {
                "action": "FailJob",
                "onExitCodes": {"containerName": "main", "operator": "In", "values": values},
            }
        ]
    }


def _replicated_job(
    name: str,
    replicas: int,
    pods: int,
    exclusive_by: str,
    job: dict[str, Any],
    pod: dict[str, Any],
    fuse: bool,
) -> dict[str, Any]:
    """`replicas` jobs of `pods` pods each; every job alone on the nodes that share the label `exclusive_by`."""
    annotations = {"metadata": {"annotations": dict(volumes.FUSE_ANNOTATIONS)}} if fuse else {}
    return {
        "name": name,
        "replicas": replicas,
        "template": {
            "metadata": {"annotations": {EXCLUSIVE_TOPOLOGY: exclusive_by}},
            "spec": {
                **job,
                "completionMode": "Indexed",
                "completions": pods,
                "parallelism": pods,
                "template": {**annotations, "spec": pod},
            },
        },
    }
