"""What the servers of a JobSet said last, for whoever wonders why a client has no slices."""

from __future__ import annotations

from typing import Any

from pathways import names
from pathways.labels import JOB_SET, REPLICATED_JOB
from rehearsal.kubernetes import last_words
from rehearsal.standins.worker import REGISTERED
from tests.unit.kubernetes.fake_api import FakeApi

Json = dict[str, Any]
PODS = "/api/v1/namespaces/ml/pods"


def said(pod: str, job: str, **logs: str) -> dict[str, Json]:
    """A pod whose containers have those logs."""
    made = {
        "metadata": {"name": pod, "namespace": "ml", "labels": {JOB_SET: "pathways", REPLICATED_JOB: job}},
        "spec": {"containers": [{"name": name.replace("_", "-")} for name in logs]},
    }
    lines = {f"{PODS}/{pod}/log?container={name.replace('_', '-')}": {"text": log} for name, log in logs.items()}
    return {f"{PODS}/{pod}": made, **lines}


HEAD = said(
    "head",
    names.HEAD_JOB,
    main="FAILED: 0 of 2 slices are ready",
    pathways_rm="12:00:00 Pathways Server serving on [::]:29001\n",
)
LOST = "12:00:09 the resource manager at head:29002 does not answer: nobody listens there\n"


def test_servers_of_the_head_are_quoted_and_workers_that_say_the_same_are_one_line() -> None:
    workers = [said(f"w-{number}", names.WORKER_JOB, worker=f"12:00:0{number} serving\n{LOST}") for number in range(3)]
    api = FakeApi({key: value for objects in [HEAD, *workers] for key, value in objects.items()})
    assert last_words.of(api.api, "ml", "main") == [
        "pathways-rm of pod head: Pathways Server serving on [::]:29001",
        "worker of 3 pods (w-0 and others): the resource manager at head:29002 does not answer: nobody listens there",
    ]


def test_workers_that_have_their_place_and_containers_without_a_log_are_left_out() -> None:
    registered = said("w-0", names.WORKER_JOB, worker=f"12:00:01 {REGISTERED} 0 of slice 0\n")
    waiting = said("w-1", names.WORKER_JOB, worker="")
    api = FakeApi({**registered, **waiting})
    assert last_words.of(api.api, "ml", "main") == []
    assert last_words.told(api.api, "ml", "main") == ""


def test_a_job_whose_pods_are_refused_is_told_with_what_mends_it() -> None:
    job = {
        "metadata": {"name": "w", "namespace": "ml", "uid": "w", "labels": {JOB_SET: "p"}, "creationTimestamp": ""},
        "spec": {"parallelism": 2},
    }
    event = {
        "involvedObject": {"kind": "Job", "uid": "w"},
        "reason": "FailedCreate",
        "message": "Error creating: no PriorityClass with name high was found",
        "lastTimestamp": "2027-01-01T00:00:01Z",
        "metadata": {},
    }
    jobs, events = "/apis/batch/v1/namespaces/ml/jobs", "/api/v1/namespaces/ml/events"
    [line] = last_words.of(FakeApi({f"{jobs}/w": job, f"{events}/e": event}).api, "ml", "main")
    assert line.startswith("Job w lacks 2 of 2 pods") and "correct pathways:workload.priorityClass" in line


def test_told_below_an_error_each_server_has_a_line() -> None:
    assert last_words.told(FakeApi(HEAD).api, "ml", "main", "pathways") == (
        "\nOf the servers:\n  pathways-rm of pod head: Pathways Server serving on [::]:29001"
    )
