"""Phase and conditions of a pod, as the Job and JobSet controllers read them."""

from __future__ import annotations

import pytest

from rehearsal.kubernetes.agent.status import ContainerState, conditions, phase
from tests.unit.agent.samples import container


def running(init: bool = False, **spec: str) -> ContainerState:
    state = ContainerState(container(**spec), init)
    state.run("id", 0)
    state.started = state.ready = True
    return state


def ended(code: int, init: bool = False, **spec: str) -> ContainerState:
    state = ContainerState(container(**spec), init)
    state.run("id", 0)
    state.end(code, "Error" if code else "Completed", "", 0, 1)
    return state


def waiting(init: bool = False) -> ContainerState:
    return ContainerState(container(), init)


@pytest.mark.parametrize(
    ("containers", "policy", "expected"),
    [
        ([waiting()], "Never", "Pending"),
        ([running()], "Never", "Running"),
        ([ended(0)], "Never", "Succeeded"),
        ([ended(0)], "Always", "Running"),
        ([ended(3)], "Never", "Failed"),
        ([ended(3)], "OnFailure", "Running"),
        ([ended(3), running()], "Never", "Running"),
        ([ended(3), ended(0)], "Never", "Failed"),
        ([ended(0, init=True), waiting()], "Never", "Pending"),
        ([ended(1, init=True), waiting()], "Never", "Failed"),
        ([ended(1, init=True), waiting()], "OnFailure", "Pending"),
        # A pod ends when its sidecars have, however they ended.
        ([running(init=True, restartPolicy="Always"), ended(0)], "Never", "Running"),
        ([ended(143, init=True, restartPolicy="Always"), ended(0)], "Never", "Succeeded"),
    ],
)
def test_the_phase_follows_from_containers_and_restart_policy(
    containers: list[ContainerState], policy: str, expected: str
) -> None:
    assert phase(containers, policy) == expected


def test_a_container_that_waits_for_its_restart_keeps_its_pod_running() -> None:
    crashed = ended(1)
    crashed.wait("CrashLoopBackOff", "back-off 1s restarting failed container=worker")
    assert phase([crashed], "OnFailure") == "Running"
    assert crashed.json()["lastState"]["terminated"]["exitCode"] == 1


def test_conditions_name_what_is_not_ready_and_keep_the_time_of_their_last_change() -> None:
    before = [{"type": "Initialized", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    found = {c["type"]: c for c in conditions([running(), waiting()], "Running", before, True)}
    assert found["Ready"]["status"] == "False" and "[worker]" in found["Ready"]["message"]
    assert found["Initialized"]["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    assert found["PodReadyToStartContainers"]["status"] == "True"


def test_of_a_pod_that_has_ended_nothing_is_ready() -> None:
    found = {c["type"]: c for c in conditions([ended(0)], "Succeeded", [], True)}
    assert (found["Ready"]["status"], found["Ready"]["reason"]) == ("False", "PodCompleted")
    assert found["Initialized"]["status"] == "True"
