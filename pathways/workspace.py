"""What the JobSet needs in its cluster before it: namespace, service account, priority class.

In a cluster that the stack creates nobody else can have made them yet. One that exists has them already, or its owner
makes them.
"""

from __future__ import annotations

from typing import Any

from pathways.settings import Settings

# The values that xpk gives to classes of these names.
PRIORITIES = {"very-low": 100, "low": 250, "medium": 500, "high": 750, "very-high": 1000}
# Kubernetes makes both itself, the latter in every namespace.
DEFAULT_NAMESPACE, DEFAULT_ACCOUNT = "default", "default"


def manifests(settings: Settings) -> list[dict[str, Any]]:
    """What of these the stack's own cluster does not have by itself, in the order of creation."""
    if settings.cluster.existing:
        return []
    workload, made = settings.workload, list[dict[str, Any]]()
    if workload.namespace != DEFAULT_NAMESPACE:
        made.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": workload.namespace}})
    if workload.service_account not in (None, DEFAULT_ACCOUNT):
        metadata = {"name": workload.service_account, "namespace": workload.namespace}
        made.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    if workload.priority_class in PRIORITIES:
        made.append(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": workload.priority_class},
                "value": PRIORITIES[workload.priority_class],
            }
        )
    return made
