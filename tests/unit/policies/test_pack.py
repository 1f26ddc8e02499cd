"""The rules as Pulumi's library runs them, and what is written about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import PolicyCustomTimeouts, PolicyResourceOptions, ResourceValidationArgs, ResourceValidationPolicy
from pulumi_policy.deserialize import deserialize_properties, serialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies import document, pack
from policies.rule import Rule
from tests.unit.policies.examples import PROPERTIES

ROOT = Path(__file__).resolve().parents[3]
RULES = {rule.name: rule for rule in pack.rules()}
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hidden"}


def arguments(
    type_: str, properties: dict[str, Any], config: dict[str, Any] | None = None, remediate: bool = False
) -> ResourceValidationArgs:
    """What the library passes: a view that raises on unknown values, or for a remediation one that keeps secrets."""
    options = PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [])
    props = unknown_checking_proxy(deserialize_properties(properties, remediate))
    return ResourceValidationArgs(type_, props, "urn:pulumi:s::p::t::n", "n", options, None, config)


def policy(rule: Rule) -> ResourceValidationPolicy:
    made = rule.policy()
    assert isinstance(made, ResourceValidationPolicy)
    return made


def test_a_violation_says_what_is_wrong_and_how_to_fix_it() -> None:
    said: list[str] = []
    type_, properties = PROPERTIES["bucket"]
    broken = {**properties, "publicAccessPrevention": "inherited"}
    policy(RULES["bucket-public-access"]).validate(
        arguments(type_, broken), lambda message, urn=None: said.append(message)
    )
    assert said == ["gs://ml-scratch has public access prevention inherited. Set publicAccessPrevention: enforced"]


def test_an_unknown_value_does_not_keep_a_rule_from_judging_the_rest() -> None:
    said: list[str] = []
    type_, properties = PROPERTIES["slice-0"]
    broken = {**properties, "name": UNKNOWN_STRING_VALUE, "nodeConfig": {"machineType": "ct6e-standard-4t"}}
    policy(RULES["node-service-account"]).validate(
        arguments(type_, broken), lambda message, urn=None: said.append(message)
    )
    assert len(said) == 1


def test_a_rule_does_not_look_at_types_that_are_not_its_own() -> None:
    said: list[str] = []
    for rule in RULES.values():
        if rule.resource_body:
            policy(rule).validate(arguments("aws:s3/bucket:Bucket", {}), lambda message, urn=None: said.append(message))
    assert said == []


@pytest.mark.parametrize(
    ("name", "resource", "change", "config", "expected"),
    [
        (
            "bucket-uniform-access",
            "bucket",
            {"uniformBucketLevelAccess": False},
            {},
            {"uniformBucketLevelAccess": True},
        ),
        (
            "bucket-public-access",
            "bucket",
            {"publicAccessPrevention": "inherited"},
            {},
            {"publicAccessPrevention": "enforced"},
        ),
        (
            "required-labels",
            "bucket",
            {"labels": {"a": "b"}},
            {"values": {"team": "ml", "a": "c"}},
            {"labels": {"a": "b", "team": "ml"}},
        ),
    ],
)
def test_a_correction_changes_what_is_wrong_and_keeps_the_rest(
    name: str, resource: str, change: dict[str, Any], config: dict[str, Any], expected: dict[str, Any]
) -> None:
    type_, properties = PROPERTIES[resource]
    broken = {**properties, **change, "secret": SECRET, "unknown": UNKNOWN_STRING_VALUE}
    corrected: Any = policy(RULES[name]).remediate(arguments(type_, broken, config, remediate=True))
    assert serialize_properties(corrected) == {**broken, **expected}


def test_what_is_right_is_not_corrected() -> None:
    for rule in RULES.values():
        if rule.remedy:
            for name in ("bucket", "slice-0", "cluster"):
                type_, properties = PROPERTIES[name]
                assert policy(rule).remediate(arguments(type_, properties, {}, remediate=True)) is None


def test_names_are_one_of_a_kind_and_stable() -> None:
    assert len(pack.rules()) == len(RULES)
    assert set(RULES) == {
        "bucket-uniform-access", "bucket-public-access", "bucket-public-grant", "bucket-force-destroy",
        "scratch-bucket-region", "scratch-bucket-lifecycle", "scratch-bucket-permissions", "node-service-account",
        "no-basic-roles", "storage-roles-on-buckets", "private-nodes", "cluster-deletion-protection",
        "workload-identity", "legacy-endpoints", "proxy-not-public", "proxy-not-open", "pathways-ports", "pathways-image-fixed",
        "pathways-image-jax", "elastic-slices", "instance-type-matches-pools", "tpu-pool-shape",
        "tpu-pool-replacement", "no-spot", "reservation-use", "budget-slices", "budget-chips", "budget-cost",
        "required-labels",
    }  # fmt: skip


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_has_a_description_and_a_fix(rule: Rule) -> None:
    made = rule.policy()
    assert made.description.endswith(".") and made.remediation_steps and made.severity


@pytest.mark.parametrize(
    "file", sorted((ROOT / "policies" / "environments").glob("*.json")), ids=lambda file: file.stem
)
def test_an_environment_names_only_rules_and_parameters_that_exist(file: Path) -> None:
    for name, stated in json.loads(file.read_text("utf-8")).items():
        assert name == "all" or name in RULES
        if isinstance(stated, dict):
            assert set(stated) <= {"enforcementLevel", *RULES[name].parameters}
        if stated == "remediate":
            assert RULES[name].remedy


def test_production_refuses_what_is_for_production() -> None:
    config = json.loads((ROOT / "policies" / "environments" / "production.json").read_text("utf-8"))
    for rule in pack.rules():
        if rule.level == "advisory":
            assert "For production." in rule.description
            stated = config.get(rule.name, config["all"])
            assert (stated if isinstance(stated, str) else stated["enforcementLevel"]) == "mandatory"


def test_the_page_on_policies_is_the_one_written_from_the_rules() -> None:
    assert (ROOT / "docs" / "policies.md").read_text("utf-8") == document.render()
