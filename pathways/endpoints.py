"""Every port and address of Pathways, each stated once.

Source: Introduction to Pathways on Cloud, container specs of the resource manager, the proxy and the worker.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathways import names

PROXY_PORT = 29000
RESOURCE_MANAGER_PORT = 29001
# Head and workers never share a node, so the worker may use the resource manager's port, as Google's example does.
WORKER_PORT = 29001
# The resource manager opens this one as well, without a flag for it.
RESOURCE_MANAGER_AUXILIARY_PORT = 29002

#: Ports of the head pod, which uses its node's network: a client in that pod must not bind them.
HEAD_PORTS = (PROXY_PORT, RESOURCE_MANAGER_PORT, RESOURCE_MANAGER_AUXILIARY_PORT)


@dataclass(frozen=True)
class Endpoints:
    """Addresses of one Pathways JobSet, as a pod or a client in the cluster's network uses them."""

    proxy: str
    resource_manager: str
    backend_target: str


def of(job_set: str, namespace: str) -> Endpoints:
    """Addresses by the head pod's DNS name, qualified so that every namespace resolves them."""
    head = f"{names.coordinator(job_set)}.{namespace}.svc.cluster.local"
    return Endpoints(
        proxy=f"{head}:{PROXY_PORT}",
        resource_manager=f"{head}:{RESOURCE_MANAGER_PORT}",
        backend_target=f"grpc://{head}:{PROXY_PORT}",
    )
