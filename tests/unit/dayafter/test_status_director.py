"""`pathways status` of a Cluster Director stack: the double has the cluster, and a stand-in for ssh leads to a queue."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from cli.cloud import login
from cli.cloud.errors import CloudError
from cli.stacks import FOLDER
from cli.status.diagnoses.director import DIAGNOSES
from pathways import stackfile
from pathways.director import plan as director
from tests.unit.dayafter.conftest import Surroundings
from tests.unit.google.running import PROJECT, REGION
from tests.unit.google.test_google_cluster_director import body, finished

STACK = "slurm-v6e"
CLUSTERS = f"/hypercomputecluster/v1/projects/{PROJECT}/locations/{REGION}/clusters"
SERVICE = "7|pathways|RUNNING|None|1:02|cpu-0"
SLICES = [f"8_{index}|pathways-workers-7|RUNNING|None|1:00|tpu-{index}" for index in range(2)]
# Servers leave the year out.
YEAR = datetime.now(UTC).year
HELD = "8_1|pathways-workers-7|PENDING|Resources|0:00|"
ADDRESS = (
    "# Written by Pathways service job 7\nexport PATHWAYS_JOB_ID=7\nexport PATHWAYS_PROXY_ADDRESS=10.0.0.4:29000\n"
)


class LoginNode:
    """A folder that is a user's home there, with a squeue that shows the lines of a file."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        (self.home / "pathways").mkdir(parents=True)
        self._queue = folder / "queue"
        self._program(folder / "bin" / "squeue", f'cat "{self._queue}"')
        program = f'[ "$1" = projects/{PROJECT}/locations/{REGION}/clusters/pathways ] || exit 9; shift\n'
        program += f'HOME="{self.home}" PATH="{folder}/bin:$PATH" exec "$@"'
        self.ssh = self._program(folder / "bin" / "ssh", program)
        self.has([SERVICE, *SLICES], ADDRESS)

    def has(self, queue: list[str], address: str = "", said: str = "") -> None:
        self._queue.write_text("".join(f"{line}\n" for line in queue))
        file = self.home / "pathways" / "cluster.env"
        file.write_text(address) if address else file.unlink(missing_ok=True)
        (self.home / "pathways-7.log").write_text(said)

    def _program(self, path: Path, text: str) -> Path:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


@pytest.fixture
def node(cloud: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoginNode:
    """The login node of a cluster that the stack made."""
    finished(cloud.double, cloud.double.call("POST", f"{CLUSTERS}?clusterId=pathways", body()))
    made = LoginNode(tmp_path)
    monkeypatch.setenv(login.VARIABLE, str(made.ssh))
    return made


def status(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["status", "-s", STACK, *arguments], prog_name="pathways")


def seen() -> dict[str, Any]:
    done = status("--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == (1 if found["troubles"] else 0), done.output
    return found


CASES = {
    "service-missing": ([], "", "error: only 0 slices are left"),
    "service-waiting": ([SERVICE.replace("RUNNING|None", "PENDING|Resources")], "", ""),
    "slices-waiting": ([SERVICE, SLICES[0], HELD], "", ""),
    "slices-ended": ([SERVICE, SLICES[0]], ADDRESS, ""),
    "address-missing": ([SERVICE, *SLICES], "", "waiting for MIN_SLICES=2"),
    "address-stale": ([SERVICE, *SLICES], ADDRESS.replace("JOB_ID=7", "JOB_ID=5"), ""),
}


def test_a_service_that_runs_is_shown_with_its_slices_and_its_address(node: LoginNode) -> None:
    found = seen()
    assert (found["troubles"], found["silent"]) == ([], [])
    assert found["service"]["id"] == "7" and [task["nodes"] for task in found["tasks"]] == ["tpu-0", "tpu-1"]
    done = status()
    assert "well" in done.stdout and "10.0.0.4:29000, as ~/pathways/cluster.env says" in done.stdout
    assert "pathways-login-001" in done.stdout


@pytest.mark.parametrize("id", CASES)
def test_what_is_the_matter_is_said_with_what_the_queue_shows(node: LoginNode, id: str) -> None:
    node.has(*CASES[id])
    [trouble] = seen()["troubles"]
    assert trouble["id"] == id
    last = CASES[id][2]
    assert last in trouble["evidence"] and "{" not in trouble["next"]


def test_there_is_a_case_for_every_diagnosis() -> None:
    assert {each.id for each in DIAGNOSES} == {*CASES, "slurm-not-deployed"}


def test_a_stack_that_is_not_deployed_is_said_to_be_so(cloud: Surroundings) -> None:
    [trouble] = seen()["troubles"]
    assert trouble["id"] == "slurm-not-deployed" and f"pulumi up -s {STACK}" in trouble["next"]


def test_a_login_node_that_does_not_let_in_is_a_sentence_and_the_rest_is_shown(
    node: LoginNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.ssh.write_text("#!/bin/sh\necho 'user@host: Permission denied (publickey).' >&2\nexit 255\n")
    [unseen] = seen()["silent"]
    assert "Permission denied (publickey)" in unseen["reason"]
    assert "gcloud compute ssh pathways-login-001" in unseen["fix"] and "roles/compute.osLogin" in unseen["fix"]
    node.ssh.write_text("#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact slurm controller' >&2\nexit 1\n")
    [unseen] = seen()["silent"]
    assert "Unable to contact slurm controller" in unseen["reason"] and "sinfo" in unseen["fix"]
    monkeypatch.setattr(login, "TIMEOUT_SECONDS", 0.2)
    node.ssh.write_text("#!/bin/sh\nexec sleep 20\n")
    [unseen] = seen()["silent"]
    assert "did not answer within" in unseen["reason"]


def test_logs_of_a_service_are_told_in_order_of_time_slice_by_slice(node: LoginNode) -> None:
    folder = node.home / "pathways" / "logs" / "7"
    folder.mkdir(parents=True)
    node.has([SERVICE, *SLICES], ADDRESS, f"{YEAR}-01-01 00:00:01 resource_manager listens on 10.0.0.4:29001\n")
    (folder / "resource_manager.log").write_text("I0101 00:00:03.000001 rm.cc:1] ready\n  of two lines\n")
    workers = (
        f"{YEAR}-01-01 00:00:02 slice 1 on tpu-1\n0: I0101 00:00:04.5 w.cc:2] up\n1: I0101 00:00:04.4 w.cc:2] up\n"
    )
    (folder / "slice-1.log").write_text(workers)
    done = logs("--json")
    told = [(each["component"], each["slice"], each["host"]) for each in map(json.loads, done.stdout.splitlines())]
    assert told == [
        ("service", None, None),
        ("worker", 1, None),
        *[("resource-manager", None, None)] * 2,
        ("worker", 1, 1),
        ("worker", 1, 0),
    ]
    assert "worker 1/0" in logs("worker", "--slice", "1").stdout
    assert "resource_manager listens" not in logs("worker").stdout


def logs(*arguments: str) -> Result:
    done = CliRunner().invoke(app, ["logs", "-s", STACK, *arguments], prog_name="pathways")
    assert done.exit_code == 0, done.output
    return done


def test_without_a_key_nobody_logs_in_for_the_first_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gcloud would make the key and tell Google of it, and status only reads."""
    gcloud = tmp_path / "gcloud"
    gcloud.write_text('#!/bin/sh\necho "$@"\n')
    gcloud.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), os.environ["PATH"]]))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(login.VARIABLE, raising=False)
    settings, _ = stackfile.from_file(FOLDER / f"Pulumi.{STACK}.yaml")
    plan, cluster = director.make(settings), {"name": "pathways"}
    with pytest.raises(CloudError, match="no ssh key") as caught:
        login.run(plan, cluster, "squeue")
    assert "log in once" in caught.value.fix and "gcloud compute ssh" in caught.value.fix
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "google_compute_engine").touch()
    assert "--tunnel-through-iap --command squeue --quiet" in login.run(plan, cluster, "squeue")
