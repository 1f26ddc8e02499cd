"""A stack file becomes settings, or a list of everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pathways import stackfile
from pathways.faults import StackError

GOOD: dict[str, Any] = {
    "gcp:project": "example-ml",
    "gcp:region": "us-east5",
    "pathways:slices": {"accelerator": "v6e", "topology": "4x4", "count": 2, "zone": "us-east5-b"},
}


def faults(config: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    with pytest.raises(StackError) as caught:
        stackfile.read(config, "bad")
    return {fault.path: (fault.id, fault.reason, fault.fix) for fault in caught.value.faults}


def test_a_small_stack_is_enough() -> None:
    settings, warnings = stackfile.read(GOOD, "gke-v6e")
    assert warnings == []
    assert settings.name == "gke-v6e"
    assert settings.runtime.tag == "jax-0.11.1"
    assert settings.cluster.deletion_protection is True


def test_every_fault_of_a_bad_stack_is_reported_at_once_with_its_path() -> None:
    found = faults(
        {
            **GOOD,
            "pathways:slices": {
                "accelerator": "v6e",
                "topology": "4x5",
                "count": "two",
                "zone": "us-central1-a",
            },
            "pathways:workload": {"name": "pathways-of-a-very-long-name", "mode": "interactive"},
            "pathways:runtime": {"jax": 0.11},
            "pathways:scrach": {"retentionDays": 3},
        }
    )
    assert set(found) == {
        "pathways:slices.topology",
        "pathways:slices.count",
        "pathways:slices.zone",
        "pathways:workload.name",
        "pathways:runtime.jax",
        "pathways:scrach",
    }
    assert all(reason and fix for _, reason, fix in found.values())


def test_an_unknown_key_names_the_nearest_known_one() -> None:
    assert faults({**GOOD, "pathways:scrach": {}})["pathways:scrach"][2] == "did you mean scratch?"
    nested = {**GOOD["pathways:slices"], "topolgy": "4x4"}
    assert faults({**GOOD, "pathways:slices": nested})["pathways:slices.topolgy"][2] == "did you mean topology?"


@pytest.mark.parametrize(
    ("key", "fix"), [("project", "gcp:project"), ("region", "gcp:region"), ("stack", "file's name")]
)
def test_a_setting_under_the_wrong_namespace_says_where_it_belongs(key: str, fix: str) -> None:
    assert fix in faults({**GOOD, f"pathways:{key}": "x"})[f"pathways:{key}"][2]


@pytest.mark.parametrize(
    ("slices", "path"),
    [
        ([GOOD["pathways:slices"], {**GOOD["pathways:slices"], "topology": "2x4"}], "pathways:slices"),
        ({**GOOD["pathways:slices"], "topology": ["4x4", "2x4"]}, "pathways:slices.topology"),
    ],
)
def test_slices_of_several_kinds_are_no_cluster(slices: Any, path: str) -> None:
    found = faults({**GOOD, "pathways:slices": slices})
    assert list(found) == [path] and found[path][0] == "slices-alike"
    assert "need a stack of their own" in found[path][2]


def test_a_number_where_a_word_belongs_says_how_to_quote_it() -> None:
    identity, reason, fix = faults({**GOOD, "pathways:runtime": {"jax": 0.11}})["pathways:runtime.jax"]
    assert (identity, reason) == ("wrong-type", "0.11 is not a word")
    assert '"0.11"' in fix


@pytest.mark.parametrize("key", ["gcp:project", "gcp:region", "pathways:slices"])
def test_a_missing_setting_is_the_only_fault(key: str) -> None:
    assert set(faults({name: value for name, value in GOOD.items() if name != key})) == {key}


@pytest.mark.parametrize("key", ["accelerator", "topology", "zone"])
def test_a_missing_part_of_the_slices_is_the_only_fault(key: str) -> None:
    slices = {name: value for name, value in GOOD["pathways:slices"].items() if name != key}
    assert set(faults({**GOOD, "gcp:region": "us-east5", "pathways:slices": slices})) == {f"pathways:slices.{key}"}


def test_a_fault_in_a_list_element_leaves_checks_of_other_settings_running() -> None:
    env = [{"value": "x"}, {"name": "XLA_FLAGS", "value": "--xla"}]
    found = faults({**GOOD, "pathways:workload": {"mode": "batch", "env": env}})
    assert found["pathways:workload.env[0].name"][0] == "missing"
    assert found["pathways:workload.image"][0] == "batch-client"


def test_pulumi_hands_objects_over_as_json_and_means_the_same() -> None:
    flat = {
        "gcp:project": "example-ml",
        "gcp:region": "us-east5",
        "pathways:platform": "gke",
        "pathways:slices": '{"accelerator":"v6e","topology":"4x4","count":2,"zone":"us-east5-b"}',
    }
    assert stackfile.from_pulumi(flat, "gke-v6e") == stackfile.read(GOOD, "gke-v6e")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("config: [1", "is not YAML, line 1"),
        ("hello: 1", "has no mapping named config"),
        ("", "has no mapping"),
    ],
)
def test_a_file_that_is_no_stack_file_is_said_to_be_none(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(text)
    with pytest.raises(StackError, match=reason):
        stackfile.from_file(path)


def test_a_file_that_does_not_exist_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="cannot be read"):
        stackfile.from_file(tmp_path / "Pulumi.nowhere.yaml")
