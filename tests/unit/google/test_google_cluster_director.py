"""Cluster Director's clusters: what the API demands, fills in, makes and refuses to change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from rehearsal.errors import RehearsalError
from tests.unit.google.running import PROJECT, REGION, ZONE, Double

Json = dict[str, Any]

PARENT = f"/hypercomputecluster/v1/projects/{PROJECT}/locations/{REGION}"
CLUSTERS = f"{PARENT}/clusters"
NAME = f"projects/{PROJECT}/locations/{REGION}/clusters/c"
NETWORK = f"projects/{PROJECT}/global/networks/made"
LOGIN = "orchestrator.slurm.login_nodes"


def body() -> Json:
    """A cluster with a CPU and a TPU partition in a network of its own."""
    tpus = {"zone": ZONE, "machineType": "ct6e-standard-4t"}
    login = {"count": 1, "machineType": "n2-standard-8", "zone": ZONE, "bootDisk": {"type": "pd-ssd", "sizeGb": 100}}
    return {
        "description": "d",
        "networkResources": {"net": {"config": {"newNetwork": {"network": NETWORK}}}},
        "computeResources": {
            "cpu": {"config": {"newOnDemandInstances": {"zone": ZONE, "machineType": "n2-standard-64"}}},
            "tpu": {"config": {"newSpotInstances": tpus}},
        },
        "storageResources": {"home": {"config": {"newBucket": {"bucket": "c-home"}}}},
        "orchestrator": {
            "slurm": {
                "loginNodes": {**login, "storageConfigs": [{"id": "home", "localMount": "/home"}]},
                "nodeSets": [
                    {"id": "cpu", "computeId": "cpu", "staticNodeCount": 1},
                    {"id": "tpu", "computeId": "tpu", "maxDynamicNodeCount": "4"},
                ],
                "partitions": [{"id": "cpu", "nodeSetIds": ["cpu"]}, {"id": "tpu", "nodeSetIds": ["tpu"]}],
                "defaultPartition": "cpu",
            }
        },
    }


def finished(double: Double, operation: Json) -> Json:
    """The operation when it is done."""
    for _ in range(1000):
        found = double.call("GET", f"/hypercomputecluster/v1/{operation['name']}")
        if found.get("done"):
            return found
        time.sleep(0.01)
    raise AssertionError(f"still running: {found}")


@pytest.fixture
def director(double: Double) -> Double:
    """A double with the API enabled."""
    path = f"/serviceusage/v1/projects/{PROJECT}/services/hypercomputecluster.googleapis.com:enable"
    double.call("POST", path, {})
    return double


@pytest.fixture
def made(director: Double) -> Double:
    """A double with the cluster of `body`."""
    operation = finished(director, director.call("POST", f"{CLUSTERS}?clusterId=c", body()))
    assert "error" not in operation
    return director


def test_the_api_must_be_enabled(double: Double) -> None:
    message = double.refused("POST", f"{CLUSTERS}?clusterId=c", body(), 403)
    assert message.startswith("Hypercompute Cluster API has not been used in project")


def test_creating_a_cluster_makes_its_network_storage_and_login_nodes(made: Double) -> None:
    found = made.call("GET", f"{CLUSTERS}/c")
    subnetwork = f"projects/{PROJECT}/regions/{REGION}/subnetworks/made"
    assert found["name"] == NAME
    assert "reconciling" not in found
    assert found["networkResources"]["net"]["network"] == {"network": NETWORK, "subnetwork": subnetwork}
    assert found["storageResources"]["home"]["bucket"] == {"bucket": "c-home"}
    slurm = found["orchestrator"]["slurm"]
    instance = f"projects/{PROJECT}/zones/{ZONE}/instances/c-login-001"
    assert slurm["loginNodes"]["instances"] == [{"instance": instance}]
    assert (slurm["loginNodes"]["count"], slurm["nodeSets"][0]["staticNodeCount"]) == ("1", "1")
    assert found["computeResources"]["tpu"]["config"]["newSpotInstances"]["terminationAction"] == "DELETE"
    assert made.call("GET", f"/compute/compute/v1/{NETWORK}")["autoCreateSubnetworks"] is False
    assert made.call("GET", "/storage/storage/v1/b/c-home")["location"] == REGION.upper()


def test_the_operation_names_its_steps_and_its_cluster(director: Double) -> None:
    operation = director.call("POST", f"{CLUSTERS}?clusterId=c", body())
    assert operation["done"] is False
    done = finished(director, operation)
    steps = done["metadata"]["progress"]["steps"]
    assert {"createNetwork": {"network": NETWORK}, "state": "DONE"} in steps
    assert {"createStorageBucket": {"bucket": "c-home"}, "state": "DONE"} in steps
    assert (done["metadata"]["target"], done["response"]["name"]) == (NAME, NAME)


def test_deleting_a_cluster_removes_what_it_made(made: Double) -> None:
    finished(made, made.call("DELETE", f"{CLUSTERS}/c"))
    for path in (f"{CLUSTERS}/c", f"/compute/compute/v1/{NETWORK}", "/storage/storage/v1/b/c-home"):
        made.call("GET", path, expect=404)
    assert made.call("GET", CLUSTERS) == {"clusters": []}


def test_a_network_that_others_use_keeps_the_cluster(made: Double) -> None:
    rule = {"name": "r", "network": NETWORK, "sourceRanges": ["10.0.0.0/8"], "allowed": [{"IPProtocol": "tcp"}]}
    made.compute("global/firewalls", rule)
    operation = finished(made, made.call("DELETE", f"{CLUSTERS}/c"))
    assert "is already being used by" in operation["error"]["message"]
    assert made.call("GET", "/storage/storage/v1/b/c-home")["name"] == "c-home"
    made.call("GET", f"{CLUSTERS}/c")


def test_a_bucket_of_somebody_else_fails_the_creation_and_survives_the_deletion(director: Double) -> None:
    director.call("POST", f"/storage/storage/v1/b?project={PROJECT}", {"name": "c-home", "location": REGION})
    operation = finished(director, director.call("POST", f"{CLUSTERS}?clusterId=c", body()))
    assert "you already own it" in operation["error"]["message"]
    director.call("GET", f"/compute/compute/v1/{NETWORK}", expect=404)
    assert "error" not in finished(director, director.call("DELETE", f"{CLUSTERS}/c"))
    director.call("GET", "/storage/storage/v1/b/c-home")


def test_slurm_follows_the_cluster(made: Double) -> None:
    changed = body()
    slurm(changed)["nodeSets"][1]["maxDynamicNodeCount"] = "6"
    finished(made, made.call("PATCH", f"{CLUSTERS}/c?updateMask=orchestrator", changed))
    finished(made, made.call("DELETE", f"{CLUSTERS}/c"))
    assert [call[:2] for call in made.slurm.calls] == [("apply", NAME), ("apply", NAME), ("delete", NAME)]
    assert [call[2]["tpu"]["maxDynamicNodeCount"] for call in made.slurm.calls[:2]] == ["4", "6"]


def test_a_slurm_that_does_not_start_is_the_operations_error_and_the_cluster_can_be_deleted(director: Double) -> None:
    director.slurm.failure = RehearsalError("slurmctld does not answer")
    operation = finished(director, director.call("POST", f"{CLUSTERS}?clusterId=c", body()))
    assert operation["error"]["message"] == "slurmctld does not answer"
    assert "reconciling" not in director.call("GET", f"{CLUSTERS}/c")
    assert "error" not in finished(director, director.call("DELETE", f"{CLUSTERS}/c"))
    director.call("GET", f"/compute/compute/v1/{NETWORK}", expect=404)


def test_a_used_network_keeps_slurm_too(made: Double) -> None:
    rule = {"name": "r", "network": NETWORK, "sourceRanges": ["10.0.0.0/8"], "allowed": [{"IPProtocol": "tcp"}]}
    made.compute("global/firewalls", rule)
    finished(made, made.call("DELETE", f"{CLUSTERS}/c"))
    assert "delete" not in [call[0] for call in made.slurm.calls]


Change = Callable[[Json], Any]


def slurm(cluster: Json) -> Json:
    found: Json = cluster["orchestrator"]["slurm"]
    return found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("networkResources"), "network_resources must contain exactly one value"),
        (lambda c: c["computeResources"].update(A_B={"config": {}}), "Invalid id 'A_B'"),
        (
            lambda c: c["computeResources"]["cpu"]["config"].update(newSpotInstances={}),
            "must state exactly one kind of resource, not newOnDemandInstances, newSpotInstances",
        ),
        (
            lambda c: c["computeResources"]["cpu"]["config"]["newOnDemandInstances"].update(zone="us-east5-a"),
            "All resources of a cluster are in one zone, not in us-east5-a, us-east5-b",
        ),
        (
            lambda c: slurm(c)["loginNodes"].update(zone="us-central1-a"),
            "'us-central1-a' is not a zone of the cluster's region us-east5",
        ),
        (lambda c: slurm(c)["loginNodes"].update(machineType="e2-standard-2"), "are of the N2 series"),
        (lambda c: slurm(c)["loginNodes"]["bootDisk"].update(sizeGb=10), "must be at least 40 GB"),
        (lambda c: slurm(c)["loginNodes"].update(startupScript="x" * 262145), "is larger than 256 KB"),
        (lambda c: slurm(c).pop("defaultPartition"), "Required when there is more than one partition"),
        (lambda c: slurm(c).update(defaultPartition="gpu"), "'gpu': must be the id of a partition"),
        (lambda c: slurm(c).update(prologBashScripts=[""]), "Values must not be empty"),
        (lambda c: slurm(c)["nodeSets"][0].update(id="cpu-set"), "Invalid node set id 'cpu-set'"),
        (lambda c: slurm(c)["nodeSets"][0].update(computeId="gpu"), "'gpu' is not a key of compute_resources"),
        (lambda c: slurm(c)["partitions"][0].update(nodeSetIds=["x"]), "'x' is not the id of a node set"),
        (
            lambda c: slurm(c)["nodeSets"][0].update(storageConfigs=[{"id": "x", "localMount": "/x"}]),
            "'x' is not a key of storage_resources",
        ),
        (
            lambda c: c["storageResources"].update(b={"config": {"existingBucket": {"bucket": "nowhere"}}}),
            "The bucket 'nowhere' does not exist",
        ),
        (lambda c: c.update(description="x" * 2049), "more than 2048 characters"),
        (lambda c: slurm(c)["loginNodes"].update(count="one"), "TYPE_INT64"),
        (
            lambda c: c["computeResources"]["cpu"].update(acceleratorTopology="2x4"),
            'Unknown name "acceleratorTopology"',
        ),
    ],
)
def test_a_cluster_that_breaks_a_rule_is_refused(director: Double, change: Change, message: str) -> None:
    cluster = body()
    change(cluster)
    assert message in director.refused("POST", f"{CLUSTERS}?clusterId=c", cluster)


@pytest.mark.parametrize("id", ["", "C", "1c", "a-b", "elevenchars"])
def test_a_cluster_id_is_short_and_plain(director: Double, id: str) -> None:
    assert "Invalid cluster id" in director.refused("POST", f"{CLUSTERS}?clusterId={id}", body())


def test_a_name_that_is_taken_is_refused(made: Double) -> None:
    assert "already exists" in made.refused("POST", f"{CLUSTERS}?clusterId=c", body(), 409)


def test_an_update_changes_what_its_mask_names_only(made: Double) -> None:
    changed = body()
    changed["description"] = "not in the mask"
    slurm(changed)["loginNodes"]["count"] = "2"
    finished(made, made.call("PATCH", f"{CLUSTERS}/c?updateMask=orchestrator", changed))
    found = made.call("GET", f"{CLUSTERS}/c")
    assert found["description"] == "d"
    assert len(slurm(found)["loginNodes"]["instances"]) == 2


def test_a_changed_compute_resource_takes_another_id(made: Double) -> None:
    changed = body()
    config = {"newOnDemandInstances": {"zone": ZONE, "machineType": "n2-standard-32"}}
    changed["computeResources"]["cpu"] = {"config": config}
    message = made.refused("PATCH", f"{CLUSTERS}/c?updateMask=computeResources", changed)
    assert message == "compute_resources[cpu].config is immutable: give the changed resource another id."
    del changed["computeResources"]["cpu"]
    changed["computeResources"]["cpu2"] = {"config": config}
    slurm(changed)["nodeSets"][0]["computeId"] = "cpu2"
    done = finished(made, made.call("PATCH", f"{CLUSTERS}/c?updateMask=computeResources,orchestrator", changed))
    assert set(done["response"]["computeResources"]) == {"cpu2", "tpu"}


def test_boot_disks_and_the_network_stay(made: Double) -> None:
    changed = body()
    slurm(changed)["loginNodes"]["bootDisk"]["sizeGb"] = "200"
    path = f"{CLUSTERS}/c?updateMask="
    assert f"{LOGIN}.boot_disk is immutable" in made.refused("PATCH", f"{path}orchestrator", changed)
    changed["networkResources"] = {"net2": changed["networkResources"]["net"]}
    assert "network_resources is immutable" in made.refused("PATCH", f"{path}networkResources", changed)


def test_a_mask_names_fields_that_exist(made: Double) -> None:
    assert "at least one path" in made.refused("PATCH", f"{CLUSTERS}/c", body())
    assert "wildcards are not supported" in made.refused("PATCH", f"{CLUSTERS}/c?updateMask=*", body())
    assert "cannot be updated" in made.refused("PATCH", f"{CLUSTERS}/c?updateMask=createTime", body())
