"""The ways to the proxy from outside the cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from pathways.checks.registry import Finding, gke_check
from pathways.settings import Settings


@gke_check("reach-mode", "pathways:reach.loadBalancer", "pathways:workload.mode")
def _reach(settings: Settings) -> Iterator[Finding]:
    """A load balancer has a proxy to lead to, and leads only from private addresses."""
    balancer, path = settings.reach.load_balancer, "pathways:reach.loadBalancer"
    if balancer is None:
        return
    if settings.workload.mode == "service":
        yield Finding(path, "in mode service there is no shared proxy to lead to", "leave loadBalancer out")
    for index, text in enumerate(balancer.allowed_ranges):
        where = f"{path}.allowedRanges[{index}]"
        try:
            allowed = ipaddress.IPv4Network(text)
        except ValueError as error:
            yield Finding(where, str(error), "write the network address and its prefix length, such as 10.0.0.0/8")
            continue
        if not allowed.is_private:
            yield Finding(
                where,
                f"{text} is public, and whoever reaches the proxy may run anything on the TPUs",
                "write the private range of your clients",
            )
