"""The logs of the reviewed reports are what the real engine writes today. `UPDATE_GOLDEN=1` records them anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.home import CHECKOUT
from rehearsal.project import StackFile
from rehearsal.pulumi import Stack
from tests import report_logs
from tests.rehearsal.conftest import Rehearsal

pytestmark = pytest.mark.extended
GKE, DIRECTOR = "gke-v6e", "slurm-v6e"
# A zone that has more than one generation, so that the login nodes may stay where they are.
HERE = {"zone": "us-east5-a"}
V5P = {**HERE, "accelerator": "v5p", "topology": "2x2x2"}


@pytest.fixture(scope="module")
def rehearsed(rehearsal: Rehearsal) -> Iterator[Rehearsal]:
    """A rehearsal, and an environment in which previews write event logs."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PULUMI_ENABLE_STREAMING_JSON_PREVIEW", "true")
        yield rehearsal


def stack(rehearsal: Rehearsal, name: str, source: str, **changes: Any) -> Path:
    """A shipped stack's file with sections `pathways:<name>` updated."""
    document = yaml.safe_load((CHECKOUT / "stacks" / f"Pulumi.{source}.yaml").read_text())
    for section, change in changes.items():
        document["config"][f"pathways:{section}"] = {**document["config"].get(f"pathways:{section}", {}), **change}
    path = rehearsal.home.root.parent / f"Pulumi.{name}.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def check(case: str, rehearsal: Rehearsal, file: Path, *command: str) -> None:
    """Preview, and compare the report with that on the recorded log, or record it."""
    name = file.name.split(".")[1]
    target = Stack(rehearsal.session(), StackFile(name, file))
    target.prepare()
    live = target.read(*(command or ("preview",)), "--stack", name, "--json", "--non-interactive")
    if os.environ.get("UPDATE_GOLDEN"):
        report_logs.log(case).write_text(report_logs.compact(live), "utf-8")
    assert report_logs.report(live) == report_logs.report(report_logs.log(case).read_text("utf-8"))


def test_changes_of_a_gke_stack_are_reported_as_recorded(rehearsed: Rehearsal) -> None:
    deployed = stack(rehearsed, GKE, GKE)
    rehearsed.run("up", str(deployed))
    check("first-deployment", rehearsed, stack(rehearsed, "new-stack", GKE))
    check("slice-more", rehearsed, stack(rehearsed, GKE, GKE, slices={"count": 3}))
    check("topology-change", rehearsed, stack(rehearsed, GKE, GKE, slices={"topology": "4x8"}))
    check("image-change", rehearsed, stack(rehearsed, GKE, GKE, runtime={"jax": "0.11.2"}))
    check("destroy", rehearsed, deployed, "destroy", "--preview-only")
    rehearsed.run("down", str(deployed))


def test_another_machine_type_on_cluster_director_is_reported_as_recorded(rehearsed: Rehearsal) -> None:
    rehearsed.run("up", str(stack(rehearsed, DIRECTOR, DIRECTOR, slices=HERE)))
    check("cluster-director-machine-type", rehearsed, stack(rehearsed, DIRECTOR, DIRECTOR, slices=V5P))
