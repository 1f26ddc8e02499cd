"""Clusters: what GKE demands of them, fills in and answers."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.unit.google.running import CLUSTERS, POOLS, PROJECT, REGION, Double, cluster, tpu_pool

POLICY = {"useIpAliases": True, "clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"}


def test_a_cluster_gets_the_endpoint_and_ca_of_its_control_plane(double: Double) -> None:
    found = double.cluster()
    assert found["status"] == "RUNNING"
    assert found["endpoint"] == "127.0.0.1:443"
    assert base64.b64decode(found["masterAuth"]["clusterCaCertificate"]).startswith(b"-----BEGIN CERTIFICATE")
    assert double.runtime.calls == [
        ("create", f"{PROJECT}_{REGION}_c"),
        ("apply_pool", f"{PROJECT}_{REGION}_c", "default-pool", {"us-east5-b": 1}),
    ]


def test_a_cluster_is_provisioning_until_its_control_plane_runs(double: Double) -> None:
    double.runtime.gate.clear()
    operation = double.call("POST", CLUSTERS, {"cluster": cluster()})
    assert (operation["status"], operation["operationType"]) == ("RUNNING", "CREATE_CLUSTER")
    assert double.call("GET", f"{CLUSTERS}/c")["status"] == "PROVISIONING"
    double.runtime.gate.set()
    double.done(operation)
    assert double.call("GET", f"{CLUSTERS}/c")["status"] == "RUNNING"


def test_a_control_plane_that_does_not_start_fails_the_operation_and_leaves_a_broken_cluster(
    double: Double,
) -> None:
    double.runtime.failure = RuntimeError("etcd: no space left on device")
    operation = double.done(double.call("POST", CLUSTERS, {"cluster": cluster()}))
    assert operation["error"]["message"] == "etcd: no space left on device"
    found = double.call("GET", f"{CLUSTERS}/c")
    assert (found["status"], found["statusMessage"]) == ("ERROR", "etcd: no space left on device")
    double.done(double.call("DELETE", f"{CLUSTERS}/c"))
    double.refused("GET", f"{CLUSTERS}/c", expect=404)


def test_named_ranges_are_answered_with_their_blocks(double: Double) -> None:
    found = double.cluster()
    assert found["ipAllocationPolicy"]["clusterIpv4CidrBlock"] == "10.4.0.0/14"
    assert found["servicesIpv4Cidr"] == "10.0.32.0/20"
    assert found["networkConfig"]["network"] == f"projects/{PROJECT}/global/networks/net"
    assert found["networkConfig"]["subnetwork"] == f"projects/{PROJECT}/regions/{REGION}/subnetworks/sub"


def test_ranges_that_are_not_named_are_made_in_the_subnetwork_and_go_with_the_cluster(double: Double) -> None:
    subnet = f"/compute/compute/v1/projects/{PROJECT}/regions/{REGION}/subnetworks/sub"
    found = double.cluster(ipAllocationPolicy={"useIpAliases": True, "clusterIpv4CidrBlock": "/16"})
    name = found["ipAllocationPolicy"]["clusterSecondaryRangeName"]
    ranges = {r["rangeName"]: r["ipCidrRange"] for r in double.call("GET", subnet)["secondaryIpRanges"]}
    assert ranges[name] == found["clusterIpv4Cidr"] and ranges[name].endswith("/16")
    double.done(double.call("DELETE", f"{CLUSTERS}/c"))
    assert [r["rangeName"] for r in double.call("GET", subnet)["secondaryIpRanges"]] == ["pods", "services"]


def test_what_a_request_leaves_out_is_filled_in_as_gke_does(double: Double) -> None:
    found = double.cluster()
    assert found["releaseChannel"] == {"channel": "REGULAR"}
    assert found["shieldedNodes"] == {"enabled": True}
    assert found["defaultMaxPodsConstraint"] == {"maxPodsPerNode": "110"}
    assert found["addonsConfig"]["gcePersistentDiskCsiDriverConfig"] == {"enabled": True}
    assert found["currentMasterVersion"] == found["nodePools"][0]["version"]
    assert found["loggingConfig"]["componentConfig"]["enableComponents"] == ["SYSTEM_COMPONENTS", "WORKLOADS"]


def test_private_settings_are_answered_in_the_old_and_the_new_form(double: Double) -> None:
    private = {"enablePrivateNodes": True, "masterIpv4CidrBlock": "172.16.0.0/28"}
    found = double.cluster(privateClusterConfig=private)
    assert found["privateClusterConfig"]["privateEndpoint"] == found["endpoint"]
    assert found["networkConfig"]["defaultEnablePrivateNodes"] is True
    assert found["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]["enablePublicEndpoint"] is True
    assert found["nodePools"][0]["networkConfig"]["enablePrivateNodes"] is True


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "a" * 41}, "at most 40 characters"),
        ({"name": "Pathways"}, "starts with a letter"),
        ({"network": "other"}, f'Project "{PROJECT}" has no network named "other".'),
        ({"subnetwork": "other"}, f'Subnetwork "other" does not exist in region "{REGION}".'),
        ({"ipAllocationPolicy": {**POLICY, "clusterSecondaryRangeName": "x"}}, 'Pod secondary range "x" does not'),
        ({"ipAllocationPolicy": {**POLICY, "servicesSecondaryRangeName": "pods"}}, "must be different"),
        ({"locations": ["us-central1-a"]}, f'Location "us-central1-a" is not a zone of region "{REGION}".'),
        ({"initialClusterVersion": "1.12.3"}, 'Master version "1.12.3" is unsupported.'),
        ({"initialNodeCount": 0}, "initial_node_count must be greater than zero"),
        ({"workloadIdentityConfig": {"workloadPool": "other.svc.id.goog"}}, "belongs to another project"),
        ({"networkConfig": {"enableMultiNetworking": True}}, "requires DatapathProvider=ADVANCED_DATAPATH"),
        ({"nodeConfig": {"machineType": "n2-standard-63"}}, 'Machine type with name "n2-standard-63" does not'),
        (
            {"nodeConfig": {"serviceAccount": f"nobody@{PROJECT}.iam.gserviceaccount.com"}},
            f'Service account "nobody@{PROJECT}.iam.gserviceaccount.com" does not exist.',
        ),
        (
            {"privateClusterConfig": {"masterIpv4CidrBlock": "10.4.0.0/28"}},
            "Master IPv4 CIDR block 10.4.0.0/28 overlaps with 10.4.0.0/14",
        ),
    ],
)
def test_a_cluster_that_gke_refuses_is_refused(double: Double, settings: dict[str, Any], message: str) -> None:
    assert message in double.refused("POST", CLUSTERS, {"cluster": cluster(**settings)})
    assert double.call("GET", CLUSTERS) == {"clusters": []}


def test_a_name_is_taken_once_per_location(double: Double) -> None:
    double.cluster()
    assert "Already exists: " in double.refused("POST", CLUSTERS, {"cluster": cluster()}, 409)


def test_a_location_that_does_not_exist_is_denied(double: Double) -> None:
    path = f"/container/v1/projects/{PROJECT}/locations/us-east9/clusters"
    message = double.refused("POST", path, {"cluster": cluster()}, 403)
    assert message == "Permission denied on 'locations/us-east9' (or it may not exist)."


def test_a_cluster_is_neither_changed_nor_given_pools_while_it_is_created(double: Double) -> None:
    double.runtime.gate.clear()
    operation = double.call("POST", CLUSTERS, {"cluster": cluster()})
    busy = f"Cluster is running incompatible operation {operation['name']}."
    assert double.refused("POST", POOLS, {"nodePool": tpu_pool()}) == busy
    assert double.refused("DELETE", f"{CLUSTERS}/c") == busy
    assert double.refused("PUT", f"{CLUSTERS}/c", {"update": {"desiredShieldedNodes": {}}}) == busy


@pytest.mark.parametrize(
    ("update", "path", "value"),
    [
        ({"desiredReleaseChannel": {"channel": "RAPID"}}, "releaseChannel", {"channel": "RAPID"}),
        ({"desiredAddonsConfig": {"gcsFuseCsiDriverConfig": {"enabled": True}}}, "addonsConfig", None),
        ({"desiredDefaultEnablePrivateNodes": True}, "privateClusterConfig.enablePrivateNodes", True),
        ({"desiredEnablePrivateEndpoint": True}, "privateClusterConfig.enablePrivateEndpoint", True),
        ({"desiredMasterVersion": "1.35.9-gke.1"}, "currentMasterVersion", "1.35.9-gke.1"),
        ({"desiredL4ilbSubsettingConfig": {"enabled": True}}, "networkConfig.enableL4ilbSubsetting", True),
    ],
)
def test_an_update_changes_what_it_names(double: Double, update: dict[str, Any], path: str, value: Any) -> None:
    before = double.cluster()
    double.done(double.call("PUT", f"{CLUSTERS}/c", {"update": update}))
    found: Any = double.call("GET", f"{CLUSTERS}/c")
    assert found["etag"] != before["etag"]
    for part in path.split("."):
        found = found[part]
    if value is None:
        assert found["gcsFuseCsiDriverConfig"] == {"enabled": True}
        assert found["gcePersistentDiskCsiDriverConfig"] == {"enabled": True}
    else:
        assert found == value


def test_labels_are_set_against_their_fingerprint(double: Double) -> None:
    found = double.cluster(resourceLabels={"env": "dev"})
    body = {"resourceLabels": {"env": "prod"}, "labelFingerprint": "stale"}
    double.refused("POST", f"{CLUSTERS}/c:setResourceLabels", body, 412)
    body["labelFingerprint"] = found["labelFingerprint"]
    double.done(double.call("POST", f"{CLUSTERS}/c:setResourceLabels", body))
    assert double.call("GET", f"{CLUSTERS}/c")["resourceLabels"] == {"env": "prod"}


def test_a_network_in_use_by_a_cluster_cannot_go(double: Double) -> None:
    double.cluster()
    subnet = f"/compute/compute/v1/projects/{PROJECT}/regions/{REGION}/subnetworks/sub"
    assert "is already being used by" in double.refused("DELETE", subnet)
    current = double.call("GET", subnet)
    kept = {"secondaryIpRanges": current["secondaryIpRanges"][1:], "fingerprint": current["fingerprint"]}
    assert "is already being used by" in double.refused("PATCH", subnet, kept)


def test_clusters_of_all_locations_are_listed_under_a_dash(double: Double) -> None:
    double.cluster()
    found = double.call("GET", f"/container/v1/projects/{PROJECT}/locations/-/clusters")["clusters"]
    assert [(c["name"], c["location"], c["currentNodeCount"]) for c in found] == [("c", REGION, 1)]


def test_v1_does_not_show_what_only_v1beta1_knows(double: Double) -> None:
    beta = CLUSTERS.replace("/v1/", "/v1beta1/")
    body = {"cluster": cluster(protectConfig={"workloadConfig": {"auditMode": "BASIC"}})}
    assert "protectConfig" in double.refused("POST", CLUSTERS, body)
    double.done(double.call("POST", beta, body))
    assert "protectConfig" in double.call("GET", f"{beta}/c")
    assert "protectConfig" not in double.call("GET", f"{CLUSTERS}/c")


def test_server_config_names_a_default_version_for_each_channel(double: Double) -> None:
    path = f"/container/v1/projects/{PROJECT}/locations/{REGION}/serverConfig"
    config = double.call("GET", path)
    assert {c["channel"] for c in config["channels"]} == {"RAPID", "REGULAR", "STABLE", "EXTENDED"}
    assert all(c["defaultVersion"] in config["validMasterVersions"] for c in config["channels"])
