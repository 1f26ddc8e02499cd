from __future__ import annotations

from typing import Any

import pytest

from rehearsal.provider.resources.base import Config, Refused
from tests.unit.provider.fakes import CLUSTER, CLUSTER_PATH, FakeGoogle, done, error

CLUSTERS = CLUSTER_PATH.rsplit("/", 1)[0]
ID = "projects/p/locations/us-east5/clusters/c"
INPUTS: dict[str, Any] = {
    "name": "c",
    "location": "us-east5",
    "network": "vpc",
    "subnetwork": "nodes",
    "deletionProtection": False,
    "initialNodeCount": 1,
    "removeDefaultNodePool": True,
    "resourceLabels": {"team": "ml"},
}
ANSWER: dict[str, Any] = {
    "name": "c",
    "status": "RUNNING",
    "endpoint": "127.0.0.1:1",
    "network": "vpc",
    "subnetwork": "nodes",
    "initialNodeCount": 1,
    "currentMasterVersion": "1.35",
    "ipAllocationPolicy": {"useIpAliases": True},
    "masterAuth": {"clusterCaCertificate": "Q0E=", "clientKey": "S0VZ", "clientCertificate": "Q1JU"},
    "resourceLabels": {"team": "ml", "goog-pulumi-provisioned": "true", "foreign": "x"},
    "labelFingerprint": "f",
}


@pytest.fixture
def fake() -> FakeGoogle:
    google = FakeGoogle()
    google.answer("POST", CLUSTERS, done())
    google.answer("PUT", CLUSTER_PATH, done())
    google.answer("GET", CLUSTER_PATH, ANSWER)
    google.answer("DELETE", CLUSTER_PATH, done())
    return google


def created(fake: FakeGoogle, **changed: Any) -> dict[str, Any]:
    return fake.kind(CLUSTER).create({**INPUTS, **changed}, 60)[1]


def update(fake: FakeGoogle, state: dict[str, Any], **changed: Any) -> list[Any]:
    """Bodies of the PUT requests that a change takes."""
    inputs = {name: value for name, value in {**INPUTS, **changed}.items() if value is not None}
    fake.kind(CLUSTER).update(ID, state, inputs, [], 60)
    return [request["update"] for request in fake.sent("PUT", CLUSTER_PATH)]


def test_a_cluster_is_asked_for_with_what_the_provider_always_says(fake: FakeGoogle) -> None:
    created(fake)
    [request] = fake.sent("POST", CLUSTERS)
    sent = request["cluster"]
    assert sent["network"] == "projects/p/global/networks/vpc"
    assert sent["subnetwork"] == "projects/p/regions/us-east5/subnetworks/nodes"
    assert sent["autopilot"] == {"enabled": False}
    assert sent["autoscaling"] == {"enableNodeAutoprovisioning": False}
    assert sent["ipAllocationPolicy"] == {"useIpAliases": True}
    assert len(sent["nodeConfig"]["oauthScopes"]) == 6
    assert sent["resourceLabels"] == {"team": "ml", "goog-pulumi-provisioned": "true"}


def test_the_default_pool_is_removed_when_the_cluster_is_there(fake: FakeGoogle) -> None:
    fake.answer("GET", f"{CLUSTER_PATH}/nodePools/default-pool", {"name": "default-pool"})
    fake.answer("DELETE", f"{CLUSTER_PATH}/nodePools/default-pool", done())
    created(fake)
    assert [m for m, path, _ in fake.requests if path.endswith("default-pool") and m == "DELETE"] == ["DELETE"]


def test_a_creation_without_a_state_still_has_its_default_pool_to_remove(fake: FakeGoogle) -> None:
    kind = fake.kind(CLUSTER)
    found = kind.read(ID, INPUTS, {})
    assert found is not None
    assert [change.path for change in kind.changes(found[2], INPUTS)] == [("removeDefaultNodePool",)]


def test_state_tells_endpoint_mode_and_labels_by_whose_they_are(fake: FakeGoogle) -> None:
    state = created(fake)
    assert state["endpoint"] == "127.0.0.1:1"
    assert state["networkingMode"] == "VPC_NATIVE"
    assert state["releaseChannel"] == {"channel": "UNSPECIFIED"}
    assert state["resourceLabels"] == {"team": "ml"}
    assert state["pulumiLabels"] == {"team": "ml", "goog-pulumi-provisioned": "true"}
    assert state["effectiveLabels"] == ANSWER["resourceLabels"]
    assert state["masterAuth"]["clientCertificateConfig"] == {"issueClientCertificate": True}


def test_the_mark_and_default_labels_follow_the_providers_configuration(fake: FakeGoogle) -> None:
    config = Config(project="p", zone="us-east5-b", default_labels={"env": "dev"}, attribution=False)
    fake.kind(CLUSTER, config).create(INPUTS, 60)
    assert fake.sent("POST", CLUSTERS)[0]["cluster"]["resourceLabels"] == {"env": "dev", "team": "ml"}


def test_new_default_labels_are_a_change_of_existing_clusters(fake: FakeGoogle) -> None:
    state = created(fake)
    assert fake.kind(CLUSTER).changes(state, INPUTS) == []
    config = Config(project="p", default_labels={"env": "dev"})
    [change] = fake.kind(CLUSTER, config).changes(state, INPUTS)
    assert (change.path, change.replaces) == (("pulumiLabels",), False)


def test_changed_labels_keep_those_of_others(fake: FakeGoogle) -> None:
    state = created(fake)
    fake.answer("POST", f"{CLUSTER_PATH}:setResourceLabels", done())
    update(fake, state, resourceLabels={"team": "infra"})
    assert fake.sent("POST", f"{CLUSTER_PATH}:setResourceLabels") == [
        {
            "resourceLabels": {"team": "infra", "goog-pulumi-provisioned": "true", "foreign": "x"},
            "labelFingerprint": "f",
        }
    ]


@pytest.mark.parametrize(
    ("inputs", "request_body"),
    [
        ({"releaseChannel": {"channel": "RAPID"}}, {"desiredReleaseChannel": {"channel": "RAPID"}}),
        ({"enableShieldedNodes": True}, {"desiredShieldedNodes": {"enabled": True}}),
        ({"privateClusterConfig": {"enablePrivateNodes": True}}, {"desiredDefaultEnablePrivateNodes": True}),
        ({"nodeLocations": ["us-east5-b"]}, {"desiredLocations": ["us-east5-b"]}),
        (
            {"loggingConfig": {"enableComponents": ["WORKLOADS"]}},
            {"desiredLoggingConfig": {"componentConfig": {"enableComponents": ["WORKLOADS"]}}},
        ),
    ],
)
def test_each_change_has_its_own_request(fake: FakeGoogle, inputs: dict[str, Any], request_body: Any) -> None:
    assert update(fake, created(fake), **inputs) == [request_body]


def test_turning_protection_off_sends_nothing(fake: FakeGoogle) -> None:
    state = created(fake, deletionProtection=True)
    assert update(fake, state) == []


def test_a_protected_cluster_is_not_deleted(fake: FakeGoogle) -> None:
    with pytest.raises(Refused, match="deletionProtection is true"):
        fake.kind(CLUSTER).delete(ID, {"deletionProtection": True}, 60)
    fake.kind(CLUSTER).delete(ID, {"deletionProtection": False}, 60)
    assert len(fake.sent("DELETE", CLUSTER_PATH)) == 1


def test_an_imported_cluster_is_protected(fake: FakeGoogle) -> None:
    found = fake.kind(CLUSTER).read("us-east5/c", {}, {})
    assert found is not None
    assert found[2]["deletionProtection"] is True
    assert found[1]["deletionProtection"] is True


def test_a_cluster_without_any_location_is_refused(fake: FakeGoogle) -> None:
    kind = fake.kind(CLUSTER, Config(project="p"))
    assert kind.misplaced({"name": "c"}) == ["location: the resource states none, and the stack has no gcp:zone"]


def test_a_conflict_is_told_as_google_says_it(fake: FakeGoogle) -> None:
    fake.answer("POST", CLUSTERS, (409, error(409, "ALREADY_EXISTS", "Already exists: c.")))
    with pytest.raises(Exception, match="409 ALREADY_EXISTS: Already exists: c."):
        created(fake)
