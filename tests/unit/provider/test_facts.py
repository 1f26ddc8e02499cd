from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from rehearsal.provider import schema
from rehearsal.provider.conditions import CONDITIONS
from rehearsal.provider.facts import Facts, all_facts
from rehearsal.provider.paths import Pattern
from rehearsal.provider.resources import covered
from rehearsal.provider.schema import ListOf, MapOf, Object, Type, load
from rehearsal.provider.sdk import package_schema

# A cluster's inline pools have these in common with node pools, save for their place.
_ONLY_OF_POOLS = {"cluster", "deletionPolicy", "location", "operation", "project"}


def exists(type_: Type, pattern: Pattern) -> bool:
    while isinstance(type_, ListOf | MapOf):
        type_ = type_.item
    if not pattern:
        return True
    if not isinstance(type_, Object) or pattern[0] not in type_.properties:
        return False
    return exists(type_.properties[pattern[0]].type, pattern[1:])


def patterns(facts: Facts) -> set[Pattern]:
    listed = {p for rule in facts.sets.values() for p in rule} | {p for rule in facts.maps.values() for p in rule}
    grouped = {p for groups in facts.groups.values() for group in groups for p in group}
    return {p for p in listed | grouped if not (p[0] == "nodePools" and p[-1] in _ONLY_OF_POOLS)}


def test_every_covered_type_has_facts_and_no_other_has() -> None:
    assert set(all_facts()) == set(covered())


@pytest.mark.parametrize("token", covered())
def test_facts_speak_only_of_properties_that_the_sdk_has(token: str) -> None:
    known = load(token)
    missing = [
        ".".join(pattern)
        for pattern in patterns(all_facts()[token])
        if not exists(known.inputs, pattern) and not exists(known.outputs, pattern)
    ]
    assert missing == []


@pytest.mark.parametrize("token", covered())
def test_conditions_of_the_facts_exist(token: str) -> None:
    named = set(all_facts()[token].maps["replacesIf"].values())
    assert named <= {*CONDITIONS, "dropped-without-profile"}


def test_the_settings_of_a_clusters_nodes_follow_the_rules_of_a_pools() -> None:
    cluster = all_facts()["gcp:container/cluster:Cluster"]
    assert cluster.has("replaces", ("nodeConfig", "spot"))
    assert cluster.get("api", ("nodePools", "nodeConfig")) == "config"
    assert cluster.get("enums", ("nodeConfig", "loggingVariant")) == ["DEFAULT", "MAX_THROUGHPUT"]


def test_required_inputs_and_types_come_from_the_sdk() -> None:
    inputs = load("gcp:container/nodePool:NodePool").inputs.properties
    assert [name for name, known in inputs.items() if known.required] == ["cluster"]
    assert inputs["nodeLocations"].type == ListOf(inputs["cluster"].type)


def test_a_type_that_the_sdk_lacks_is_said_to_be_missing() -> None:
    with pytest.raises(LookupError, match="has no resource type gcp:container/pond:Pond"):
        package_schema(["gcp:container/pond:Pond"], "1")


def test_a_rehearsal_keeps_what_it_read_from_the_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REHEARSAL_HOME", str(tmp_path))
    monkeypatch.setattr("rehearsal.provider.sdk.package_schema", lambda tokens, version: {"read": version})
    schema._package.cache_clear()
    try:
        assert schema.package() == {"read": version("pulumi_gcp")}
        [kept] = tmp_path.glob("provider/schema-*.json")
        kept.write_text('{"kept": true}')
        schema._package.cache_clear()
        assert schema.package() == {"kept": True}
    finally:
        schema._package.cache_clear()
