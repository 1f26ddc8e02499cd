from __future__ import annotations

from typing import Any

from rehearsal.provider.facts import all_facts
from rehearsal.provider.schema import load
from rehearsal.provider.translate import api_field, from_api, keep_stated, to_api
from tests.unit.provider.fakes import CLUSTER, POOL


def body(token: str, **inputs: Any) -> dict[str, Any]:
    return to_api(load(token), all_facts()[token], inputs)


def told(token: str, **answer: Any) -> dict[str, Any]:
    return from_api(load(token), all_facts()[token], answer)


def test_node_settings_go_where_gke_wants_them() -> None:
    config = {
        "guestAccelerators": [{"type": "a", "count": 2}],
        "loggingVariant": "MAX_THROUGHPUT",
        "kubeletConfig": {"insecureKubeletReadonlyPortEnabled": "FALSE"},
        "advancedMachineFeatures": {"threadsPerCore": 1},
    }
    assert body(POOL, cluster="c", maxPodsPerNode=15, nodeLocations=["z"], nodeConfig=config) == {
        "maxPodsConstraint": {"maxPodsPerNode": "15"},
        "locations": ["z"],
        "config": {
            "accelerators": [{"acceleratorType": "a", "acceleratorCount": "2"}],
            "loggingConfig": {"variantConfig": {"variant": "MAX_THROUGHPUT"}},
            "kubeletConfig": {"insecureKubeletReadonlyPortEnabled": False},
            "advancedMachineFeatures": {"threadsPerCore": "1"},
        },
    }


def test_answers_of_gke_read_as_they_were_stated() -> None:
    answer = {
        "maxPodsConstraint": {"maxPodsPerNode": "15"},
        "config": {"accelerators": [{"acceleratorCount": "2"}], "taints": [{"key": "k"}], "gvnic": {}},
    }
    assert told(POOL, **answer) == {
        "maxPodsPerNode": 15,
        "nodeConfig": {
            "guestAccelerators": [{"count": 2}],
            "taints": [{"key": "k"}],
            "effectiveTaints": [{"key": "k"}],
        },
    }


def test_privacy_of_a_cluster_lies_in_two_other_places_of_the_api() -> None:
    private = {"enablePrivateNodes": True, "enablePrivateEndpoint": True}
    sent = body(CLUSTER, privateClusterConfig=private)
    assert sent == {
        "networkConfig": {"defaultEnablePrivateNodes": True},
        "controlPlaneEndpointsConfig": {"ipEndpointsConfig": {"enablePublicEndpoint": False}},
    }
    assert told(CLUSTER, **sent)["privateClusterConfig"] == private


def test_lists_of_one_are_single_objects_in_the_api() -> None:
    sent = body(POOL, nodeDrainConfigs=[{"respectPdbDuringNodePoolDeletion": True}])
    assert sent == {"nodeDrainConfig": {"respectPdbDuringNodePoolDeletion": True}}
    assert told(POOL, **sent) == {"nodeDrainConfigs": [{"respectPdbDuringNodePoolDeletion": True}]}


def test_a_field_is_told_by_its_whole_path() -> None:
    facts = all_facts()[CLUSTER]
    assert api_field(facts, ("loggingConfig", "enableComponents")) == "loggingConfig.componentConfig.enableComponents"
    assert api_field(facts, ("privateClusterConfig", "enablePrivateNodes")) == "networkConfig.defaultEnablePrivateNodes"


def test_what_google_never_answers_stays_as_it_was_stated() -> None:
    stated = {
        "deletionProtection": False,
        "minMasterVersion": "1.35",
        "description": "",
        "releaseChannel": {"channel": "RAPID"},
    }
    kept = keep_stated(load(CLUSTER), all_facts()[CLUSTER], {"name": "c"}, stated)
    assert kept == {"name": "c", "deletionProtection": False, "minMasterVersion": "1.35", "description": ""}


def test_an_empty_string_is_not_sent() -> None:
    policy = {"type": "", "policyName": "slices", "tpuTopology": "4x4x4"}
    sent = body(POOL, cluster="c", placementPolicy=policy)["placementPolicy"]
    assert sent == {"policyName": "slices", "tpuTopology": "4x4x4"}
