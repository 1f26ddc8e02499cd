"""`pathways topologies` as a person or a program sees it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from pathways import tpu


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["topologies", *arguments], prog_name="pathways")


def rows(*arguments: str) -> list[dict[str, Any]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def row_of(output: str, first: str) -> list[str]:
    """The cells of the only line that begins with this cell."""
    matching = [line.split() for line in output.splitlines() if line.split()[:1] == [first]]
    assert len(matching) == 1, output
    return matching[0]


def test_without_options_every_documented_machine_type_is_named() -> None:
    output = run().stdout
    for machine in tpu.catalogue().machine_types.values():
        assert (machine.name in output) is not tpu.catalogue().generations[machine.generation].experimental


def test_an_accelerator_s_slices_are_listed_with_what_they_amount_to() -> None:
    output = run("--accelerator", "v5p").stdout
    assert row_of(output, "4x4x8") == ["4x4x8", "128", "32", "2x2x8", "tpuv5:4x4x8", "v5p-256"]
    assert row_of(output, "2x2x1") == ["2x2x1", "4", "1", "1x1x1", "tpuv5:2x2x1", "v5p-8"]
    assert "GKE 1.32.2-gke.1475000 or newer (Pathways)." in output
    assert "us-east5-a" in output
    assert "placement compact from 2 VMs on" in output


def test_an_alias_lists_the_same_as_the_name() -> None:
    assert run("--accelerator", "trillium").stdout == run("--accelerator", "v6e").stdout


def test_a_slice_that_pathways_cannot_use_is_marked() -> None:
    assert "not with Pathways" in run("--machine-type", "ct6e-standard-1t").stdout


def test_a_topology_on_two_machine_types_says_which_is_taken() -> None:
    taken = "2x4 is on ct6e-standard-4t unless machineType names ct6e-standard-8t."
    assert taken in run("--accelerator", "v6e").stdout
    assert taken not in run("--machine-type", "ct6e-standard-1t").stdout


def test_a_machine_type_lists_only_its_own_slices() -> None:
    assert [row["topology"] for row in rows("--machine-type", "ct6e-standard-8t")] == ["2x4"]


def test_json_holds_one_object_per_slice() -> None:
    found = rows("--accelerator", "tpu7x")
    assert len(found) == 99
    assert found[1] == {
        "accelerator": "tpu7x",
        "machineType": "tpu7x-standard-4t",
        "topology": "2x2x1",
        "chips": 4,
        "tensorCores": 8,
        "chipsPerVm": 4,
        "vms": 1,
        "hostKind": "single",
        "hostBounds": "1,1,1",
        "chipsPerHostBounds": "2,2,1",
        "placement": "none",
        "acceleratorType": "tpu7x-8",
        "instanceType": "tpu7x:2x2x1",
        "default": True,
    }
    assert found[0]["instanceType"] is None
    assert found[0]["default"] is False


def test_json_without_options_holds_the_whole_table() -> None:
    found = rows()
    assert len(found) == 227
    defaults = [(row["accelerator"], row["topology"]) for row in found if row["default"]]
    assert len(defaults) == len(set(defaults))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--accelerator", "v5p-16"], ["counts", "TensorCores:", "2x2x2."]),
        (["--accelerator", "v6"], ["Did", "you", "mean", "v6e?"]),
        (["--machine-type", "ct6e"], ["ct6e-standard-4t"]),
        (["--accelerator", "v5p", "--machine-type", "ct6e-standard-8t"], ["not", "of", "v5p.", "Leave"]),
    ],
)
def test_a_wrong_name_ends_with_a_sentence_and_no_table(arguments: list[str], words: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert {f"{arguments[-2]}:", *words} <= set(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_the_shell_completes_public_accelerators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PATHWAYS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "pathways topologies --accelerator v5")
    monkeypatch.setenv("COMP_CWORD", "3")
    result = CliRunner().invoke(app, prog_name="pathways")
    assert result.stdout.split() == ["v5e", "v5p"]
