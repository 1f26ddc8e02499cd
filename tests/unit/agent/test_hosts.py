"""Names that a pod resolves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rehearsal.kubernetes.agent import hosts
from rehearsal.kubernetes.agent.addresses import Loopback
from tests.unit.agent.samples import node, pod

Json = dict[str, Any]


@pytest.fixture
def loopback(tmp_path: Path) -> Loopback:
    return Loopback(tmp_path)


def member(hostname: str, address: str, **labels: str) -> Json:
    made = pod(labels={"app": "pathways", **labels}, hostname=hostname, subdomain="pathways")
    made["status"] = {"podIP": address}
    return made


def headless(**spec: Any) -> Json:
    whole = {"clusterIP": "None", "selector": {"app": "pathways"}, "publishNotReadyAddresses": True, **spec}
    return {"metadata": {"name": "pathways", "namespace": "default"}, "spec": whole}


def names(service: Json, loopback: Loopback, *pods: Json) -> dict[str, str]:
    lines = hosts.cluster_names("default", [service], pods, loopback).splitlines()
    return {name: line.split()[0] for line in lines for name in line.split()[1:]}


def test_a_pod_of_a_headless_service_has_every_form_of_its_name(loopback: Loopback) -> None:
    found = names(headless(), loopback, member("head-0", "10.128.0.2"))
    for name in ("head-0.pathways", "head-0.pathways.default.svc.cluster.local", "pathways.default"):
        assert found[name] == loopback.of("10.128.0.2")


def test_a_service_that_selects_other_pods_names_none(loopback: Loopback) -> None:
    assert not names(headless(selector={"app": "other"}), loopback, member("head-0", "10.128.0.2"))


def test_a_pod_that_is_not_ready_is_named_only_where_the_service_publishes_it(loopback: Loopback) -> None:
    unready = member("head-0", "10.128.0.2")
    assert not names(headless(publishNotReadyAddresses=False), loopback, unready)
    unready["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    assert names(headless(publishNotReadyAddresses=False), loopback, unready)


def test_another_subdomain_gives_a_pod_no_name_of_its_own(loopback: Loopback) -> None:
    stray = member("head-0", "10.128.0.2")
    stray["spec"]["subdomain"] = "elsewhere"
    found = names(headless(), loopback, stray)
    assert "head-0.pathways" not in found and "pathways" in found


@pytest.mark.parametrize(
    ("host_network", "policy", "expected"),
    [
        (True, "ClusterFirstWithHostNet", True),
        (True, "ClusterFirst", False),
        (False, "ClusterFirst", True),
        (False, "Default", False),
    ],
)
def test_on_its_nodes_network_a_pod_asks_the_cluster_only_when_told_to(
    host_network: bool, policy: str, expected: bool
) -> None:
    assert hosts.resolves_cluster_names(pod(hostNetwork=host_network, dnsPolicy=policy)) == expected


def test_a_pod_on_its_nodes_network_has_the_nodes_name() -> None:
    assert hosts.host_name(pod(hostNetwork=True, hostname="worker-0-1"), node()) == "tpu-0"
    assert hosts.host_name(pod(hostname="worker-0-1"), node()) == "worker-0-1"
