"""The schema that editors use agrees with the program."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from cli import stacks
from cli.app import app
from pathways import tpu
from tests.unit.core.check_cases import stack
from tests.unit.core.check_cases.every import EVERY

SCHEMA: dict[str, Any] = json.loads(CliRunner().invoke(app, ["schema"], prog_name="pathways").stdout)
EDITOR = jsonschema.Draft202012Validator(SCHEMA)


def complaints(config: dict[str, Any]) -> list[str]:
    return [error.message for error in EDITOR.iter_errors({"config": config})]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", stacks.names())
def test_a_shipped_stack_names_the_schema_and_keeps_to_it(name: str) -> None:
    text = (stacks.FOLDER / f"Pulumi.{name}.yaml").read_text()
    assert text.splitlines()[0] == "# yaml-language-server: $schema=schema.json"
    assert list(EDITOR.iter_errors(yaml.safe_load(text))) == []


@pytest.mark.parametrize("mended", [case[3] for case in EVERY if case[3]])
def test_what_the_checks_accept_is_not_underlined(mended: dict[str, Any]) -> None:
    assert complaints(stack(mended)) == []


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"pathways:scrach": {}}, "pathways:scrach"),
        ({"pathways:slices.topolgy": "4x4"}, "topolgy"),
        ({"pathways:slices.count": 0}, "minimum"),
        ({"pathways:slices.topology": "4x5"}, "4x5"),
        ({"pathways:slices.accelerator": "v5p-16"}, "v5p-16"),
        ({"pathways:slices.machineType": "ct5p-hightpu-4t"}, "ct5p-hightpu-4t"),
        ({"pathways:workload": {"mode": "headless"}}, "headless"),
        ({"pathways:runtime": {"jax": 0.11}}, "0.11"),
        ({"gcp:project": "Example"}, "Example"),
    ],
)
def test_what_is_wrong_in_form_is_underlined(changes: dict[str, Any], word: str) -> None:
    found = complaints(stack(changes))
    assert found and word in " ".join(found)


def test_other_providers_may_have_settings_of_their_own() -> None:
    assert complaints(stack({"gcp:zone": "us-east5-b", "kubernetes:namespace": "x"})) == []


@pytest.mark.parametrize("generation", tpu.catalogue().generations.values(), ids=lambda each: each.name)
def test_every_topology_of_every_generation_is_offered(generation: tpu.Generation) -> None:
    for topology in generation.topologies:
        slices = {"accelerator": generation.name, "topology": str(topology), "zone": "us-east5-b"}
        assert complaints(stack({"pathways:slices": slices})) == []
