"""The proxy's internal load balancer, and who may pass through it.

Source: GKE documentation on internal load balancers; Pathways documentation on interactive use.
"""

from __future__ import annotations

from typing import Any

from pathways import endpoints, labels, names
from pathways.settings import Settings


def service(settings: Settings) -> dict[str, Any] | None:
    """An internal load balancer Service for the proxy; None where the stack asks for none."""
    balancer = settings.reach.load_balancer
    if balancer is None:
        return None
    annotations = {"networking.gke.io/load-balancer-type": "Internal"}
    if balancer.global_access:
        annotations["networking.gke.io/internal-load-balancer-allow-global-access"] = "true"
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**_metadata(settings), "annotations": annotations},
        "spec": {
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
            "loadBalancerSourceRanges": list(balancer.allowed_ranges),
            "selector": _head_labels(settings),
            "ports": [
                {"name": "grpc", "port": endpoints.PROXY_PORT, "targetPort": endpoints.PROXY_PORT, "protocol": "TCP"}
            ],
        },
    }


def network_policy(settings: Settings) -> dict[str, Any] | None:
    """Admits to the proxy's port whom the stack names, and the head's other ports to the cluster."""
    balancer = settings.reach.load_balancer
    if balancer is None:
        return None
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(settings),
        "spec": {
            "podSelector": {"matchLabels": _head_labels(settings)},
            "policyTypes": ["Ingress"],
            "ingress": [
                {
                    "from": [{"ipBlock": {"cidr": allowed}} for allowed in balancer.allowed_ranges],
                    "ports": [{"port": endpoints.PROXY_PORT, "protocol": "TCP"}],
                },
                {
                    "from": [{"podSelector": {}}],
                    "ports": [{"port": port, "protocol": "TCP"} for port in endpoints.HEAD_PORTS],
                },
            ],
        },
    }


def name(settings: Settings) -> str:
    """What the Service and the NetworkPolicy are called."""
    return f"{settings.workload.name}-proxy"


def _metadata(settings: Settings) -> dict[str, str]:
    return {"name": name(settings), "namespace": settings.workload.namespace}


def _head_labels(settings: Settings) -> dict[str, str]:
    return {
        labels.JOB_SET: settings.workload.name,
        labels.REPLICATED_JOB: names.HEAD_JOB,
    }
