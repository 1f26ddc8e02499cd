"""The day after `up`, on a running rehearsal: a stack that is well, and what on-call sees when it is not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from rehearsal import client, faults
from tests.rehearsal.dayafter.conftest import Commands, ids


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
    assert any("2/2 Pathways Slices Now Ready" in each["text"] for each in found["lines"])
    assert found["silent"] == []
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


def test_a_program_that_knows_nothing_of_pathways_computes_on_all_slices(commands: Commands) -> None:
    if client.python() is None:
        pytest.skip("JAX is not installed: python -m rehearsal.client")
    program = "import jax; import jax.numpy as jnp; print(len(jax.devices()), jnp.arange(8).sum())"
    done = commands.run("connect", "--port", "0", "--", "python", "-c", program)
    assert done.stdout.strip() == "32 28", done.stderr
