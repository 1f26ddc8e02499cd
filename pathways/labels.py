"""Labels and resources by which pods and queues find nodes, and people the pods of a JobSet.

Source: GKE documentation on TPU node pools; JobSet API (labels of Jobs and pods; annotations have the same names).
"""

from __future__ import annotations

from pathways import names
from pathways.topology import SliceShape

# GKE's, of nodes.
NODE_POOL = "cloud.google.com/gke-nodepool"
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
# A resource of TPU nodes, in chips, and the key of their taint.
TPU = "google.com/tpu"
# JobSet's, of pods.
JOB_SET = "jobset.sigs.k8s.io/jobset-name"
REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
REPLICAS = "jobset.sigs.k8s.io/replicatedjob-replicas"
JOB_INDEX = "jobset.sigs.k8s.io/job-index"
COORDINATOR = "jobset.sigs.k8s.io/coordinator"


#: With which a pod goes onto TPU nodes.
TPU_TOLERATION = {"key": TPU, "operator": "Exists"}


def of_slice_nodes(shape: SliceShape) -> dict[str, str]:
    """Labels that GKE gives the nodes of slices of this shape, and no others."""
    return {ACCELERATOR: shape.generation.gke_label, TOPOLOGY: str(shape.topology)}


def of_head_nodes() -> dict[str, str]:
    """Labels that GKE gives the nodes of the head pool."""
    return {NODE_POOL: names.HEAD_POOL}
