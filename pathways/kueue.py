"""Kueue's objects: what may be admitted, and where Pathways queues.

Source: Kueue API v1beta2; one resource group for both flavors, as admission of workers that also ask for CPU needs.
"""

from __future__ import annotations

from typing import Any

from pathways import containers, labels
from pathways.machines import cpu_machine
from pathways.settings import Settings
from pathways.topology import SliceShape

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
API_VERSION = "kueue.x-k8s.io/v1beta2"
TPU_FLAVOR, HEAD_FLAVOR = "tpu-slices", "head"
# Of queued capacity: Kueue's check that asks GKE for the nodes, and waits for them before it admits.
QUEUED_CHECK = "queued-provisioning"
PROVISIONING_CLASS = "queued-provisioning.gke.io"
# Quota of what the nodes of TPU pools have beside chips; workers are limited by their chips, not by it.
AMPLE_CPUS, AMPLE_MEMORY = 1_000_000, "10000Ti"


def manifests(settings: Settings, shape: SliceShape) -> list[dict[str, Any]]:
    """ResourceFlavors, ClusterQueue and LocalQueue with quota for exactly this stack."""
    queue = settings.kueue.queue
    return [
        *(_provisioning() if settings.slices.capacity.queued else []),
        # Tolerations as the workers have: Kueue adds those that a pod lacks, and the JobSet would differ from the
        # stack's for ever.
        _flavor(TPU_FLAVOR, labels.of_slice_nodes(shape), tolerations=[dict(labels.TPU_TOLERATION)]),
        _flavor(HEAD_FLAVOR, labels.of_head_nodes(), tolerations=[]),
        _cluster_queue(settings, shape),
        {
            "apiVersion": API_VERSION,
            "kind": "LocalQueue",
            "metadata": {"name": queue, "namespace": settings.workload.namespace},
            "spec": {"clusterQueue": queue},
        },
    ]


def _cluster_queue(settings: Settings, shape: SliceShape) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterQueue",
        "metadata": {"name": settings.kueue.queue},
        "spec": {
            # An empty selector admits every namespace; none at all admits no namespace.
            "namespaceSelector": {},
            **_strategy(settings),
            "resourceGroups": [
                {
                    "coveredResources": [labels.TPU, "cpu", "memory"],
                    "flavors": [
                        # First, so that the head, which asks for no chips, does not take the TPU nodes' flavor.
                        _quota(HEAD_FLAVOR, 0, *_head(settings)),
                        _quota(TPU_FLAVOR, settings.slices.count * shape.chips, AMPLE_CPUS, AMPLE_MEMORY),
                    ],
                }
            ],
        },
    }


def _head(settings: Settings) -> tuple[int, str]:
    """CPUs and memory of the head pool; where its machines' size is not known, what the head pod asks for."""
    nodes, machine = settings.head.node_count, cpu_machine(settings.head.machine_type)
    if machine:
        return nodes * machine.vcpus, f"{int(nodes * machine.memory_gib)}Gi"
    cpus, gigabytes = containers.head_limits(settings)
    return nodes * cpus, f"{nodes * gigabytes}G"


def _strategy(settings: Settings) -> dict[str, Any]:
    if not settings.slices.capacity.queued:
        return {}
    return {"admissionChecksStrategy": {"admissionChecks": [{"name": QUEUED_CHECK, "onFlavors": [TPU_FLAVOR]}]}}


def _provisioning() -> list[dict[str, Any]]:
    """How Kueue asks GKE's autoscaler for nodes. Source: Kueue API v1beta2; GKE documentation on DWS."""
    group, _, _ = API_VERSION.partition("/")
    parameters = {"apiGroup": group, "kind": "ProvisioningRequestConfig", "name": QUEUED_CHECK}
    return [
        {
            "apiVersion": API_VERSION,
            "kind": "ProvisioningRequestConfig",
            "metadata": {"name": QUEUED_CHECK},
            "spec": {"provisioningClassName": PROVISIONING_CLASS, "managedResources": [labels.TPU]},
        },
        {
            "apiVersion": API_VERSION,
            "kind": "AdmissionCheck",
            "metadata": {"name": QUEUED_CHECK},
            "spec": {"controllerName": f"{group}/provisioning-request", "parameters": parameters},
        },
    ]


def _flavor(name: str, nodes: dict[str, str], tolerations: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"nodeLabels": nodes, **({"tolerations": tolerations} if tolerations else {})},
    }


def _quota(flavor: str, chips: int, cpus: int, memory: str) -> dict[str, Any]:
    return {
        "name": flavor,
        "resources": [
            {"name": labels.TPU, "nominalQuota": _canonical(chips)},
            {"name": "cpu", "nominalQuota": _canonical(cpus)},
            {"name": "memory", "nominalQuota": memory},
        ],
    }


def _canonical(number: int) -> str:
    """A Kubernetes quantity as Kueue writes it back; in any other form it would differ at the next `up`."""
    for suffix in ("", "k", "M", "G"):
        if number == 0 or number % 1000:
            return f"{number}{suffix}"
        number //= 1000
    return f"{number}T"
