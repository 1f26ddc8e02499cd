"""Node pools: TPU rules, what GKE fills in, sizes and updates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.google.running import POOLS, PROJECT, REGION, ZONE, Double, tpu_pool

MULTI = {"type": "COMPACT", "tpuTopology": "4x4"}
SCALING = {"enabled": True, "maxNodeCount": 4}
DATAPLANE_V2 = {"networkConfig": {"datapathProvider": "ADVANCED_DATAPATH"}}
TPU7X = {"machineType": "tpu7x-standard-4t"}


@pytest.fixture
def pools(double: Double) -> Double:
    """A double with a cluster to put pools in."""
    double.cluster()
    return double


def create(double: Double, **settings: Any) -> dict[str, Any]:
    pool = tpu_pool(**settings)
    assert "error" not in double.done(double.call("POST", POOLS, {"nodePool": pool}))
    return double.call("GET", f"{POOLS}/{pool['name']}")


def workload_policy(double: Double, region: str = REGION, topology: str = "4x4x4") -> None:
    policy = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology}
    double.compute(f"regions/{region}/resourcePolicies", {"name": "ironwood", "workloadPolicy": policy})


def test_a_slice_becomes_nodes_in_its_zone(pools: Double) -> None:
    found = create(pools)
    assert found["status"] == "RUNNING"
    assert pools.runtime.calls[-1] == ("apply_pool", f"{PROJECT}_{REGION}_c", "slice-0", {ZONE: 4})


def test_gke_fills_in_what_replaces_a_careless_pool(pools: Double) -> None:
    found = create(pools)
    config = found["config"]
    assert config["advancedMachineFeatures"] == {"threadsPerCore": "1"}
    assert config["taints"] == [{"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert config["metadata"] == {"disable-legacy-endpoints": "true"}
    assert len(config["oauthScopes"]) == 6
    assert config["shieldedInstanceConfig"] == {"enableIntegrityMonitoring": True}
    assert config["kubeletConfig"]["insecureKubeletReadonlyPortEnabled"] is False
    assert config["bootDisk"] == {"diskType": "hyperdisk-balanced", "sizeGb": "100"}
    assert found["queuedProvisioning"] == {}
    assert found["management"] == {"autoRepair": True, "autoUpgrade": True}
    assert found["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1}
    assert found["placementPolicy"] == MULTI


def test_workload_identity_of_the_cluster_decides_the_metadata_of_new_pools(double: Double) -> None:
    double.cluster(workloadIdentityConfig={"workloadPool": f"{PROJECT}.svc.id.goog"})
    assert create(double)["config"]["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"placementPolicy": {"type": "COMPACT", "tpuTopology": "4x5"}}, 'TPU topology "4x5" is not supported'),
        ({"initialNodeCount": 3}, "Node count 3 is not a valid size of TPU pod slice with topology 4x4."),
        ({"initialNodeCount": 0}, "Node count 0 is not a valid size of TPU pod slice with topology 4x4."),
        ({"placementPolicy": {"tpuTopology": "4x4"}}, "requires placement policy type COMPACT"),
        (
            {"placementPolicy": {"type": "COMPACT", "tpuTopology": "2x2"}, "initialNodeCount": 1},
            "only supported for multi-host TPU slices",
        ),
        ({"placementPolicy": {"type": "COMPACT"}}, "requires a TPU topology"),
        ({"locations": ["us-east5-a", "us-east5-b"]}, "exactly one zone"),
        (
            {"autoscaling": {"enabled": True, "totalMaxNodeCount": 4}},
            "Maximum node count 0 is not a valid size of TPU pod slice with topology 4x4.",
        ),
        ({"autoscaling": {**SCALING, "minNodeCount": 2}}, "Minimum node count 2 is not a valid size"),
        ({"autoscaling": SCALING, "initialNodeCount": 1}, "Initial node count 1 is not a valid size"),
        ({"upgradeSettings": {"strategy": "BLUE_GREEN"}}, "Blue-green upgrades are not supported"),
        ({"name": "a" * 41}, "at most 40 characters"),
        ({"version": "1.35.99-gke.1"}, "must not be newer than the control plane"),
        ({"management": {"autoUpgrade": False}}, "Auto_upgrade and auto_repair cannot be false"),
        ({"config": {"machineType": "n2-standard-8"}}, "has no TPUs"),
        ({"config": TPU7X, "placementPolicy": {"type": "COMPACT", "tpuTopology": "2x2x4"}}, "Use workload policy"),
    ],
)
def test_a_slice_that_gke_refuses_is_refused(pools: Double, settings: dict[str, Any], message: str) -> None:
    assert message in pools.refused("POST", POOLS, {"nodePool": tpu_pool(**settings)})
    assert [pool["name"] for pool in pools.call("GET", POOLS)["nodePools"]] == ["default-pool"]


RESERVED = {"key": "compute.googleapis.com/reservation-name", "values": ["r"]}
FLEX = {
    "initialNodeCount": 0,
    "autoscaling": SCALING,
    "management": {"autoUpgrade": True},
    "config": {
        "machineType": "ct6e-standard-4t",
        "flexStart": True,
        "maxRunDuration": "3600s",
        "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    },
}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}}, "the reservation's name"),
        (
            {"spot": True, "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION", **RESERVED}},
            "Spot VMs cannot consume a reservation.",
        ),
        ({"flexStart": True}, "require reservation affinity NO_RESERVATION"),
        ({"flexStart": True, "spot": True}, "Flex start and spot exclude each other."),
        ({"spot": True, "preemptible": True}, "both spot and preemptible"),
        ({"maxRunDuration": "1h"}, "google.protobuf.Duration"),
        ({"workloadMetadataConfig": {"mode": "GKE_METADATA"}}, "requires workload identity"),
    ],
)
def test_capacity_that_gke_refuses_is_refused(pools: Double, config: dict[str, Any], message: str) -> None:
    pool = tpu_pool(config={"machineType": "ct6e-standard-4t", **config})
    assert message in pools.refused("POST", POOLS, {"nodePool": pool})


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({"config": {"machineType": "ct6e-standard-4t", "spot": True}}, "spot"),
        (
            {
                "config": {
                    "machineType": "ct6e-standard-4t",
                    "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION", **RESERVED},
                }
            },
            "reservation",
        ),
        (FLEX, "flex-start"),
        ({"autoscaling": SCALING}, "on-demand"),
    ],
)
def test_every_way_to_get_capacity_is_taken(pools: Double, settings: dict[str, Any], model: str) -> None:
    labels = create(pools, **settings)["config"]["resourceLabels"]
    assert labels["goog-gke-node-pool-provisioning-model"] == model


DRANET = {"acceleratorNetworkProfile": "auto"}


@pytest.mark.parametrize(
    ("cluster", "pool", "message"),
    [
        ({}, {}, "Dataplane V2"),
        (DATAPLANE_V2, {"version": "1.33.8-gke.100"}, "requires GKE 1.34.1-gke.1829001 or later"),
    ],
)
def test_dranet_demands_dataplane_v2_and_a_version(
    double: Double, cluster: dict[str, Any], pool: dict[str, Any], message: str
) -> None:
    double.cluster(**cluster)
    assert message in double.refused("POST", POOLS, {"nodePool": tpu_pool(networkConfig=DRANET, **pool)})


def test_a_single_host_pool_has_any_number_of_nodes_and_no_placement(pools: Double) -> None:
    found = create(pools, placementPolicy={}, initialNodeCount=3)
    assert found["config"]["resourceLabels"]["goog-gke-tpu-node-pool-type"] == "single-host"
    assert found["placementPolicy"] == {}


def test_tpu7x_takes_a_workload_policy_and_answers_no_type(pools: Double) -> None:
    workload_policy(pools)
    placement = {"type": "COMPACT", "policyName": "ironwood", "tpuTopology": "4x4x4"}
    found = create(pools, config=TPU7X, placementPolicy=placement, initialNodeCount=16)
    assert found["placementPolicy"] == {"policyName": "ironwood", "tpuTopology": "4x4x4"}
    path = f"/compute/compute/v1/projects/{PROJECT}/regions/{REGION}/resourcePolicies/ironwood"
    assert "is already being used by" in pools.refused("DELETE", path)


def test_tpu7x_takes_its_topology_from_the_policy(pools: Double) -> None:
    workload_policy(pools)
    found = create(pools, config=TPU7X, placementPolicy={"policyName": "ironwood"}, initialNodeCount=16)
    assert found["placementPolicy"] == {"policyName": "ironwood", "tpuTopology": "4x4x4"}


@pytest.mark.parametrize(
    ("region", "topology", "machine", "placement", "message"),
    [
        ("us-east4", "4x4x4", "tpu7x-standard-4t", {}, f'was not found in region "{REGION}"'),
        (REGION, "4x4x8", "tpu7x-standard-4t", {}, "differs from the accelerator topology"),
        (REGION, "4x4x4", "ct5p-hightpu-4t", {"type": "COMPACT"}, "does not support workload policies"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(
    pools: Double, region: str, topology: str, machine: str, placement: dict[str, str], message: str
) -> None:
    workload_policy(pools, region, topology)
    policy = {"policyName": "ironwood", "tpuTopology": "4x4x4", **placement}
    pool = tpu_pool(config={"machineType": machine}, placementPolicy=policy, initialNodeCount=16)
    assert message in pools.refused("POST", POOLS, {"nodePool": pool})


def test_pools_are_created_side_by_side(pools: Double) -> None:
    bodies = [{"nodePool": tpu_pool(name=f"slice-{i}")} for i in range(8)]
    operations = [pools.call("POST", POOLS, body) for body in bodies]
    for operation in operations:
        pools.done(operation)
    states = {pool["name"]: pool["status"] for pool in pools.call("GET", POOLS)["nodePools"]}
    assert states == {"default-pool": "RUNNING", **{f"slice-{i}": "RUNNING" for i in range(8)}}


def test_a_slice_is_whole_or_empty_and_its_size_is_read_back(pools: Double) -> None:
    create(pools)
    resize = f"{POOLS}/slice-0:setSize"
    assert "Node count 2 is not a valid size" in pools.refused("POST", resize, {"nodeCount": 2})
    pools.done(pools.call("POST", resize, {"nodeCount": 0}))
    assert pools.runtime.calls[-1][-1] == {ZONE: 0}
    url = pools.call("GET", f"{POOLS}/slice-0")["instanceGroupUrls"][0]
    path = url.replace("https://www.googleapis.com/", "/compute/")
    assert pools.call("GET", path)["targetSize"] == 0


def test_node_counts_are_per_zone_and_read_from_the_instance_groups(pools: Double) -> None:
    create(pools, config={}, placementPolicy={}, initialNodeCount=2, locations=["us-east5-a", "us-east5-b"])
    zones = f"/compute/compute/v1/projects/{PROJECT}/zones"
    for zone in ("us-east5-a", "us-east5-b"):
        groups = pools.call("GET", f"{zones}/{zone}/instanceGroupManagers")["items"]
        sizes = {group["baseInstanceName"].split("-")[2]: group["targetSize"] for group in groups}
        assert sizes["slice"] == 2


def test_replaced_taints_keep_gkes_own(pools: Double) -> None:
    create(pools)
    taint = {"key": "team", "value": "ml", "effect": "NO_SCHEDULE"}
    pools.done(pools.call("PUT", f"{POOLS}/slice-0", {"taints": {"taints": [taint]}}))
    keys = [taint["key"] for taint in pools.call("GET", f"{POOLS}/slice-0")["config"]["taints"]]
    assert keys == ["team", "google.com/tpu"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"machineType": "ct6e-standard-8t"}, "machine type of a TPU node pool cannot be changed"),
        ({"locations": ["us-east5-a", "us-east5-b"]}, "exactly one zone"),
        ({"nodeVersion": "1.35.99-gke.1"}, "must not be newer"),
        ({"placementPolicy": MULTI}, 'Unknown name "placementPolicy"'),
    ],
)
def test_an_update_that_gke_refuses_is_refused(pools: Double, body: dict[str, Any], message: str) -> None:
    create(pools)
    assert message in pools.refused("PUT", f"{POOLS}/slice-0", body)


def test_autoscaling_is_changed_through_the_cluster_with_per_zone_limits(pools: Double) -> None:
    create(pools)
    path = POOLS.removesuffix("/nodePools")
    update = {"desiredNodePoolId": "slice-0", "desiredNodePoolAutoscaling": {"enabled": True, "maxNodeCount": 3}}
    assert "Maximum node count 3" in pools.refused("PUT", path, {"update": update})
    update["desiredNodePoolAutoscaling"] = SCALING
    pools.done(pools.call("PUT", path, {"update": update}))
    found = pools.call("GET", f"{POOLS}/slice-0")["autoscaling"]
    assert found == {**SCALING, "locationPolicy": "BALANCED"}


def test_the_default_pool_can_be_removed(pools: Double) -> None:
    pools.done(pools.call("DELETE", f"{POOLS}/default-pool"))
    assert pools.runtime.calls[-1] == ("delete_pool", f"{PROJECT}_{REGION}_c", "default-pool")
    pools.refused("GET", f"{POOLS}/default-pool", expect=404)


def test_pods_of_more_nodes_than_the_range_holds_are_refused(pools: Double) -> None:
    message = pools.refused("POST", POOLS, {"nodePool": {"name": "many", "initialNodeCount": 1024}})
    assert message.startswith("[IP_SPACE_EXHAUSTED]")


def test_a_pool_below_the_version_its_tpus_need_is_refused(double: Double) -> None:
    double.cluster(initialClusterVersion="1.33")
    workload_policy(double)
    pool = tpu_pool(config=TPU7X, placementPolicy={"policyName": "ironwood"}, initialNodeCount=16)
    assert "requires GKE version 1.34.0-gke.2201000" in double.refused("POST", POOLS, {"nodePool": pool})


def test_blue_green_pools_have_no_surge(pools: Double) -> None:
    settings = {"strategy": "BLUE_GREEN", "blueGreenSettings": {"nodePoolSoakDuration": "60s"}}
    found = create(pools, config={}, placementPolicy={}, upgradeSettings=settings)
    assert found["upgradeSettings"] == settings
