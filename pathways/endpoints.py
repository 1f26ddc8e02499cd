"""Every port and address of Pathways, each stated once.

Source: Introduction to Pathways on Cloud, container specs of the resource manager, the proxy and the worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathways import names

if TYPE_CHECKING:
    from pathways.settings import Settings

PROXY_PORT = 29000
RESOURCE_MANAGER_PORT = 29001
# Head and workers never share a node, so the worker may use the resource manager's port, as Google's example does.
WORKER_PORT = 29001
# The resource manager opens this one as well, without a flag for it.
RESOURCE_MANAGER_AUXILIARY_PORT = 29002

# The colocated-Python server, beside each worker.
SIDECAR_PORT = 50051

#: Ports of the head pod, which uses its node's network: a client in that pod must not bind them.
HEAD_PORTS = (PROXY_PORT, RESOURCE_MANAGER_PORT, RESOURCE_MANAGER_AUXILIARY_PORT)


@dataclass(frozen=True)
class Endpoints:
    """Addresses of one Pathways JobSet. `proxy` and `backend_target` are None where each client brings its proxy."""

    resource_manager: str
    proxy: str | None
    backend_target: str | None


def of(settings: Settings) -> Endpoints:
    """Addresses by the head pod's DNS name, as every pod of the cluster, and with Cloud DNS the whole VPC, resolves it."""
    workload = settings.workload
    domain = settings.reach.dns_domain or "cluster.local"
    head = f"{names.coordinator(workload.name, workload.subdomain)}.{workload.namespace}.svc.{domain}"
    proxy = f"{head}:{PROXY_PORT}" if workload.mode != "service" else None
    return Endpoints(
        resource_manager=f"{head}:{RESOURCE_MANAGER_PORT}",
        proxy=proxy,
        backend_target=f"grpc://{proxy}" if proxy else None,
    )
