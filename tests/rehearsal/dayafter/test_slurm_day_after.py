"""The day after `up` of a Cluster Director stack, on a rehearsed Slurm."""

from __future__ import annotations

import json
import re

import pytest

from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.dayafter.conftest import Commands, ids, well

pytestmark = pytest.mark.extended

STACK = "slurm-v6e"


@pytest.fixture(scope="module")
def service(rehearsal: Rehearsal) -> Commands:
    """A service that runs with its slices."""
    rehearsal.run("up", STACK)
    made = Commands(rehearsal, STACK)
    made.until(well)
    return made


def on_login_node(service: Commands, *command: str) -> str:
    return service.rehearsal.run("login", STACK, *command)


def test_the_service_its_slices_and_its_address_are_shown(service: Commands) -> None:
    found = service.status()
    assert (found["service"]["state"], len(found["tasks"]), found["silent"]) == ("RUNNING", 2, [])
    assert re.fullmatch(r"127\.\d+\.\d+\.\d+:29000", found["address"]["PATHWAYS_PROXY_ADDRESS"])
    assert found["login_nodes"] == ["pathways-login-001"]


def test_its_logs_are_told_in_order_of_time(service: Commands) -> None:
    done = service.run("logs", "--json")
    lines = [json.loads(each) for each in done.stdout.splitlines()]
    assert {"service", "resource-manager", "worker"} <= {each["component"] for each in lines}
    times = [each["time"] for each in lines if each["time"]]
    assert times == sorted(times)


def test_a_client_runs_on_the_login_node_with_the_proxys_address(service: Commands) -> None:
    done = service.run("connect", "--", "env")
    address = service.status()["address"]["PATHWAYS_PROXY_ADDRESS"]
    assert done.returncode == 0, done.stderr
    assert f"JAX_BACKEND_TARGET=grpc://{address}" in done.stdout
    assert f"export PATHWAYS_PROXY_ADDRESS={address}" in service.run("connect", "--print-env").stdout


def test_a_slice_that_somebody_cancelled_is_missed(service: Commands) -> None:
    task = service.status()["tasks"][1]["id"]
    on_login_node(service, "scancel", task)
    found = service.until(lambda status: ids(status) == ["slices-ended"])
    assert "1 of 2 slices left" in found["troubles"][0]["evidence"]


def test_what_happened_to_jobs_and_nodes_is_told_in_order_of_time(service: Commands) -> None:
    node = on_login_node(service, "scontrol", "show", "hostnames", service.status()["tasks"][0]["nodes"]).split()[0]
    on_login_node(service, "scontrol", "update", f"nodename={node}", "state=drain", "reason=a fan is loud")
    try:
        done = service.run("events", "--json")
    finally:
        on_login_node(service, "scontrol", "update", f"nodename={node}", "state=resume")
    assert done.returncode == 0, done.stderr
    events = [json.loads(each) for each in done.stdout.splitlines()]
    assert [each["time"] for each in events] == sorted(each["time"] for each in events)
    assert {each["slice"] for each in events if each["reason"] == "STARTED"} == {None, 0, 1}
    assert [each["slice"] for each in events if each["reason"] == "CANCELLED"] == [1]
    [drained] = [each for each in events if each["reason"] == "NodeReason"]
    assert (drained["about"], drained["warning"]) == (f"nodes {node}", True)
    assert drained["message"].startswith("a fan is loud, says ")
    assert any(each["message"].startswith("ready: clients find the proxy") for each in events)


def test_a_service_that_was_stopped_is_missed_and_comes_back_by_the_next_command(service: Commands) -> None:
    on_login_node(service, "scancel", service.status()["service"]["id"])
    found = service.until(lambda status: ids(status) == ["service-missing"])
    command = re.search(r"bash ([^\s;]+)", found["troubles"][0]["next"])
    assert command and "stopped" in found["troubles"][0]["evidence"]
    on_login_node(service, "bash", command[1])
    service.until(well)


def test_a_service_that_is_held_waits(service: Commands) -> None:
    on_login_node(service, "scancel", service.status()["service"]["id"])
    service.until(lambda status: ids(status) == ["service-missing"])
    on_login_node(service, "sbatch", "--hold", "/mnt/pathways/scripts/start_pathways.sh")
    found = service.until(lambda status: ids(status) == ["service-waiting"])
    assert "JobHeldUser" in found["troubles"][0]["evidence"]
    on_login_node(service, "scancel", found["service"]["id"])
