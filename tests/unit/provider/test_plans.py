"""What replaces, what updates, and what is no change: the traps of the official provider."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.provider.facts import all_facts
from rehearsal.provider.paths import parse, show
from rehearsal.provider.plan import changes, planned
from rehearsal.provider.schema import load
from rehearsal.provider.values import UNKNOWN
from tests.unit.provider.fakes import CLUSTER, POOL

SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
BUCKET = "gcp:storage/bucket:Bucket"
CUSTOM_ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"


def diff(token: str, state: dict[str, Any], inputs: dict[str, Any], *ignored: str) -> dict[str, str]:
    """Each changed path with its kind, `!` for one that replaces."""
    found = changes(load(token), all_facts()[token], state, inputs, [parse(path) for path in ignored])
    return {show(change.path): change.kind + ("!" if change.replaces else "") for change in found}


def pool(**changed: Any) -> dict[str, Any]:
    return {"cluster": "c", "name": "n", **changed}


def test_nothing_differs_when_google_only_filled_in_what_the_program_left_out() -> None:
    state = pool(nodeCount=4, version="1.35", nodeConfig={"machineType": "e2-medium", "diskSizeGb": 100})
    assert diff(POOL, state, pool()) == {}


def test_topology_and_type_of_a_placement_policy_are_planned_as_updates() -> None:
    state = pool(placementPolicy={"type": "COMPACT", "tpuTopology": "4x4"})
    assert diff(POOL, state, pool(placementPolicy={"type": "COMPACT", "tpuTopology": "4x8"})) == {
        "placementPolicy.tpuTopology": "update"
    }


def test_another_policy_or_a_policy_more_or_less_replaces_the_pool() -> None:
    named = pool(placementPolicy={"policyName": "a"})
    assert diff(POOL, named, pool(placementPolicy={"policyName": "b"})) == {"placementPolicy.policyName": "update!"}
    assert diff(POOL, named, pool(placementPolicy={"policyName": "projects/p/a"})) != {}
    assert diff(POOL, named, pool()) == {"placementPolicy": "delete!"}
    assert diff(POOL, pool(), named) == {"placementPolicy": "add!"}


def test_machine_features_that_gke_fills_in_replace_the_pool_unless_they_are_stated_or_ignored() -> None:
    features = {"advancedMachineFeatures": {"threadsPerCore": 1}}
    state = pool(nodeConfig={"machineType": "ct6e-standard-4t", **features})
    silent = pool(nodeConfig={"machineType": "ct6e-standard-4t"})
    assert diff(POOL, state, silent) == {"nodeConfig.advancedMachineFeatures": "delete!"}
    assert diff(POOL, state, silent, "nodeConfig.advancedMachineFeatures") == {}
    assert diff(POOL, state, pool(nodeConfig={"machineType": "ct6e-standard-4t", **features})) == {}


def test_a_cluster_by_its_name_instead_of_its_id_replaces_the_pool() -> None:
    identity = "projects/p/locations/l/clusters/c"
    assert diff(POOL, pool(cluster=identity), pool()) == {"cluster": "update!"}


def test_machine_type_is_changed_in_place_and_spot_is_not() -> None:
    state = pool(nodeConfig={"machineType": "a", "spot": False})
    assert diff(POOL, state, pool(nodeConfig={"machineType": "b", "spot": True})) == {
        "nodeConfig.machineType": "update",
        "nodeConfig.spot": "update!",
    }


def test_false_nothing_and_zero_equal_left_out() -> None:
    silent, said = pool(nodeConfig={"machineType": "a"}), pool(nodeConfig={"machineType": "a", "spot": False})
    assert diff(POOL, said, silent) == {}
    assert diff(POOL, silent, said) == {}


def test_labels_that_gke_adds_are_not_compared() -> None:
    state = pool(nodeConfig={"resourceLabels": {"goog-gke-accelerator-type": "tpu-v6e-slice"}})
    assert diff(POOL, state, pool(nodeConfig={})) == {}
    assert diff(POOL, state, pool(nodeConfig={"resourceLabels": {"team": "ml"}})) == {
        "nodeConfig.resourceLabels.team": "add"
    }


def test_a_key_of_the_metadata_replaces_the_pool() -> None:
    state = pool(nodeConfig={"metadata": {"disable-legacy-endpoints": "true"}})
    assert diff(POOL, state, pool(nodeConfig={"metadata": {"a": "b"}})) == {
        "nodeConfig.metadata.a": "add!",
        'nodeConfig.metadata["disable-legacy-endpoints"]': "delete!",
    }


def test_scopes_are_a_set_and_may_be_short() -> None:
    scopes = [f"https://www.googleapis.com/auth/{name}" for name in ("monitoring", "cloud-platform")]
    state = pool(nodeConfig={"oauthScopes": scopes})
    assert diff(POOL, state, pool(nodeConfig={"oauthScopes": ["cloud-platform", "monitoring"]})) == {}
    assert diff(POOL, state, pool(nodeConfig={"oauthScopes": ["monitoring"]})) == {"nodeConfig.oauthScopes": "update!"}


def test_additional_networks_are_kept_only_by_an_unchanged_profile() -> None:
    networks = {"additionalNodeNetworkConfigs": [{"network": "n", "subnetwork": "s"}]}
    state = pool(networkConfig={"acceleratorNetworkProfile": "auto", **networks})
    assert diff(POOL, state, pool(networkConfig={"acceleratorNetworkProfile": "auto"})) == {}
    assert diff(POOL, pool(networkConfig=networks), pool()) == {}
    assert diff(POOL, pool(networkConfig=networks), pool(networkConfig={"enablePrivateNodes": True})) == {
        "networkConfig.enablePrivateNodes": "add",
        "networkConfig.additionalNodeNetworkConfigs": "delete!",
    }


def test_taking_the_initial_node_count_away_replaces_the_cluster() -> None:
    assert diff(CLUSTER, {"name": "c", "initialNodeCount": 1}, {"name": "c"}) == {"initialNodeCount": "delete!"}


def test_a_network_may_be_named_shortly_or_by_its_link() -> None:
    link = "https://www.googleapis.com/compute/v1/projects/p/global/networks/n"
    assert diff(CLUSTER, {"network": "n"}, {"network": link}) == {}
    assert diff(CLUSTER, {"network": "projects/p/global/networks/n"}, {"network": link}) == {}
    assert diff(CLUSTER, {"network": "m"}, {"network": link}) == {"network": "update!"}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [(True, False, "update!"), (False, True, "update")],
)
def test_subsetting_of_load_balancers_replaces_only_when_turned_off(old: bool, new: bool, kind: str) -> None:
    assert diff(CLUSTER, {"enableL4IlbSubsetting": old}, {"enableL4IlbSubsetting": new}) == {
        "enableL4IlbSubsetting": kind
    }


def test_a_subnetwork_grows_in_place_and_is_replaced_otherwise() -> None:
    state = {"network": "n", "ipCidrRange": "10.0.16.0/20"}
    assert diff(SUBNETWORK, state, {"network": "n", "ipCidrRange": "10.0.0.0/16"}) == {"ipCidrRange": "update"}
    assert diff(SUBNETWORK, state, {"network": "n", "ipCidrRange": "10.1.0.0/20"}) == {"ipCidrRange": "update!"}


def test_secondary_ranges_are_matched_by_name() -> None:
    pods, services = ({"rangeName": name, "ipCidrRange": f"10.{i}.0.0/16"} for i, name in enumerate(("pods", "svc")))
    assert diff(SUBNETWORK, {"secondaryIpRanges": [pods, services]}, {"secondaryIpRanges": [services, pods]}) == {}
    assert diff(SUBNETWORK, {"secondaryIpRanges": [pods, services]}, {"secondaryIpRanges": [services]}) == {
        "secondaryIpRanges[0]": "delete"
    }
    renamed = {**services, "rangeName": "other"}
    assert diff(SUBNETWORK, {"secondaryIpRanges": [pods, services]}, {"secondaryIpRanges": [renamed, pods]}) == {
        "secondaryIpRanges[0].rangeName": "update"
    }


def test_a_bucket_is_replaced_by_another_location_but_not_by_its_case() -> None:
    assert diff(BUCKET, {"location": "US-EAST5"}, {"location": "us-east5"}) == {}
    assert diff(BUCKET, {"location": "US-EAST5"}, {"location": "us-east1"}) == {"location": "update!"}


def test_a_hierarchical_namespace_that_is_off_equals_none() -> None:
    assert diff(BUCKET, {"hierarchicalNamespace": {"enabled": False}}, {}) == {}
    assert diff(BUCKET, {"hierarchicalNamespace": {"enabled": True}}, {}) == {"hierarchicalNamespace": "delete!"}


def test_permissions_of_a_role_have_no_order() -> None:
    assert diff(CUSTOM_ROLE, {"permissions": ["a", "b"]}, {"permissions": ["b", "a"]}) == {}


def test_a_value_that_is_not_known_yet_counts_as_a_change() -> None:
    assert diff(POOL, pool(), pool(cluster=UNKNOWN)) == {"cluster": "update!"}


def test_a_new_resource_is_previewed_with_what_google_will_fill_in_as_unknown() -> None:
    expected = planned(load(POOL), all_facts()[POOL], {}, pool(nodeConfig={"machineType": "a"}), create=True)
    assert expected["nodeConfig"]["machineType"] == "a"
    assert expected["nodeConfig"]["diskType"] is UNKNOWN
    assert expected["instanceGroupUrls"] is UNKNOWN
    assert "placementPolicy" not in expected


def test_an_update_is_previewed_with_what_is_known() -> None:
    state = pool(version="1.35", instanceGroupUrls=["u"], nodeCount=1)
    expected = planned(load(POOL), all_facts()[POOL], state, pool(nodeCount=2), create=False)
    assert expected == {**state, "nodeCount": 2}
