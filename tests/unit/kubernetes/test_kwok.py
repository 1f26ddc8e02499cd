"""kwok's configuration."""

from __future__ import annotations

import yaml

from rehearsal.kubernetes import kwok
from rehearsal.kubernetes.controllers import PROGRAMS, SERVING


def test_kwok_gets_its_options_and_a_stage_for_nodes_and_pods() -> None:
    documents = list(yaml.safe_load_all(kwok.configuration(run_pods=False)))
    assert [document["kind"] for document in documents] == ["KwokConfiguration", *["Stage"] * len(kwok.STAGES)]
    assert {d["spec"]["resourceRef"]["kind"] for d in documents[1:]} == {"Node", "Pod"}


def test_pods_whose_program_runs_for_real_become_ready_only_when_it_serves() -> None:
    stages = {d["metadata"]["name"]: d for d in list(yaml.safe_load_all(kwok.configuration(run_pods=False)))[1:]}
    gate = stages["pod-ready"]["spec"]["selector"]["matchExpressions"][-1]
    assert SERVING in gate["key"]
    assert all(f'"{program}"' in gate["key"] for program in PROGRAMS)


def test_a_node_is_not_given_up_between_two_heartbeats() -> None:
    stages = {d["metadata"]["name"]: d for d in list(yaml.safe_load_all(kwok.configuration(run_pods=False)))[1:]}
    latest = stages["node-heartbeat"]["spec"]["delay"]["jitterDurationMilliseconds"] / 1000
    assert 2 * latest <= kwok.NODE_GRACE_SECONDS


def test_where_pods_run_kwok_shows_and_removes_only_those_of_controllers() -> None:
    stages = {d["metadata"]["name"]: d for d in list(yaml.safe_load_all(kwok.configuration(run_pods=True)))[1:]}
    for name in ("pod-ready", "pod-delete"):
        gate = stages[name]["spec"]["selector"]["matchExpressions"][-1]
        assert all(f'"{program}"' in gate["key"] for program in PROGRAMS)
        assert gate["values"] == ["true"]
