"""The shipped Cluster Director stack: up, up again, changed in place, replaced, down."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pathways import stackfile
from pathways.director import plan
from rehearsal.home import CHECKOUT
from rehearsal.project import StackFile, protected
from tests.rehearsal.conftest import Rehearsal

STACK = "slurm-v6e"
FILE = CHECKOUT / "stacks" / f"Pulumi.{STACK}.yaml"
CHANGES = r"\d+ (created|updated|replaced|deleted)"


def changed(rehearsal: Rehearsal, **sections: Any) -> str:
    """The path of the stack's file with sections `pathways:<name>` updated."""
    document = yaml.safe_load(FILE.read_text())
    for name, value in sections.items():
        document["config"][f"pathways:{name}"] |= value
    path = rehearsal.home.root.parent / FILE.name
    path.write_text(yaml.safe_dump(document))
    return str(path)


@pytest.fixture(scope="module")
def deployed(rehearsal: Rehearsal) -> tuple[Rehearsal, str]:
    """The rehearsal with the stack in it, and what `up` said."""
    return rehearsal, rehearsal.run("up", STACK)


def test_up_ends_with_what_the_stack_amounts_to(deployed: tuple[Rehearsal, str]) -> None:
    _, said = deployed
    settings, _ = stackfile.from_file(FILE)
    expected = plan.outputs(plan.make(settings))
    assert "up to 2 slices of tpuv6e:2x4, 4 TPU VMs, 16 chips" in said
    for name in ("scratchLocation", "setupCommand", "startCommand", "addressFile"):
        assert expected[name] in said
    assert "instances/pathways-login-001" in said


def test_a_second_up_and_a_refresh_find_nothing_to_do(deployed: tuple[Rehearsal, str]) -> None:
    rehearsal, _ = deployed
    for command in ("up", "refresh", "up"):
        said = rehearsal.run(command, STACK)
        assert re.search(r"\d+ unchanged", said) and not re.search(CHANGES, said), said


def test_what_can_change_in_place_does(deployed: tuple[Rehearsal, str]) -> None:
    rehearsal, _ = deployed
    said = rehearsal.run("up", changed(rehearsal, director={"minSlices": 2, "loginNodes": {"count": 2}}))
    assert "~ 2 updated" in said and not re.search(r"\d+ (created|replaced|deleted)", said), said
    assert "instances/pathways-login-002" in said


def test_another_home_replaces_the_cluster_and_the_rule_in_its_network(deployed: tuple[Rehearsal, str]) -> None:
    rehearsal, _ = deployed
    home = {"type": "bucket", "storageClass": "NEARLINE"}
    said = rehearsal.run("up", changed(rehearsal, director={"home": home}))
    assert re.search(r"\+- ?2 replaced", said), said


def test_down_leaves_nothing(deployed: tuple[Rehearsal, str]) -> None:
    rehearsal, _ = deployed
    said = rehearsal.run("down", STACK)
    assert re.search(r"- \d+ deleted", said), said
    assert not rehearsal.home.root.exists()


def test_a_stack_is_protected_unless_its_file_says_otherwise(tmp_path: Path) -> None:
    assert protected(StackFile(STACK, FILE)) == ""
    document = yaml.safe_load(FILE.read_text())
    del document["config"]["pathways:director"]["deletionProtection"]
    path = tmp_path / FILE.name
    path.write_text(yaml.safe_dump(document))
    assert protected(StackFile(STACK, path)) == "pathways:director.deletionProtection"
