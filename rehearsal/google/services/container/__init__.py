"""Google Kubernetes Engine: clusters, node pools and their operations."""

from rehearsal.google.services.container import (
    cluster_updates,
    clusters,
    node_pools,
    operations,
    pool_updates,
    versions,
)
from rehearsal.google.services.container.service import SERVICE

__all__ = ["SERVICE", "cluster_updates", "clusters", "node_pools", "operations", "pool_updates", "versions"]
