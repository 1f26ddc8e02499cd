from __future__ import annotations

import pytest

from rehearsal.provider.check import DEFAULTS, complete, explicit_name, faults
from rehearsal.provider.facts import all_facts
from rehearsal.provider.schema import load
from rehearsal.provider.values import UNKNOWN
from tests.unit.provider.fakes import CLUSTER, POOL

BUCKET = "gcp:storage/bucket:Bucket"
ACCOUNT = "gcp:serviceaccount/account:Account"


def found(token: str, **inputs: object) -> list[str]:
    return faults(load(token), all_facts()[token], inputs)


def completed(token: str, old: dict[str, object] | None = None, seed: bytes = b"seed", **inputs: object) -> dict:
    return complete(load(token), all_facts()[token], inputs, old or {}, f"urn:pulumi:s::p::{token}::head", seed)


def test_inputs_of_a_real_pool_are_accepted() -> None:
    config = {"machineType": "ct6e-standard-4t", "taints": [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}]}
    assert found(POOL, cluster="c", nodeCount=4, nodeConfig=config) == []


def test_an_unknown_input_is_named_with_the_one_that_was_meant() -> None:
    [fault] = found(POOL, cluster="c", nodeConfig={"machineTyp": "x"})
    assert fault.startswith("nodeConfig.machineTyp: ")
    assert "did you mean machineType?" in fault


def test_missing_required_inputs_are_named_at_every_depth() -> None:
    messages = found(POOL, nodeConfig={"taints": [{"key": "k", "value": "v"}]})
    assert "cluster: required, and missing" in messages
    assert "nodeConfig.taints[0].effect: required, and missing" in messages


@pytest.mark.parametrize(
    ("inputs", "fault"),
    [
        ({"nodeCount": "many"}, "nodeCount: a whole number is wanted, 'many' was given"),
        ({"nodeConfig": "large"}, "nodeConfig: an object is wanted, 'large' was given"),
        ({"nodeLocations": "us-east5-b"}, "nodeLocations: a list is wanted, 'us-east5-b' was given"),
        ({"nodeConfig": {"spot": "maybe"}}, "nodeConfig.spot: a boolean is wanted, 'maybe' was given"),
        ({"version": ["1.35"]}, "version: a text is wanted, a list was given"),
    ],
)
def test_a_wrong_type_is_named(inputs: dict[str, object], fault: str) -> None:
    assert found(POOL, cluster="c", **inputs) == [fault]


def test_values_outside_their_set_pattern_or_range_are_named() -> None:
    assert "EVERYWHERE" in found(CLUSTER, releaseChannel={"channel": "EVERYWHERE"})[0]
    assert "does not match" in found(CLUSTER, name="Upper")[0]
    assert "at least 10" in found(POOL, cluster="c", nodeConfig={"diskSizeGb": 5})[0]
    assert "6 to 30 characters" in found(ACCOUNT, accountId="short")[0]
    assert "an address range" in found(CLUSTER, clusterIpv4Cidr="10.0.0.0")[0]


def test_inputs_that_exclude_each_other_are_named() -> None:
    assert found(POOL, cluster="c", nodeCount=1, initialNodeCount=1) == [
        "initialNodeCount: cannot be given together with nodeCount"
    ]


def test_a_group_that_needs_a_member_is_checked_only_where_its_block_is_given() -> None:
    assert found(BUCKET, location="US") == []
    assert "at least one of website.mainPageSuffix" in found(BUCKET, location="US", website={})[0]


def test_values_that_are_not_known_yet_are_accepted() -> None:
    assert found(POOL, cluster=UNKNOWN, nodeCount=UNKNOWN, nodeConfig={"spot": UNKNOWN}) == []


def test_defaults_fill_only_blocks_that_are_there() -> None:
    assert "nodeConfig" not in completed(POOL, cluster="c")
    assert completed(POOL, cluster="c", nodeConfig={})["nodeConfig"] == {"spot": False, "preemptible": False}
    assert completed(CLUSTER)["deletionProtection"] is True


def test_a_default_gives_way_to_what_excludes_it() -> None:
    assert "enableShieldedNodes" in completed(CLUSTER)
    assert "enableShieldedNodes" not in completed(CLUSTER, enableAutopilot=True)


def test_a_name_is_made_up_once_and_kept() -> None:
    first = completed(POOL, cluster="c")
    assert first["name"].startswith("head-")
    assert len(first["name"]) == len("head-") + 7
    assert completed(POOL, old=first, seed=b"another", cluster="c")["name"] == first["name"]
    assert not explicit_name(all_facts()[POOL], first)


def test_a_made_up_name_is_cut_to_the_length_that_google_allows() -> None:
    urn = f"urn:pulumi:s::p::{ACCOUNT}::{'x' * 60}"
    name = complete(load(ACCOUNT), all_facts()[ACCOUNT], {}, {}, urn, b"")["accountId"]
    assert len(name) == 30


def test_a_name_that_the_program_drops_is_not_kept() -> None:
    old = completed(POOL, cluster="c", name="mine")
    assert explicit_name(all_facts()[POOL], old)
    assert completed(POOL, old=old, cluster="c")["name"] != "mine"
    assert "name" in completed(POOL, old=old, cluster="c")[DEFAULTS]
