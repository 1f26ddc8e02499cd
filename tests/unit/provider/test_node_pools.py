from __future__ import annotations

from typing import Any

import pytest

from rehearsal.provider.google import GoogleError
from rehearsal.provider.resources.base import Incomplete, Refused
from tests.unit.provider.fakes import CLUSTER_PATH, POOL, FakeGoogle, done, error

OPERATION = "container/v1beta1/projects/p/locations/us-east5/operations/op"
PATH = f"{CLUSTER_PATH}/nodePools/n"
ID = "projects/p/locations/us-east5/clusters/c/nodePools/n"
MANAGER = "https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroupManagers/m"
INPUTS: dict[str, Any] = {
    "cluster": "projects/p/locations/us-east5/clusters/c",
    "name": "n",
    "nodeCount": 4,
    "nodeConfig": {"machineType": "ct6e-standard-4t"},
}
ANSWER: dict[str, Any] = {
    "name": "n",
    "status": "RUNNING",
    "initialNodeCount": 4,
    "version": "1.35",
    "instanceGroupUrls": [MANAGER],
    "config": {
        "machineType": "ct6e-standard-4t",
        "taints": [{"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}],
    },
}


@pytest.fixture
def fake() -> FakeGoogle:
    google = FakeGoogle()
    google.answer("POST", f"{CLUSTER_PATH}/nodePools", done())
    google.answer("GET", "compute/compute/v1/projects/p/zones/z/instanceGroupManagers/m", {"targetSize": 4})
    return google


def created(fake: FakeGoogle, inputs: dict[str, Any] = INPUTS) -> tuple[str, dict[str, Any]]:
    fake.answer("GET", PATH, (404, error(404, "NOT_FOUND", "no")), ANSWER)
    return fake.kind(POOL).create(inputs, 60)


def updated(fake: FakeGoogle, state: dict[str, Any], **changed: Any) -> dict[str, Any]:
    fake.answer("GET", PATH, ANSWER)
    for path in (PATH, CLUSTER_PATH):
        fake.answer("PUT", path, done())
    return fake.kind(POOL).update(ID, state, {**INPUTS, **changed}, [], 60)


def test_a_pool_is_created_in_the_place_of_its_cluster(fake: FakeGoogle) -> None:
    identity, state = created(fake)
    [request] = fake.sent("POST", f"{CLUSTER_PATH}/nodePools")
    assert identity == ID
    assert request == {"nodePool": {"name": "n", "initialNodeCount": 4, "config": {"machineType": "ct6e-standard-4t"}}}
    assert (state["project"], state["location"], state["cluster"]) == ("p", "us-east5", INPUTS["cluster"])


def test_state_holds_what_google_filled_in_and_nodes_from_the_instance_groups(fake: FakeGoogle) -> None:
    _, state = created(fake)
    assert state["version"] == "1.35"
    assert state["nodeCount"] == 4
    assert state["managedInstanceGroupUrls"] == [MANAGER]
    assert state["instanceGroupUrls"] == [MANAGER.replace("Managers", "s")]


def test_taints_of_gke_are_effective_and_not_the_programs(fake: FakeGoogle) -> None:
    _, state = created(fake)
    assert "taints" not in state["nodeConfig"]
    assert [taint["key"] for taint in state["nodeConfig"]["effectiveTaints"]] == ["google.com/tpu"]


def test_counting_nodes_is_left_out_on_request(fake: FakeGoogle) -> None:
    created(fake, {**INPUTS, "ignoreNodeCountChanges": True})
    assert not [path for _, path, _ in fake.requests if "instanceGroupManagers" in path]


def test_a_pool_without_node_settings_asks_for_the_default_scopes(fake: FakeGoogle) -> None:
    created(fake, {"cluster": "c", "name": "n", "location": "us-east5", "autoscaling": {"minNodeCount": 0}})
    [request] = fake.sent("POST", f"{CLUSTER_PATH}/nodePools")
    assert len(request["nodePool"]["config"]["oauthScopes"]) == 6
    assert request["nodePool"]["autoscaling"] == {"minNodeCount": 0, "enabled": True}


def test_a_pool_that_exists_is_not_created_again(fake: FakeGoogle) -> None:
    fake.answer("GET", PATH, ANSWER)
    with pytest.raises(Refused, match="already exists"):
        fake.kind(POOL).create(INPUTS, 60)


def test_a_refused_pool_is_an_error_and_nothing_more(fake: FakeGoogle) -> None:
    fake.answer("POST", f"{CLUSTER_PATH}/nodePools", (400, error(400, "INVALID_ARGUMENT", "no such machine")))
    with pytest.raises(GoogleError, match="no such machine"):
        fake.kind(POOL).create(INPUTS, 60)


def test_an_interrupted_creation_leaves_what_the_next_up_needs(fake: FakeGoogle) -> None:
    kind = fake.kind(POOL)

    def running(body: object) -> dict[str, Any]:
        kind.google.interrupt()
        return {"name": "op", "status": "RUNNING"}

    fake.answer("POST", f"{CLUSTER_PATH}/nodePools", running)
    fake.answer("GET", OPERATION, {"name": "op", "status": "RUNNING"})
    with pytest.raises(Incomplete) as caught:
        kind.create(INPUTS, 60)
    assert caught.value.identity == ID
    assert kind.changes(caught.value.state, INPUTS) == []


def test_a_failed_creation_is_incomplete_only_if_something_is_there(fake: FakeGoogle) -> None:
    fake.answer("POST", f"{CLUSTER_PATH}/nodePools", {**done(), "error": {"message": "stockout"}})
    with pytest.raises(Exception, match="stockout") as caught:
        fake.kind(POOL).create(INPUTS, 60)
    assert not isinstance(caught.value, Incomplete)
    fake.answer("GET", PATH, (404, error(404, "NOT_FOUND", "no")), ANSWER)
    with pytest.raises(Incomplete, match="stockout"):
        fake.kind(POOL).create(INPUTS, 60)


def test_reading_waits_for_a_pool_that_is_still_being_made(fake: FakeGoogle) -> None:
    fake.answer("GET", PATH, {**ANSWER, "status": "PROVISIONING"}, ANSWER)
    found = fake.kind(POOL).read(ID, INPUTS, {})
    assert found is not None
    assert found[2]["version"] == "1.35"


def test_a_pool_that_is_gone_reads_as_nothing(fake: FakeGoogle) -> None:
    assert fake.kind(POOL).read(ID, INPUTS, {"name": "n"}) is None


def test_reading_again_agrees_with_what_creation_left(fake: FakeGoogle) -> None:
    identity, state = created(fake)
    assert fake.kind(POOL).read(identity, INPUTS, state) == (identity, INPUTS, state)


def test_drift_shows_in_the_inputs_that_the_program_states(fake: FakeGoogle) -> None:
    _, state = created(fake)
    fake.answer("GET", PATH, {**ANSWER, "config": {**ANSWER["config"], "machineType": "ct6e-standard-1t"}})
    found = fake.kind(POOL).read(ID, INPUTS, state)
    assert found is not None
    assert found[1]["nodeConfig"] == {"machineType": "ct6e-standard-1t"}
    assert "version" not in found[1]


def test_an_import_takes_short_ids_and_names_all_inputs(fake: FakeGoogle) -> None:
    fake.answer("GET", PATH, ANSWER)
    found = fake.kind(POOL).read("us-east5/c/n", {}, {})
    assert found is not None
    identity, inputs, _ = found
    assert identity == ID
    assert inputs["cluster"] == "c"
    assert inputs["nodeCount"] == 4
    assert "initialNodeCount" not in inputs  # cannot be stated together with nodeCount
    assert "instanceGroupUrls" not in inputs


def test_a_changed_size_is_set_and_the_state_says_so(fake: FakeGoogle) -> None:
    _, state = created(fake)
    fake.answer("POST", f"{PATH}:setSize", done())
    updated(fake, state, nodeCount=8)
    assert fake.sent("POST", f"{PATH}:setSize") == [{"nodeCount": 8}]
    assert fake.sent("PUT", PATH) == []


def test_machine_and_disk_change_in_one_request(fake: FakeGoogle) -> None:
    _, state = created(fake)
    updated(fake, state, nodeConfig={"machineType": "a", "diskSizeGb": 200, "labels": {"k": "v"}})
    assert fake.sent("PUT", PATH) == [{"labels": {"labels": {"k": "v"}}}, {"diskSizeGb": 200, "machineType": "a"}]


def test_autoscaling_that_is_taken_away_is_turned_off_at_the_cluster(fake: FakeGoogle) -> None:
    _, state = created(fake)
    updated(fake, {**state, "autoscaling": {"minNodeCount": 1, "maxNodeCount": 3}})
    assert fake.sent("PUT", CLUSTER_PATH) == [
        {"update": {"desiredNodePoolId": "n", "desiredNodePoolAutoscaling": {"enabled": False}}}
    ]


def test_another_topology_alone_sends_nothing(fake: FakeGoogle) -> None:
    _, state = created(fake)
    policy = {"type": "COMPACT", "tpuTopology": "4x4"}
    state["placementPolicy"] = policy
    updated(fake, state, placementPolicy={**policy, "tpuTopology": "4x8"})
    assert fake.sent("PUT", PATH) == fake.sent("PUT", CLUSTER_PATH) == []


def test_deleting_what_is_gone_is_no_error(fake: FakeGoogle) -> None:
    fake.kind(POOL).delete(ID, INPUTS, 60)


def test_a_pool_is_deleted_unless_its_policy_says_otherwise(fake: FakeGoogle) -> None:
    fake.answer("GET", PATH, ANSWER)
    fake.answer("DELETE", PATH, done())
    with pytest.raises(Refused, match="deletionPolicy is PREVENT"):
        fake.kind(POOL).delete(ID, {"deletionPolicy": "PREVENT"}, 60)
    fake.kind(POOL).delete(ID, {"deletionPolicy": "ABANDON"}, 60)
    assert fake.sent("DELETE", PATH) == []
    fake.kind(POOL).delete(ID, {"deletionPolicy": "DELETE"}, 60)
    assert len(fake.sent("DELETE", PATH)) == 1
