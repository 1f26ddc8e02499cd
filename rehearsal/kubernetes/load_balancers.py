"""Addresses for Services of type LoadBalancer, as GKE's controller gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network
from typing import Any

from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.pools import NODE_RANGE

Json = dict[str, Any]
SERVICES = "/api/v1/services"
# Both annotations make a load balancer internal; the second is the older one.
INTERNAL = ("networking.gke.io/load-balancer-type", "cloud.google.com/load-balancer-type")
# Stands for Google's public addresses: a range that is nobody's (RFC 5737).
PUBLIC_RANGE = IPv4Network("203.0.113.0/24")


class LoadBalancers:
    """Gives every Service of type LoadBalancer its address. Nothing answers at it."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def step(self) -> None:
        """Give an address to each Service that waits for one."""
        services = self._api.items(SERVICES, resourceVersion="0")
        used = {ingress["ip"] for service in services for ingress in _ingress(service) if "ip" in ingress}
        for service in services:
            if service["spec"].get("type") != "LoadBalancer" or service["spec"].get("loadBalancerClass"):
                continue
            if _ingress(service) or service["metadata"].get("deletionTimestamp"):
                continue
            address = service["spec"].get("loadBalancerIP") or next(_free(service, used))
            used.add(address)
            metadata = service["metadata"]
            path = f"/api/v1/namespaces/{metadata['namespace']}/services/{metadata['name']}/status"
            self._api.patch(path, {"status": {"loadBalancer": {"ingress": [{"ip": address, "ipMode": "VIP"}]}}})


def _free(service: Json, used: Iterable[str]) -> Iterator[str]:
    """Addresses a Service may get: of its subnet from the top, as nodes take theirs from the bottom."""
    annotations = service["metadata"].get("annotations") or {}
    internal = any(annotations.get(key, "").lower() == "internal" for key in INTERNAL)
    whole = NODE_RANGE if internal else PUBLIC_RANGE
    last = int(whole.broadcast_address)
    addresses = (str(whole[number - int(whole.network_address)]) for number in range(last - 1, last - 250, -1))
    return (address for address in addresses if address not in used)


def _ingress(service: Json) -> list[Json]:
    found: list[Json] = service.get("status", {}).get("loadBalancer", {}).get("ingress") or []
    return found
