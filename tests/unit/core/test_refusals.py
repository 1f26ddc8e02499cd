"""Pods and jobs that the API server refuses: what counts, and what to change."""

from __future__ import annotations

from typing import Any

import pytest

from pathways import refusals
from pathways.labels import JOB_SET

Json = dict[str, Any]
QUOTA = (
    'Error creating: pods "pathways-worker-0-0-4xkzq" is forbidden: exceeded quota: compute, '
    "requested: limits.cpu=24, used: limits.cpu=8, limited: limits.cpu=16"
)
TRANSIENT = (
    'Error creating: admission webhook "vpod.kb.io" denied the request: leader pod not yet scheduled, '
    "not creating follower pod. this is an expected, transient error"
)


def job(name: str = "pathways-worker-0", *, active: int = 0, created: int = 0, **spec: Any) -> Json:
    return {
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": name,
            "labels": {JOB_SET: "pathways"},
            "creationTimestamp": at(created),
        },
        "spec": {"parallelism": 4, "completions": 4, "suspend": False, **spec},
        "status": {"active": active},
    }


def job_set(*conditions: str, suspend: bool = False) -> Json:
    return {
        "metadata": {"name": "pathways", "namespace": "ml", "uid": "js"},
        "spec": {"suspend": suspend, "replicatedJobs": [{"replicas": 1}, {"replicas": 2}]},
        "status": {"conditions": [{"type": each, "status": "True"} for each in conditions]},
    }


def event(message: str, second: int = 1, *, reason: str = "FailedCreate", kind: str = "Job", uid: str = "") -> Json:
    about = {"kind": kind, "name": "any", "uid": uid or "pathways-worker-0"}
    return {"involvedObject": about, "reason": reason, "message": message, "lastTimestamp": at(second), "metadata": {}}


def at(second: int) -> str:
    return f"2027-01-01T00:00:{second:02}Z"


def test_a_job_without_its_pods_is_told_with_the_servers_words() -> None:
    [found] = refusals.find([job(active=1)], [], [event(QUOTA)])
    assert str(found) == (
        "Job pathways-worker-0 lacks 3 of 4 pods, which the API server refuses: "
        'pods "pathways-worker-0-0-4xkzq" is forbidden: exceeded quota: compute, '
        "requested: limits.cpu=24, used: limits.cpu=8, limited: limits.cpu=16"
    )
    assert found.namespace == "ml" and "kubectl describe resourcequota -n ml" in found.fix


@pytest.mark.parametrize(
    "whole",
    [
        job(active=4),
        job(suspend=True),
        job(completions=1, parallelism=1, active=1),
        {**job(), "status": {"succeeded": 4}},
        {**job(), "status": {"failed": 1, "conditions": [{"type": "Failed", "status": "True"}]}},
    ],
    ids=["all there", "suspended", "one", "done", "failed"],
)
def test_a_job_that_lacks_nothing_is_not_told(whole: Json) -> None:
    assert refusals.find([whole], [], [event(QUOTA)]) == []


def test_jobs_of_nobody_are_not_ours() -> None:
    stranger = job()
    stranger["metadata"]["labels"] = {}
    assert refusals.find([stranger], [], [event(QUOTA)]) == []


def test_pods_that_wait_for_the_first_of_their_job_are_not_refused() -> None:
    assert refusals.find([job(active=1)], [], [event(TRANSIENT)]) == []
    [found] = refusals.find([job()], [], [event(QUOTA, 1), event(TRANSIENT, 2)])
    assert "exceeded quota" in found.message


def test_pods_that_wait_for_a_first_one_that_never_comes_are_refused() -> None:
    [found] = refusals.find([job(completionMode="NonIndexed")], [], [event(TRANSIENT)])
    assert "completionMode has to be Indexed" in found.fix
    assert refusals.find([job(completionMode="Indexed")], [], [event(TRANSIENT)]) == []


def test_what_was_refused_before_a_pod_was_let_in_is_past() -> None:
    let_in = event("Created pod: pathways-worker-0-0-x", 5, reason="SuccessfulCreate")
    assert refusals.find([job(active=1)], [], [event(QUOTA, 4), let_in]) == []
    assert refusals.find([job(active=1)], [], [let_in, event(QUOTA, 5)]) != []


def test_an_event_of_an_earlier_job_of_that_name_is_past() -> None:
    assert refusals.find([job()], [], [event(QUOTA, uid="of the one before")]) == []


def test_a_job_set_whose_jobs_are_refused_is_told() -> None:
    refused = event(
        'jobs.batch "pathways-worker-0" is forbidden: x', 9, reason="JobCreationFailed", kind="JobSet", uid="js"
    )
    [found] = refusals.find([job("pathways-pathways-head-0", active=4, created=3)], [job_set()], [refused])
    assert str(found).startswith("JobSet pathways lacks 2 of 3 jobs, which the API server refuses: jobs.batch")
    assert refusals.find([job("pathways-pathways-head-0", active=4, created=9)], [job_set()], [refused]) == []
    for over in (job_set("Failed"), job_set("Completed"), job_set(suspend=True)):
        assert refusals.find([], [over], [refused]) == []


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("failed quota: compute: must specify limits.cpu for: main", "kubectl describe resourcequota -n ml"),
        (
            'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)',
            "kubectl label namespace ml --overwrite pod-security.kubernetes.io/enforce=privileged",
        ),
        (
            'error looking up service account ml/trainer: serviceaccount "trainer" not found',
            "pathways:workload.serviceAccount, or kubectl create serviceaccount trainer -n ml",
        ),
        ("no PriorityClass with name gold was found", "pathways:workload.priorityClass"),
        ("maximum memory usage per Container is 16Gi, but limit is 32G", "kubectl describe limitrange -n ml"),
        ('admission webhook "policy.example.com" denied the request: no', "the webhook policy.example.com"),
        ('failed calling webhook "vpod.kb.io": dial tcp: refused', "vpod.kb.io does not answer"),
        (
            'Pod "x" is invalid: spec.containers[1].ports[0].hostPort: Duplicate value: 29001',
            "the field spec.containers[1].ports[0].hostPort is not",
        ),
        (
            'Job.batch "x" is invalid: [spec.template.spec.priority: Invalid value: 1, spec.template.spec.x: y]',
            "the field spec.template.spec.priority is not",
        ),
        ("unable to create new content in namespace ml because it is being terminated", "the namespace ml"),
        ("something new", "kubectl get events -n ml"),
    ],
)
def test_each_kind_of_refusal_has_a_fix_that_names_what_to_change(said: str, fix: str) -> None:
    [found] = refusals.find([job()], [], [event(f'Error creating: pods "x" is forbidden: {said}')])
    assert fix in found.fix and "{" not in found.fix
