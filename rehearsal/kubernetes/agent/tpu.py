"""What GKE gives to containers that ask for TPU chips: its webhook and its device plugin.

Source: GKE documentation, "TPUs in GKE" (variables, all chips of a VM to one container); variables as libtpu reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pathways.topology import SliceShape, Topology
from pathways.tpu import catalogue
from rehearsal.kubernetes.nodes import INSTANCE_TYPE

Json = dict[str, Any]
RESOURCE = "google.com/tpu"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


class RejectedError(Exception):
    """The node refuses the pod: UnexpectedAdmissionError, with this message."""


def chips(container: Json) -> int:
    """TPU chips that a container asks for."""
    resources = container.get("resources") or {}
    return int((resources.get("limits") or {}).get(RESOURCE, 0))


def variables(container: Json, pod: Json, node: Json, job: Mapping[str, Any] | None) -> dict[str, str]:
    """The variables of a container with chips; none for another. Raises RejectedError for a part of a VM's chips.

    `job` is the Job that the pod belongs to, by which a worker knows its peers.
    """
    wanted, there = chips(container), int(node["status"]["allocatable"].get(RESOURCE, 0))
    if not wanted:
        return {}
    labels = node["metadata"]["labels"]
    if wanted != there:
        raise RejectedError(
            f"Allocate failed: container {container['name']} asks for {wanted} TPU chips ({RESOURCE}); "
            f"a {labels[INSTANCE_TYPE]} gives all of its {there} to one container"
        )
    machine = catalogue().machine_types[labels[INSTANCE_TYPE]]
    generation = catalogue().generations[machine.generation]
    shape = SliceShape(generation, machine, Topology.parse(labels[TOPOLOGY_LABEL]))
    found = {
        "TPU_TOPOLOGY": str(shape.topology),
        "TPU_HOST_BOUNDS": shape.host_bounds,
        "TPU_CHIPS_PER_HOST_BOUNDS": shape.chips_per_host_bounds,
        "TPU_SKIP_MDS_QUERY": "true",
    }
    index, subdomain = (pod["metadata"].get("labels") or {}).get(COMPLETION_INDEX), pod["spec"].get("subdomain")
    if job is not None and index is not None and subdomain:
        name, peers = job["metadata"]["name"], int(job["spec"].get("completions") or 1)
        found["TPU_WORKER_ID"] = str(index)
        found["TPU_WORKER_HOSTNAMES"] = ",".join(f"{name}-{number}.{subdomain}" for number in range(peers))
    return found
