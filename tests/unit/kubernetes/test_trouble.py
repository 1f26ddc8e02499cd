"""What is said of pods that do not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pathways.labels import JOB_SET
from rehearsal.kubernetes import trouble
from rehearsal.kubernetes.trouble import PODS, Watcher
from tests.unit.kubernetes.fake_api import FakeApi

Json = dict[str, Any]
RUNNING = {"running": {"startedAt": "2026-12-01T00:00:00Z"}}


def pod(policy: str = "Never", phase: str = "Running", conditions: list[Json] | None = None, **container: Any) -> Json:
    status = {"name": "pathways-proxy", "restartCount": 0, "state": RUNNING, "lastState": {}, **container}
    return {
        "metadata": {"name": "head-0", "namespace": "default", "labels": {JOB_SET: "pathways"}},
        "spec": {"restartPolicy": policy},
        "status": {"phase": phase, "conditions": conditions or [], "containerStatuses": [status]},
    }


def ended(code: int, message: str = "Unknown command line flag 'x'", reason: str = "Error") -> Json:
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


def test_pods_that_run_or_are_done_are_no_trouble() -> None:
    assert trouble.of_pod(pod()) == []
    assert trouble.of_pod(pod(phase="Succeeded", state=ended(0))) == []
    assert trouble.of_pod(pod(state={"waiting": {"reason": "PodInitializing"}})) == []


def test_a_container_that_ended_for_good_is_named_with_its_last_words() -> None:
    [found] = trouble.of_pod(pod(state=ended(1)))
    assert str(found) == (
        "container pathways-proxy of pod head-0 ended with exit code 1. "
        "Its log (kubectl logs -n default head-0 -c pathways-proxy) ends:\nUnknown command line flag 'x'"
    )


def test_a_sidecar_that_ends_with_the_client_is_not_taken_for_the_cause() -> None:
    failed = pod(phase="Failed", name="main", state=ended(1))
    failed["spec"]["initContainers"] = [{"name": "pathways-proxy", "restartPolicy": "Always"}]
    failed["status"]["initContainerStatuses"] = [{"name": "pathways-proxy", "restartCount": 0, "state": ended(143, "")}]
    assert [each.container for each in trouble.of_pod(failed)] == ["main"]


def test_an_init_container_that_runs_on_and_so_keeps_the_others_waiting_is_named() -> None:
    waiting = pod(phase="Pending", state={"waiting": {"reason": "PodInitializing"}})
    waiting["spec"]["initContainers"] = [{"name": "rm"}, {"name": "proxy", "restartPolicy": "Always"}]
    waiting["status"]["initContainerStatuses"] = [
        {"name": name, "restartCount": 0, "state": RUNNING} for name in ("rm", "proxy")
    ]
    [found] = trouble.of_pod(waiting)
    assert str(found) == (
        "container rm of pod head-0 keeps those after it waiting: to run beside them it needs restartPolicy: Always"
    )
    assert found.kind in trouble.PATIENCE, "an init container may well take a while"


def test_one_restart_is_an_accident_and_more_are_not() -> None:
    crashed: Json = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended(1)}
    assert trouble.of_pod(pod("OnFailure", restartCount=1, **crashed)) == []
    [found] = trouble.of_pod(pod("OnFailure", restartCount=2, **crashed))
    assert "ended after 2 restarts with exit code 1" in str(found)
    assert trouble.of_pod(pod("OnFailure", restartCount=2, ready=True, lastState=ended(1))) == []


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"state": {"waiting": {"reason": "ErrImagePull", "message": "no program for nginx"}}}, "ErrImagePull"),
        ({"state": ended(128, "exec: no such file", "StartError")}, "cannot be started: exec: no such file"),
    ],
)
def test_a_container_that_does_not_start_says_why(status: Json, words: str) -> None:
    [found] = trouble.of_pod(pod(**status))
    assert words in str(found) and "pathways-proxy" in str(found) and "Its log" not in str(found)


def watched(clock: Callable[[], float] = lambda: 0.0) -> tuple[FakeApi, Watcher]:
    """A cluster in which nothing was wrong at first, and who watches it."""
    api = FakeApi()
    watcher = Watcher(api.api, clock)
    assert watcher.look() == []
    return api, watcher


def test_what_was_wrong_before_has_time_to_be_mended_and_what_comes_new_has_none() -> None:
    now = [0.0]
    api = FakeApi({f"{PODS}/head-0": pod(state=ended(1))})
    watcher = Watcher(api.api, lambda: now[0])
    assert watcher.look() == []
    now[0] += trouble.PATIENCE_WITH_FOUND / 2
    broken = pod(state=ended(1))
    api.objects[f"{PODS}/head-1"] = {**broken, "metadata": {**broken["metadata"], "name": "head-1"}}
    assert [each.name for each in watcher.look()] == ["head-1"]
    now[0] += trouble.PATIENCE_WITH_FOUND / 2
    assert [each.name for each in watcher.look()] == ["head-0", "head-1"]


def test_what_may_pass_counts_once_it_has_lasted() -> None:
    unschedulable = [{"type": "PodScheduled", "status": "False", "message": "0/9 nodes are available"}]
    waiting = pod(phase="Pending", conditions=unschedulable)
    now = [100.0]
    api, watcher = watched(lambda: now[0])
    api.objects[f"{PODS}/head-0"] = waiting
    assert watcher.look() == []
    now[0] += trouble.PATIENCE["unschedulable"] / 2
    # The scheduler's words change with every try.
    waiting["status"]["conditions"][0]["message"] = "0/10 nodes are available"
    api.objects[f"{PODS}/head-0"] = waiting
    assert watcher.look() == []
    now[0] += trouble.PATIENCE["unschedulable"]
    [found] = watcher.look()
    assert str(found) == "pod head-0 fits on no node: 0/10 nodes are available"


def test_what_lasted_and_ended_starts_anew() -> None:
    now = [0.0]
    waiting = pod(state={"waiting": {"reason": "CreateContainerConfigError", "message": "no secret"}})
    api, watcher = watched(lambda: now[0])
    for state in (waiting, pod(), waiting):
        api.objects[f"{PODS}/head-0"] = state
        assert watcher.look() == []
        now[0] += trouble.PATIENCE["waiting"] - 1


def test_a_job_set_that_failed_is_told_where_no_pod_says_why() -> None:
    condition = {"type": "Failed", "status": "True", "message": "jobset failed due to one or more job failures"}
    job_set = {
        "metadata": {"name": "pathways", "namespace": "default", "uid": "js"},
        "spec": {},
        "status": {"conditions": [condition]},
    }
    api, watcher = watched()
    api.objects[f"{trouble.JOB_SETS}/pathways"] = job_set
    assert [str(each) for each in watcher.look()] == ["JobSet pathways: jobset failed due to one or more job failures"]


def test_a_job_whose_pods_are_refused_is_told_once_that_has_lasted_with_what_mends_it() -> None:
    now = [0.0]
    api, watcher = watched(lambda: now[0])
    label = {JOB_SET: "pathways"}
    place = {"name": "pathways-worker-0", "namespace": "default", "uid": "w", "labels": label, "creationTimestamp": ""}
    api.objects[f"{trouble.JOBS}/pathways-worker-0"] = {"metadata": place, "spec": {"parallelism": 4}, "status": {}}
    said = 'Error creating: pods "pathways-worker-0-0-abcde" is forbidden: violates PodSecurity "baseline:latest"'
    api.objects[f"{trouble.EVENTS}/pathways-worker-0.1"] = {
        "metadata": {"name": "pathways-worker-0.1"},
        "involvedObject": {"kind": "Job", "name": "pathways-worker-0", "uid": "w"},
        "reason": "FailedCreate",
        "message": said,
        "lastTimestamp": "2026-12-01T00:00:00Z",
    }
    assert watcher.look() == []
    now[0] += trouble.PATIENCE["refused"]
    [found] = map(str, watcher.look())
    assert found.startswith("Job pathways-worker-0 lacks 4 of 4 pods, which the API server refuses: pods")
    assert "\n  fix: " in found and "kubectl label namespace default" in found
    api.objects[f"{trouble.JOBS}/pathways-worker-0"]["status"]["active"] = 4
    assert watcher.look() == []


def queued(message: str) -> Json:
    """A JobSet that waits in Kueue's queue."""
    return {
        "metadata": {
            "name": "jobset-pathways-1a2b3",
            "namespace": "default",
            "ownerReferences": [{"name": "pathways"}],
        },
        "spec": {"queueName": "prod"},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": message}]},
    }


def test_a_queue_that_is_inactive_is_told_with_its_reason() -> None:
    missing = {"type": "Active", "status": "False", "message": "references missing ResourceFlavor(s): head-x"}
    queues = [
        {"metadata": {"name": name}, "status": {"conditions": [{**missing, "status": active}]}}
        for name, active in (("prod", "False"), ("dev", "True"))
    ]
    [found] = trouble.of_workloads([queued("ClusterQueue prod is inactive")], queues)
    assert str(found).endswith("ClusterQueue prod is inactive (references missing ResourceFlavor(s): head-x)")
    [found] = trouble.of_workloads([queued("ClusterQueue dev is inactive")], queues)
    assert str(found).endswith("ClusterQueue dev is inactive")


def test_a_job_set_that_kueue_does_not_admit_is_told_with_kueues_reason() -> None:
    now = [0.0]
    workload = queued("LocalQueue prod doesn't exist")
    api, watcher = watched(lambda: now[0])
    assert watcher.look() == []
    api.objects[f"{trouble.WORKLOADS}/jobset-pathways-1a2b3"] = workload
    assert watcher.look() == []
    now[0] += trouble.PATIENCE["queued"]
    [found] = watcher.look()
    assert str(found) == "JobSet pathways waits in Kueue's queue prod: LocalQueue prod doesn't exist"
