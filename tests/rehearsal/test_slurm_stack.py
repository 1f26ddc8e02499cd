"""The shipped Cluster Director stack on a real Slurm: up, up again, previewed, changed, killed, replaced, down."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from pathways import stackfile
from pathways.director import plan
from rehearsal.home import CHECKOUT
from rehearsal.project import StackFile, protected
from rehearsal.slurm import service
from rehearsal.slurm.cluster import SlurmCluster
from tests.rehearsal.conftest import Rehearsal

STACK = "slurm-v6e"
FILE = CHECKOUT / "stacks" / f"Pulumi.{STACK}.yaml"
CLUSTER = "projects/example-ml/locations/us-east5/clusters/pathways"
CHANGES = r"\d+ (created|updated|replaced|deleted)"
Deployed = tuple[Rehearsal, str]


def changed(rehearsal: Rehearsal, **sections: Any) -> str:
    """The path of the stack's file with sections `pathways:<name>` updated."""
    document = yaml.safe_load(FILE.read_text())
    for name, value in sections.items():
        document["config"].setdefault(f"pathways:{name}", {}).update(value)
    path = rehearsal.home.root.parent / FILE.name
    path.write_text(yaml.safe_dump(document))
    return str(path)


def slurm(rehearsal: Rehearsal) -> SlurmCluster:
    return rehearsal.session().slurm.find(CLUSTER)


def queue(rehearsal: Rehearsal) -> dict[str, str]:
    """States by the names of jobs; of array tasks with their index."""
    jobs = service.jobs(slurm(rehearsal))
    return {job.name + (f"[{job.id.split('_')[1]}]" if "_" in job.id else ""): job.state for job in jobs}


@pytest.fixture(scope="module")
def deployed(rehearsal: Rehearsal) -> Deployed:
    """The rehearsal with the stack in it, and what `up` said."""
    return rehearsal, rehearsal.run("up", STACK)


def test_up_ends_with_the_service_and_its_slices_running(deployed: Deployed) -> None:
    rehearsal, said = deployed
    settings, _ = stackfile.from_file(FILE)
    expected = plan.outputs(plan.make(settings))
    assert "up to 2 slices of tpuv6e:2x4, 4 TPU VMs, 16 chips" in said
    for name in ("scratchLocation", "setupCommand", "startCommand", "addressFile"):
        assert expected[name] in said
    assert "instances/pathways-login-001" in said
    assert re.search(r"devices +16 devices in 2 slices: TPU v6 lite\n +sum +right.*\n +matmul +right", said), said
    assert queue(rehearsal) == {
        "pathways": "RUNNING",
        "pathways-workers-1[0]": "RUNNING",
        "pathways-workers-1[1]": "RUNNING",
    }
    address = service.address(slurm(rehearsal), expected)
    for shown in (said, rehearsal.run("status", STACK)):
        assert re.search(r"^cpu \(default\) +1 +1 mixed", shown, re.M), shown
        assert re.search(r"^tpu +4 +4 allocated", shown, re.M), shown
        assert len(re.findall(r"^pathways-tpu\w+-\d +127\.\S+ +with jobs +allocated", shown, re.M)) == 4, shown
        assert re.search(r"^1 +pathways +RUNNING +pathways-cpu\w+-0", shown, re.M), shown
        assert re.search(rf"^proxy +{address}, as ~/pathways/cluster.env says", shown, re.M), shown


def test_a_second_up_and_a_refresh_find_nothing_to_do(deployed: Deployed) -> None:
    rehearsal, _ = deployed
    for command in ("refresh", "up"):
        said = rehearsal.run(command, STACK)
        assert re.search(r"\d+ unchanged", said) and not re.search(CHANGES, said), said
    assert "Pathways service job 1 is there already\n" in said


def test_the_login_node_runs_a_training_job_as_the_guide_says(deployed: Deployed) -> None:
    rehearsal, _ = deployed
    said = rehearsal.run("login", STACK, "sbatch", "--wait", "/mnt/pathways/scripts/run_maxtext.sh", "steps=2")
    job = said.split()[-1]
    log = rehearsal.run("login", STACK, "cat", f"maxtext-{job}.log")
    assert "slices: 0, 1" in log and "completed step: 2" in log, log


@pytest.mark.parametrize(
    ("change", "shown", "amount"),
    [
        ({"slices": {"count": 3}}, ['maxDynamicNodeCount: "4" => "6"'], "~ 2 to update"),
        ({"slices": {"topology": "4x4"}}, ['maxDynamicNodeCount: "4" => "8"'], "~ 2 to update"),
        # A machine type cannot change: another compute resource and node set take the place of the old ones.
        (
            {"head": {"machineType": "n2-standard-80"}},
            [
                'machineType: "n2-standard-64" => "n2-standard-80"',
                r'id    : "cpu-\w{6}" => "cpu-\w{6}"',
                r'id       : "cpu\w{6}" => "cpu\w{6}"',
            ],
            "~ 1 to update",
        ),
        ({"director": {"loginNodes": {"bootDisk": {"sizeGb": 200}}}}, ['sizeGb: "100" => "200"'], r"\+-2 to replace"),
    ],
    ids=["slice count", "slice shape", "machine type", "login disk"],
)
def test_a_preview_shows_the_update_or_replacement_that_google_would_make(
    deployed: Deployed, change: dict[str, Any], shown: list[str], amount: str
) -> None:
    rehearsal, _ = deployed
    said = rehearsal.run("preview", changed(rehearsal, **change))
    for pattern in [*shown, amount]:
        assert re.search(pattern, said), said


def test_what_can_change_in_place_does_and_the_service_goes_on(deployed: Deployed) -> None:
    rehearsal, _ = deployed
    change = {"director": {"minSlices": 2, "loginNodes": {"count": 2}}, "slices": {"count": 3}}
    said = rehearsal.run("up", changed(rehearsal, **change))
    assert "~ 2 updated" in said and not re.search(r"\d+ (created|replaced|deleted)", said), said
    assert "instances/pathways-login-002" in said
    assert re.search(r"^tpu +6 +4 allocated, 2 idle~", said, re.M), said
    assert "job 1 is there already, with the scripts that it was started with; for the new ones: scancel 1" in said
    assert "job 1" not in (slurm(rehearsal).folder / "home" / "pathways-1.log").read_text().partition("ready:")[2]


def test_what_was_killed_is_found_and_started_again_by_up(deployed: Deployed) -> None:
    rehearsal, _ = deployed
    for process in rehearsal.session().processes.all():
        os.kill(process.pid, signal.SIGKILL)
    said = rehearsal.run("up", changed(rehearsal, slices={"count": 3}, director={"minSlices": 2}))
    assert "slurmctld was dead; started again" in said
    # The jobs of nodes that were gone are queued again by Slurm; the workers belong to the new start of the service.
    assert sorted(queue(rehearsal).values()) == ["RUNNING"] * 3
    log = (slurm(rehearsal).folder / "home" / "pathways-1.log").read_text()
    assert log.count("Pathways service job 1 on") == 2


@pytest.mark.extended
def test_another_home_replaces_the_cluster_and_the_rule_in_its_network(deployed: Deployed) -> None:
    rehearsal, _ = deployed
    home = {"type": "bucket", "storageClass": "NEARLINE"}
    said = rehearsal.run("up", changed(rehearsal, director={"home": home}))
    assert re.search(r"\+- ?2 replaced", said), said
    assert "setup_env.sh maxtext" in said, "the new cluster's user has nothing yet"
    assert sorted(queue(rehearsal).values()) == ["RUNNING"] * 3


def test_down_leaves_nothing(deployed: Deployed) -> None:
    rehearsal, _ = deployed
    said = rehearsal.run("down", STACK)
    assert re.search(r"- \d+ deleted", said), said
    assert not rehearsal.home.root.exists()
    assert [
        process for process in psutil.process_iter() if str(rehearsal.home.root) in " ".join(_command(process))
    ] == []


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_a_stack_is_protected_unless_its_file_says_otherwise(tmp_path: Path) -> None:
    assert protected(StackFile(STACK, FILE)) == ""
    document = yaml.safe_load(FILE.read_text())
    del document["config"]["pathways:director"]["deletionProtection"]
    path = tmp_path / FILE.name
    path.write_text(yaml.safe_dump(document))
    assert protected(StackFile(STACK, path)) == "pathways:director.deletionProtection"
