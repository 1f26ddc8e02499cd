"""Nodes as GKE makes them of a node pool."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from rehearsal.kubernetes.nodes import NodePool, Placement

PLACEMENT = Placement("example-ml", "us-east5", "pathways")


def pool(**changes: Any) -> NodePool:
    json: dict[str, Any] = {
        "name": "tpu-np-0",
        "config": {"machineType": "ct6e-standard-4t"},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "maxPodsConstraint": {"maxPodsPerNode": "15"},
    }
    return NodePool(json | changes, PLACEMENT, "1.35.4-gke.1000000")


def node(of: NodePool) -> dict[str, Any]:
    ((name, zone),) = of.members({"us-east5-b": 1})
    return of.node(name, zone, IPv4Address("10.128.0.2"), IPv4Network("10.64.0.0/27"), "2026-01-01T00:00:00Z")


def test_a_tpu_node_can_be_selected_by_accelerator_topology_pool_and_zone() -> None:
    labels = node(pool())["metadata"]["labels"]
    assert labels["cloud.google.com/gke-tpu-accelerator"] == "tpu-v6e-slice"
    assert labels["cloud.google.com/gke-tpu-topology"] == "4x4"
    assert labels["cloud.google.com/gke-accelerator-count"] == "4"
    assert labels["cloud.google.com/gke-nodepool"] == "tpu-np-0"
    assert labels["topology.kubernetes.io/zone"] == "us-east5-b"
    assert labels["topology.kubernetes.io/region"] == "us-east5"
    assert labels["node.kubernetes.io/instance-type"] == "ct6e-standard-4t"


def test_a_single_host_tpu_pool_has_the_topology_of_one_vm() -> None:
    single = pool(config={"machineType": "ct6e-standard-8t"}, placementPolicy={})
    assert single.labels["cloud.google.com/gke-tpu-topology"] == "2x4"


def test_tpu_nodes_keep_other_pods_away_and_cpu_nodes_do_not() -> None:
    assert pool().taints == [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]
    assert pool(config={"machineType": "n2-standard-64"}).taints == []


def test_the_tpu_taint_is_not_repeated_when_the_pool_states_it() -> None:
    stated = [{"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert len(pool(config={"machineType": "ct6e-standard-4t", "taints": stated}).taints) == 1


def test_labels_and_taints_of_the_pool_reach_its_nodes() -> None:
    config = {
        "machineType": "n2-standard-64",
        "labels": {"team": "research"},
        "taints": [{"key": "head", "value": "only", "effect": "NO_EXECUTE"}],
    }
    made = node(pool(config=config))
    assert made["metadata"]["labels"]["team"] == "research"
    assert made["spec"]["taints"] == [{"key": "head", "value": "only", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("config", "label"),
    [
        ({"spot": True}, "cloud.google.com/gke-spot"),
        ({"preemptible": True}, "cloud.google.com/gke-preemptible"),
        ({"flexStart": True}, "cloud.google.com/gke-flex-start"),
    ],
)
def test_how_the_capacity_was_got_can_be_selected(config: dict[str, Any], label: str) -> None:
    assert pool(config={"machineType": "ct6e-standard-4t"} | config).labels[label] == "true"
    assert label not in pool().labels


def test_a_tpu_node_offers_its_chips_and_the_pods_of_its_pool() -> None:
    status = node(pool())["status"]
    assert status["capacity"]["google.com/tpu"] == "4"
    assert status["capacity"]["pods"] == "15"
    assert status["capacity"]["cpu"] == "180"
    assert status["allocatable"]["google.com/tpu"] == "4"


def test_a_thousand_nodes_have_distinct_names_that_kubernetes_accepts() -> None:
    long = NodePool(
        {"name": "a-pool-name-of-forty-characters-exactly", "config": {}},
        Placement("example-ml", "us-east5", "a-cluster-name-of-forty-characters-long"),
        "1.35.4",
    )
    names = [name for name, _ in long.members({"us-east5-a": 1024, "us-east5-b": 1024})]
    assert len(set(names)) == 2048
    assert all(len(name) <= 63 and name.startswith("gke-a-cluster-name") for name in names)


def test_growing_a_pool_keeps_the_nodes_it_has() -> None:
    assert set(pool().members({"us-east5-b": 4})) < set(pool().members({"us-east5-b": 6}))


def test_pools_of_one_name_in_two_clusters_have_different_nodes() -> None:
    other = NodePool(pool().json, Placement("example-ml", "us-east5", "pathways-2"), "1.35.4")
    assert not {n for n, _ in pool().members({"us-east5-b": 4})} & {n for n, _ in other.members({"us-east5-b": 4})}


def test_nodes_are_named_after_the_instance_group_that_the_api_shows() -> None:
    base = "https://www.googleapis.com/compute/v1/projects/example-ml/zones"
    urls = [
        f"{base}/us-east5-a/instanceGroupManagers/gke-pathways-tpu-np-0-aaaaaaaa-grp",
        f"{base}/us-east5-b/instanceGroupManagers/gke-pathways-tpu-np-0-bbbbbbbb-grp",
    ]
    ((name, _),) = pool(instanceGroupUrls=urls).members({"us-east5-b": 1})
    assert name.startswith("gke-pathways-tpu-np-0-bbbbbbbb-")


def test_the_kubelet_has_the_version_of_the_pool_or_else_of_the_control_plane() -> None:
    assert pool(version="1.34.1-gke.1829001").kubelet_version == "v1.34.1-gke.1829001"
    assert pool().kubelet_version == "v1.35.4-gke.1000000"


@pytest.mark.parametrize(("pods", "prefix"), [(8, 28), (15, 27), (16, 27), (17, 26), (64, 25), (110, 24), (256, 23)])
def test_a_node_gets_room_for_twice_its_pods(pods: int, prefix: int) -> None:
    assert pool(maxPodsConstraint={"maxPodsPerNode": str(pods)}).pod_prefix == prefix
