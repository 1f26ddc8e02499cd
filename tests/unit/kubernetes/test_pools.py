"""Nodes of a cluster brought in line with a node pool."""

from __future__ import annotations

import itertools
from ipaddress import IPv4Network
from typing import Any

import pytest

from rehearsal.errors import RehearsalError
from rehearsal.kubernetes import pools
from rehearsal.kubernetes.nodes import NodePool, Placement
from tests.unit.kubernetes.fake_api import FakeApi

ZONE = "us-east5-b"


def pool(name: str = "tpu-np-0", **changes: Any) -> NodePool:
    json = {
        "name": name,
        "config": {"machineType": "ct6e-standard-4t"},
        "maxPodsConstraint": {"maxPodsPerNode": "15"},
    }
    return NodePool(json | changes, Placement("example-ml", "us-east5", "pathways"), "1.35.4-gke.1000000")


class Cluster(FakeApi):
    """An API with the Nodes of a cluster."""

    @property
    def nodes(self) -> dict[str, Any]:
        return {n["metadata"]["name"]: n for n in self.items("/api/v1/nodes")}


def test_a_pool_gets_as_many_nodes_per_zone_as_it_asks_for() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(), {"us-east5-a": 1, "us-east5-b": 3})
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in cluster.nodes.values()]
    assert sorted(zones) == ["us-east5-a", "us-east5-b", "us-east5-b", "us-east5-b"]


def test_applying_a_pool_again_changes_nothing() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(), {ZONE: 4})
    before = list(cluster.log)
    pools.apply(cluster.api, pool(), {ZONE: 4})
    assert cluster.log == before


def test_a_smaller_pool_loses_nodes_and_the_pods_on_them_only() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(), {ZONE: 4})
    pools.apply(cluster.api, pool("other"), {ZONE: 1})
    for name in cluster.nodes:
        metadata = {"namespace": "default", "name": f"on-{name}"}
        cluster.objects[f"/api/v1/namespaces/default/pods/on-{name}"] = {
            "metadata": metadata,
            "spec": {"nodeName": name},
        }
    pools.apply(cluster.api, pool(), {ZONE: 1})
    assert len(cluster.nodes) == 2
    pods = {item["metadata"]["name"] for item in cluster.items("/api/v1/pods")}
    assert pods == {f"on-{name}" for name in cluster.nodes}


def test_deleting_a_pool_leaves_the_others() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(), {ZONE: 2})
    pools.apply(cluster.api, pool("other"), {ZONE: 2})
    pools.delete(cluster.api, "tpu-np-0")
    labels = [node["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for node in cluster.nodes.values()]
    assert labels == ["other", "other"]


def test_every_node_of_a_cluster_has_its_own_address_and_pod_range() -> None:
    cluster = Cluster()
    for name, pods in (("a", "15"), ("b", "110"), ("a", "15"), ("c", "8")):
        pools.apply(cluster.api, pool(name, maxPodsConstraint={"maxPodsPerNode": pods}), {ZONE: 20})
    addresses = [node["status"]["addresses"][0]["address"] for node in cluster.nodes.values()]
    assert len(set(addresses)) == 60
    ranges = [IPv4Network(node["spec"]["podCIDR"]) for node in cluster.nodes.values()]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(ranges, 2))


def test_pods_get_addresses_from_the_range_that_the_pool_states() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(networkConfig={"podIpv4CidrBlock": "10.8.0.0/16"}), {ZONE: 3})
    ranges = [IPv4Network(node["spec"]["podCIDR"]) for node in cluster.nodes.values()]
    assert all(pods.subnet_of(IPv4Network("10.8.0.0/16")) for pods in ranges)


def test_a_full_pod_range_has_room_again_after_nodes_went() -> None:
    cluster, tight = Cluster(), {"podIpv4CidrBlock": "10.8.0.0/24"}
    pools.apply(cluster.api, pool("a", networkConfig=tight), {ZONE: 4})
    pools.apply(cluster.api, pool("b", networkConfig=tight), {ZONE: 4})
    pools.delete(cluster.api, "a")
    pools.apply(cluster.api, pool("c", networkConfig=tight), {ZONE: 4})
    assert len({node["spec"]["podCIDR"] for node in cluster.nodes.values()}) == 8


def test_a_pod_range_without_room_for_all_nodes_is_named_with_the_fix() -> None:
    narrow = pool(networkConfig={"podIpv4CidrBlock": "10.8.0.0/26"})
    with pytest.raises(RehearsalError, match=r"no addresses for 2 of its nodes.*10\.8\.0\.0/26.*larger pod range"):
        pools.apply(Cluster().api, narrow, {ZONE: 4})


def test_changed_labels_and_taints_reach_nodes_in_place_and_a_users_own_stay() -> None:
    cluster = Cluster()
    taint = {"key": "team", "value": "a", "effect": "NO_SCHEDULE"}
    config = {"machineType": "ct6e-standard-4t", "labels": {"old": "1"}, "taints": [taint]}
    pools.apply(cluster.api, pool(config=config), {ZONE: 1})
    ((name, node),) = cluster.nodes.items()
    node["metadata"]["labels"]["by-hand"] = "yes"
    node["spec"]["taints"].append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    cluster.objects[f"/api/v1/nodes/{name}"] = node
    pools.apply(cluster.api, pool(config={"machineType": "ct6e-standard-4t", "labels": {"new": "1"}}), {ZONE: 1})
    changed = cluster.nodes[name]
    labels = changed["metadata"]["labels"]
    assert ("old" in labels, labels["new"], labels["by-hand"]) == (False, "1", "yes")
    assert {t["key"] for t in changed["spec"]["taints"]} == {
        "google.com/tpu",
        "node.kubernetes.io/unschedulable",
    }


def test_another_machine_type_replaces_the_nodes() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(), {ZONE: 2})
    pools.apply(cluster.api, pool(config={"machineType": "ct6e-standard-8t"}), {ZONE: 2})
    assert [n["status"]["capacity"]["google.com/tpu"] for n in cluster.nodes.values()] == ["8", "8"]


def test_an_upgraded_pool_shows_its_new_version() -> None:
    cluster = Cluster()
    pools.apply(cluster.api, pool(version="1.34.1-gke.1"), {ZONE: 1})
    pools.apply(cluster.api, pool(version="1.35.4-gke.2"), {ZONE: 1})
    (node,) = cluster.nodes.values()
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.35.4-gke.2"
