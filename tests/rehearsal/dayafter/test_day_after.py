"""The day after `up`, on a running rehearsal: what goes wrong there is what status, logs and events say."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rehearsal import faults
from rehearsal.home import CHECKOUT
from tests.rehearsal.conftest import Rehearsal

# What a control plane takes, on a machine that does other things too, to do what a fault asks of it.
PATIENCE_SECONDS = 120


class Commands:
    """`pathways` with the environment that `python -m rehearsal env` prints."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self.stack = rehearsal.stack("gke-v6e")
        self.environment = {**rehearsal.environment, **rehearsal.session().environment()}

    def run(
        self, command: str, *arguments: str, stack: str = "", without: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the stack; `without` is a variable to leave out."""
        return subprocess.run(
            [sys.executable, "-m", "cli", command, "-s", stack or self.stack, *arguments],
            env={key: value for key, value in self.environment.items() if key != without},
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def status(self, **how: str) -> dict[str, Any]:
        """What status sees, as JSON."""
        done = self.run("status", "--json", **how)
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (1 if found["troubles"] else 0)
        return found

    def until(self, good: Callable[[dict[str, Any]], bool], **how: str) -> dict[str, Any]:
        """What status sees once it is so."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not good(found := self.status(**how)):
            assert time.monotonic() < deadline, (found["troubles"], found["pending"], found["containers"])
            time.sleep(1)
        return found


def ids(status: dict[str, Any]) -> list[str]:
    return [each["id"] for each in status["troubles"]]


def well(status: dict[str, Any]) -> bool:
    return not status["troubles"]


@pytest.fixture(scope="module")
def commands(rehearsal: Rehearsal) -> Commands:
    """A stack that is deployed and well."""
    rehearsal.run("up", rehearsal.stack("gke-v6e"))
    made = Commands(rehearsal)
    made.until(well)
    return made


@pytest.fixture
def fault(commands: Commands) -> Iterator[Callable[[str], None]]:
    """Switches a fault on until the test ends, and waits until all is well again."""
    session = commands.rehearsal.session()
    on: list[str] = []

    def switch(name: str) -> None:
        on.append(name)
        faults.switch(session, name, on=True)

    yield switch
    for name in on:
        faults.switch(session, name, on=False)
    commands.until(well)


@pytest.mark.parametrize("without", ["", "PATHWAYS_GRPC_ENDPOINT_CONTAINER"], ids=["grpc", "rest"])
def test_a_stack_that_is_well_is_shown_whole(commands: Commands, without: str) -> None:
    found = commands.status(without=without)
    assert [(pool["name"], pool["ready"], pool["wanted"]) for pool in found["pools"]] == [
        ("cpu-np", 1, 1),
        ("tpu-np-0", 4, 4),
        ("tpu-np-1", 4, 4),
    ]
    assert found["job"]["ready"] == {"worker": 2, "pathways-head": 1}
    assert sum(each["component"] == "worker" and each["ready"] for each in found["containers"]) == 8
    assert found["proxy_address"] == "pathways-pathways-head-0-0.pathways.default.svc.cluster.local:29000"


def test_preflight_knows_that_it_is_deployed(commands: Commands) -> None:
    done = commands.run("preflight")
    assert done.returncode == 0, done.stdout
    assert "gke-v6e is there already: a GKE cluster running" in done.stdout


def test_nodes_that_are_not_ready_are_named(commands: Commands, fault: Callable[[str], None]) -> None:
    fault("nodes-not-ready")
    found = commands.until(lambda status: ids(status) == ["nodes-not-ready"])
    [trouble] = found["troubles"]
    assert "4 nodes of 4 in pool tpu-np-0 not ready" in trouble["evidence"]
    assert "kubectl describe node gke-gke-v6e-tpu-np-0-" in trouble["next"]


def test_a_tag_that_is_gone_is_found_before_and_after_up(commands: Commands, fault: Callable[[str], None]) -> None:
    fault("image-tag")
    found = commands.until(lambda status: ids(status) == ["image-pull"])
    assert "worker in 8 pods waits for its image" in found["troubles"][0]["evidence"]
    before = commands.run("preflight")
    assert before.returncode == 1 and "[images-exist]" in before.stdout


def test_pods_that_select_other_nodes_are_a_topology_mismatch(commands: Commands, fault: Callable[[str], None]) -> None:
    fault("topology-mismatch")
    found = commands.until(lambda status: ids(status) == ["topology-mismatch"])
    assert "didn't match Pod's node affinity/selector" in found["troubles"][0]["evidence"]


def test_what_a_worker_says_is_logged_and_diagnosed(commands: Commands, fault: Callable[[str], None]) -> None:
    fault("head-dns")
    assert ids(commands.status()) == ["head-dns"]
    lines = commands.run("logs", "worker", "--json")
    said = [json.loads(each) for each in lines.stdout.splitlines()]
    assert any("DNS resolution failed for pathways-pathways-head-0-0.pathways" in each["text"] for each in said)


def test_events_are_told_in_order_of_time_and_slice_by_slice(commands: Commands) -> None:
    done = commands.run("events", "--json")
    events = [json.loads(each) for each in done.stdout.splitlines()]
    assert [each["time"] for each in events] == sorted(each["time"] for each in events)
    assert {each["slice"] for each in events} == {None, 0, 1}
    of_slice = commands.run("events", "--json", "--slice", "1")
    assert {json.loads(each)["slice"] for each in of_slice.stdout.splitlines()} == {1}


def test_revoked_credentials_are_a_sentence(commands: Commands) -> None:
    session = commands.rehearsal.session()
    faults.switch(session, "credentials", on=True)
    try:
        done = commands.run("status")
    finally:
        faults.switch(session, "credentials", on=False)
    assert done.returncode == 3 and "gcloud auth application-default login" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_that_switches_faults_lists_them_and_refuses_others(commands: Commands) -> None:
    listed = commands.rehearsal.run("fault")
    assert "stock-out" in listed and "nodes-not-ready" in listed
    assert "There is no fault earthquake" in commands.rehearsal.run("fault", "earthquake", expect=1)


def test_a_slice_that_is_out_of_stock_fails_up_and_is_diagnosed(commands: Commands) -> None:
    commands.rehearsal.run("fault", "stock-out")
    wider = commands.rehearsal.stack("gke-v6e", slices={"count": 3})
    said = commands.rehearsal.run("up", wider, expect=255)
    assert "ZONE_RESOURCE_POOL_EXHAUSTED" in said
    found = commands.status()
    assert ids(found)[0] == "stock-out" and "pool tpu-np-2 is ERROR" in found["troubles"][0]["evidence"]
    commands.rehearsal.run("fault", "stock-out", "--off")
