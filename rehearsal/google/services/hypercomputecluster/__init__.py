"""Cluster Director: clusters as the Hypercompute Cluster API has them, without the Slurm that runs on them."""

from rehearsal.google.services.hypercomputecluster import clusters, operations
from rehearsal.google.services.hypercomputecluster.service import SERVICE

__all__ = ["SERVICE", "clusters", "operations"]
