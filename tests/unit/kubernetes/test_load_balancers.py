"""Addresses of Services of type LoadBalancer."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

from rehearsal.kubernetes.load_balancers import PUBLIC_RANGE, LoadBalancers
from rehearsal.kubernetes.pools import NODE_RANGE
from tests.unit.kubernetes.fake_api import FakeApi

INTERNAL = {"networking.gke.io/load-balancer-type": "Internal"}


def service(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"type": "LoadBalancer", **spec}, "status": {"loadBalancer": {}}}


def addresses(*services: dict[str, Any]) -> list[str | None]:
    """The address of each Service after two steps."""
    cluster = FakeApi({f"/api/v1/namespaces/default/services/{s['metadata']['name']}": s for s in services})
    for _ in range(2):
        LoadBalancers(cluster.api).step()
    found = [item["status"]["loadBalancer"].get("ingress") for item in cluster.items("/api/v1/services")]
    return [ingress[0]["ip"] if ingress else None for ingress in found]


def test_an_internal_load_balancer_gets_an_address_of_the_subnet() -> None:
    [address] = addresses(service("proxy", INTERNAL))
    assert address and IPv4Address(address) in NODE_RANGE


def test_any_other_load_balancer_gets_a_public_address() -> None:
    [address] = addresses(service("proxy"))
    assert address and IPv4Address(address) in PUBLIC_RANGE


def test_no_two_load_balancers_share_an_address() -> None:
    found = addresses(*(service(f"proxy-{index}", INTERNAL) for index in range(5)))
    assert len(set(found)) == 5


def test_a_stated_address_is_given() -> None:
    assert addresses(service("proxy", INTERNAL, loadBalancerIP="10.128.0.77")) == ["10.128.0.77"]


def test_other_services_and_those_of_another_class_get_none() -> None:
    assert addresses(service("a", type="ClusterIP"), service("b", loadBalancerClass="example.com/own")) == [None, None]
