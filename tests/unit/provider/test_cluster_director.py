from __future__ import annotations

import copy
from typing import Any

import pytest

from rehearsal.provider.invokes import invoke
from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Refused
from tests.unit.provider.fakes import CONFIG, FakeGoogle

CLUSTER = "gcp:hypercomputecluster/cluster:Cluster"
SERVICE = "hypercomputecluster/v1/"
ID = "projects/p/locations/us-east5/clusters/c"
OPERATION = "projects/p/locations/us-east5/operations/op"
DONE = {"name": OPERATION, "done": True}
INPUTS: dict[str, Any] = {
    "clusterId": "c",
    "location": "us-east5",
    "networkResources": [{"id": "net", "config": {"newNetwork": {"network": "projects/p/global/networks/n"}}}],
    "computeResources": [
        {"id": "tpu", "config": {"newSpotInstances": {"zone": "us-east5-b", "machineType": "ct6e-standard-4t"}}},
        {"id": "cpu", "config": {"newOnDemandInstances": {"zone": "us-east5-b", "machineType": "n2-standard-64"}}},
    ],
    "storageResources": [{"id": "home", "config": {"newBucket": {"bucket": "b"}}}],
    "orchestrator": {
        "slurm": {
            "loginNodes": {"count": "1", "machineType": "n2-standard-8", "zone": "us-east5-b"},
            "nodeSets": [{"id": "cpu", "computeId": "cpu", "staticNodeCount": "1"}],
            "partitions": [{"id": "cpu", "nodeSetIds": ["cpu"]}],
        }
    },
}
BODY: dict[str, Any] = {
    "networkResources": {"net": {"config": {"newNetwork": {"network": "projects/p/global/networks/n"}}}},
    "computeResources": {
        "tpu": {"config": {"newSpotInstances": {"zone": "us-east5-b", "machineType": "ct6e-standard-4t"}}},
        "cpu": {"config": {"newOnDemandInstances": {"zone": "us-east5-b", "machineType": "n2-standard-64"}}},
    },
    "storageResources": {"home": {"config": {"newBucket": {"bucket": "b"}}}},
    "orchestrator": INPUTS["orchestrator"],
}


def answer() -> dict[str, Any]:
    """The cluster as the API tells it, with the entries of its maps in another order."""
    found = copy.deepcopy({**BODY, "name": ID, "createTime": "t", "labels": {"goog-pulumi-provisioned": "true"}})
    found["computeResources"] = dict(sorted(found["computeResources"].items()))
    found["networkResources"]["net"]["network"] = {"network": "n", "subnetwork": "s"}
    found["storageResources"]["home"]["bucket"] = {"bucket": "b"}
    found["orchestrator"]["slurm"]["loginNodes"]["instances"] = [{"instance": "i"}]
    return found


@pytest.fixture
def fake() -> FakeGoogle:
    google = FakeGoogle()
    google.answer("POST", SERVICE + ID.rsplit("/", 1)[0], {"name": OPERATION})
    google.answer("GET", SERVICE + OPERATION, {"name": OPERATION}, DONE)
    google.answer("GET", SERVICE + ID, answer())
    google.answer("PATCH", SERVICE + ID, DONE)
    return google


def made(fake: FakeGoogle) -> dict[str, Any]:
    return fake.kind(CLUSTER).create(INPUTS, 60)[1]


def edited(change: Any) -> dict[str, Any]:
    inputs = copy.deepcopy(INPUTS)
    change(inputs)
    return inputs


def test_lists_with_ids_are_sent_as_maps_and_the_operation_is_polled(fake: FakeGoogle) -> None:
    identity, state = fake.kind(CLUSTER).create(INPUTS, 60)
    [sent] = fake.sent("POST", SERVICE + ID.rsplit("/", 1)[0])
    assert sent == {**BODY, "labels": {"goog-pulumi-provisioned": "true"}}
    assert len(fake.sent("GET", SERVICE + OPERATION)) == 2
    assert (identity, state["name"], state["clusterId"], state["reconciling"]) == (ID, ID, "c", False)


def test_what_google_tells_comes_back_as_lists_in_the_programs_order(fake: FakeGoogle) -> None:
    state = made(fake)
    assert [entry["id"] for entry in state["computeResources"]] == ["tpu", "cpu"]
    assert state["networkResources"][0]["networks"] == [{"network": "n", "subnetwork": "s"}]
    assert state["storageResources"][0]["buckets"] == [{"bucket": "b"}]
    assert state["orchestrator"]["slurm"]["loginNodes"]["instances"] == [{"instance": "i"}]


def test_what_was_made_is_as_stated_after_creation_and_after_a_refresh(fake: FakeGoogle) -> None:
    kind, state = fake.kind(CLUSTER), made(fake)
    assert kind.changes(state, INPUTS) == []
    found = kind.read(ID, INPUTS, state)
    assert found is not None
    assert (found[1], found[2]) == (INPUTS, state)


def test_another_order_is_no_change_and_no_drift(fake: FakeGoogle) -> None:
    kind, state = fake.kind(CLUSTER), made(fake)
    turned = edited(lambda inputs: inputs["computeResources"].reverse())
    assert kind.changes(state, turned) == []
    found = kind.read(ID, turned, state)
    assert found is not None and found[1] == turned


@pytest.mark.parametrize("field", ["computeResources", "networkResources", "storageResources"])
def test_another_content_under_the_same_id_is_not_noticed(fake: FakeGoogle, field: str) -> None:
    other = {"newOnDemandInstances": {"zone": "us-east5-b", "machineType": "n2-standard-2"}}
    inputs = edited(lambda inputs: inputs[field][0].update(config=other))
    assert fake.kind(CLUSTER).changes(made(fake), inputs) == []


def test_another_id_is_an_update_in_place_of_the_whole_field(fake: FakeGoogle) -> None:
    kind, state = fake.kind(CLUSTER), made(fake)
    inputs = edited(lambda inputs: inputs["computeResources"][0].update(id="tpu2"))
    assert kind.changes(state, inputs) == [Change(("computeResources", 0, "id"), "update", False)]
    kind.update(ID, state, inputs, [], 60)
    [sent] = fake.sent("PATCH", SERVICE + ID)
    assert list(sent) == ["computeResources"] and set(sent["computeResources"]) == {"tpu2", "cpu"}


def test_content_that_was_not_noticed_is_not_sent_with_another_change(fake: FakeGoogle) -> None:
    inputs = edited(lambda inputs: inputs["computeResources"][0].update(id="tpu2"))
    inputs["computeResources"][1]["config"]["newOnDemandInstances"]["machineType"] = "n2-standard-2"
    fake.kind(CLUSTER).update(ID, made(fake), inputs, [], 60)
    [sent] = fake.sent("PATCH", SERVICE + ID)
    assert sent["computeResources"]["cpu"] == BODY["computeResources"]["cpu"]


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        (lambda i: i.update(description="d"), False),
        (lambda i: i["orchestrator"]["slurm"]["loginNodes"].update(count="2"), False),
        (lambda i: i["orchestrator"]["slurm"]["nodeSets"][0].update(staticNodeCount="2"), False),
        (lambda i: i["orchestrator"]["slurm"]["loginNodes"].update(bootDisk={"type": "a", "sizeGb": "50"}), False),
        (lambda i: i["orchestrator"]["slurm"]["loginNodes"].update(zone="us-east5-c"), True),
        (lambda i: i.update(clusterId="d"), True),
        (lambda i: i.update(location="us-east1"), True),
        (lambda i: i.pop("orchestrator"), True),
    ],
)
def test_the_plan_replaces_for_id_place_and_login_zone_only(fake: FakeGoogle, change: Any, replaces: bool) -> None:
    found = fake.kind(CLUSTER).changes(made(fake), edited(change))
    assert found and any(each.replaces for each in found) == replaces


def test_a_protected_cluster_is_not_deleted(fake: FakeGoogle) -> None:
    with pytest.raises(Refused, match="deletionPolicy is PREVENT"):
        fake.kind(CLUSTER).delete(ID, {**made(fake), "deletionPolicy": "PREVENT"}, 60)
    fake.answer("DELETE", SERVICE + ID, DONE)
    fake.kind(CLUSTER).delete(ID, made(fake), 60)
    assert len(fake.sent("DELETE", SERVICE + ID)) == 1


def test_the_projects_default_account_can_be_looked_up(fake: FakeGoogle) -> None:
    email = "1-compute@developer.gserviceaccount.com"
    fake.answer("GET", "compute/compute/v1/projects/p", {"id": "1", "defaultServiceAccount": email})
    token = "gcp:compute/getDefaultServiceAccount:getDefaultServiceAccount"
    found = invoke(token, fake.google(), CONFIG, {})
    assert (found["email"], found["member"]) == (email, f"serviceAccount:{email}")
    with pytest.raises(Refused, match="getImage is not covered"):
        invoke("gcp:compute/getImage:getImage", fake.google(), CONFIG, {})
