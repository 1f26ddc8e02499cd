"""Diagnoses: each fits what it is about, says the next command, and hides what it explains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cli.logs.lines import Line
from cli.status.diagnoses import DIAGNOSES, Trouble, diagnose
from cli.status.observe import admission_of
from cli.status.snapshot import (
    Admission,
    Condition,
    Container,
    JobSet,
    PendingPod,
    Pool,
    RefusedPods,
    Silent,
    Snapshot,
)


def well(**changes: object) -> Snapshot:
    """A stack of one slice of two VMs with which nothing is the matter, changed."""
    workers = [Container("worker", f"w-0-{host}", 0, host, "running", True, 0) for host in range(2)]
    head = [Container(name, "head", None, None, "running", True, 0) for name in ("proxy", "resource-manager")]
    job = JobSet(0, False, (Condition("StartupPolicyCompleted"),), {"worker": 1}, "2027-01-01T00:00:00Z")
    made = Snapshot(
        stack="s",
        project="p",
        location="us-east5",
        cluster="c",
        namespace="default",
        job_set="pathways",
        slices=1,
        vms=2,
        chips=8,
        head="pathways-pathways-head-0-0.pathways",
        scratch="gs://b",
        status="RUNNING",
        version="1.35.4-gke.1",
        pools=[Pool("cpu-np", "RUNNING", 1, 1, 1), Pool("tpu-np-0", "RUNNING", 2, 2, 2)],
        job=job,
        containers=[*head, *workers],
        lines=[line("proxy", "IFRT proxy server started with status OK", second=1)],
    )
    return replace(made, **changes)


def line(component: str, text: str, second: int = 30) -> Line:
    at = (0, 1) if component == "worker" else (None, None)
    return Line(f"2027-01-01T00:00:{second:02}Z", component, *at, "pod", text)


def slice_pool(**changes: object) -> list[Pool]:
    return [Pool("cpu-np", "RUNNING", 1, 1, 1), replace(Pool("tpu-np-0", "RUNNING", 2, 2, 2), **changes)]


def job(**changes: object) -> JobSet:
    made = well().job
    assert made
    return replace(made, **changes)


def waiting(state: str, component: str = "worker", message: str = "") -> list[Container]:
    good = [each for each in well().containers if each.component != component]
    return [*good, *(Container(component, f"w-0-{host}", 0, host, state, False, 3, message) for host in range(2))]


PENDING = [PendingPod("w-0-0", 0, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.")]
FULL = [
    PendingPod(
        "w-0-0",
        0,
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient google.com/tpu.",
    )
]

CASES: dict[str, tuple[Snapshot, str]] = {
    "not-deployed": (
        well(status="", pools=[], job=None, silent=[Silent("the cluster", "s is not deployed: 404", "pulumi up")]),
        "pulumi up -s s",
    ),
    "cluster-error": (well(status="ERROR", message="no addresses left"), "gcloud container clusters describe c"),
    "stock-out": (
        well(pools=slice_pool(status="ERROR", nodes=0, ready=0, conditions=(Condition("GCE_STOCKOUT", "none left"),))),
        "pathways:slices.capacity",
    ),
    "quota-exceeded": (
        well(pools=slice_pool(status="ERROR", nodes=0, conditions=(Condition("GCE_QUOTA_EXCEEDED", "Limit: 0"),))),
        "pathways preflight -s s",
    ),
    "pool-error": (well(pools=slice_pool(status="ERROR", message="bad image")), "node-pools describe tpu-np-0"),
    "pool-missing": (well(pools=slice_pool(status="MISSING", nodes=0, ready=0)), "pulumi refresh -s s"),
    "nodes-not-ready": (well(pools=slice_pool(ready=1, not_ready=("n-1",))), "kubectl describe node n-1"),
    "nodes-missing": (well(pools=slice_pool(nodes=1, ready=1)), "gcloud container operations list"),
    "jobset-missing": (well(job=None, containers=[]), "pulumi up -s s"),
    "jobset-suspended": (well(job=job(suspended=True)), '{"spec":{"suspend":false}}'),
    "kueue-waiting": (
        well(admission=Admission(False, "insufficient quota for google.com/tpu")),
        "kubectl get workloads",
    ),
    "jobset-failed": (well(job=job(conditions=(Condition("Failed", "too many restarts"),))), "kubectl delete jobset"),
    "pods-refused": (
        well(
            refused=[RefusedPods("Job w-0", "2 of 2 pods", "exceeded quota: q", "kubectl describe resourcequota -n ml")]
        ),
        "kubectl describe resourcequota -n ml",
    ),
    "topology-mismatch": (well(pending=PENDING), "gke-tpu-topology"),
    "pods-unschedulable": (well(pending=FULL), "kubectl describe pod w-0-0"),
    "image-pull": (well(containers=waiting("ImagePullBackOff")), "pathways:runtime.imageTag"),
    "container-failing": (
        well(containers=waiting("CrashLoopBackOff", message="exit code 1")),
        "pathways logs worker -s s",
    ),
    "head-dns": (well(lines=[line("worker", "DNS resolution failed for x:29001")]), "pathways connect -s s"),
    "protocol-version": (
        well(lines=[line("proxy", "Client protocol version range [1,1] does not overlap with server range [3,14]")]),
        "pathways plan -s s",
    ),
    "bucket-update": (
        well(lines=[line("resource-manager", "403 x does not have storage.buckets.update access to the bucket")]),
        "pathways:scratch.lifecycleOwner: stack",
    ),
    "bucket-forbidden": (
        well(lines=[line("worker", "403 x does not have storage.objects.create access to gs://b")]),
        "pulumi up -s s",
    ),
    "no-bucket": (well(lines=[line("resource-manager", "404 The specified bucket does not exist.")]), "pulumi refresh"),
    "second-client": (well(lines=[line("proxy", "another client is connected")]), "pathways:workload.mode: service"),
    "slice-incomplete": (well(containers=well().containers[:-1]), "pathways events -s s --slice 0"),
}


def troubles(snapshot: Snapshot) -> list[Trouble]:
    return diagnose(snapshot, DIAGNOSES)


def test_nothing_is_the_matter_with_a_stack_that_is_well() -> None:
    assert troubles(well()) == []


def test_there_is_a_case_for_every_diagnosis() -> None:
    assert set(CASES) == {each.id for each in DIAGNOSES}


@pytest.mark.parametrize("id", CASES)
def test_a_diagnosis_is_the_first_thing_said_with_its_next_command(id: str) -> None:
    snapshot, command = CASES[id]
    first = troubles(snapshot)[0]
    assert first.id == id, troubles(snapshot)
    assert command in first.next


def test_a_cause_hides_what_follows_from_it() -> None:
    stocked_out, _ = CASES["stock-out"]
    assert [each.id for each in troubles(replace(stocked_out, pending=FULL))] == ["stock-out"]


def test_jobs_that_are_refused_for_one_reason_are_told_once() -> None:
    refused = [RefusedPods(f"Job w-{n}", "2 of 2 pods", "exceeded quota: q", "raise it") for n in range(3)]
    [found] = troubles(well(refused=refused))
    assert found.evidence == "Job w-0 lacks 2 of 2 pods (2 more jobs like it): exceeded quota: q"


def test_what_a_component_said_before_it_was_ready_is_past() -> None:
    complaint = line("proxy", "Client protocol version range [1,1] does not overlap", second=5)
    ready = line("proxy", "IFRT proxy server started with status OK", second=9)
    assert [each.id for each in troubles(well(lines=[complaint, ready]))] == []
    late = replace(complaint, time="2027-01-01T00:00:10Z")
    assert [each.id for each in troubles(well(lines=[ready, late]))] == ["protocol-version"]


def test_a_worker_that_found_the_head_after_all_is_past() -> None:
    complaint = line("worker", "DNS resolution failed", second=5)
    said = line("resource-manager", "*** 1/1 Pathways Slices Now Ready ***", second=9)
    assert troubles(well(lines=[complaint, said])) == []


def test_a_slice_scaled_to_none_lacks_no_nodes() -> None:
    asleep = slice_pool(nodes=0, ready=0, autoscaled=True)
    ids = [each.id for each in troubles(well(pools=asleep))]
    assert "nodes-missing" not in ids
    assert "nodes-missing" in [each.id for each in troubles(well(pools=slice_pool(nodes=1, ready=1, autoscaled=True)))]


def test_an_unseen_job_set_is_not_called_missing() -> None:
    unseen = well(job=None, silent=[Silent("the JobSet", "403", "ask for a role")])
    assert "jobset-missing" not in [each.id for each in troubles(unseen)]


def test_kueue_says_what_it_waits_for() -> None:
    waiting_for = {"type": "QuotaReserved", "status": "False", "message": "insufficient unused quota"}
    assert admission_of({"status": {"conditions": [waiting_for]}}) == Admission(False, "insufficient unused quota")
    admitted = {"type": "Admitted", "status": "True", "message": "The workload is admitted"}
    assert admission_of({"status": {"conditions": [waiting_for, admitted]}}).admitted
