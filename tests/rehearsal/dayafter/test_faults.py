"""Every diagnosis of a GKE stack, produced on a rehearsal by what goes wrong there; its next command is tried where it mends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.status.diagnoses import DIAGNOSES
from pathways import names
from pathways.labels import REPLICATED_JOB
from tests.rehearsal.dayafter.conftest import Commands, ids, well

pytestmark = pytest.mark.extended

Fault = Callable[[str], None]
PODS = "/api/v1/namespaces/default/pods"
JOB_SET = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/pathways"


@pytest.mark.parametrize(
    ("switched", "id", "evidence", "command"),
    [
        ("cluster-degraded", "cluster-error", "gke-v6e is DEGRADED", "gcloud container clusters describe gke-v6e"),
        ("pool-broken", "pool-error", "pool tpu-np-0 is RUNNING_WITH_ERROR", "node-pools describe tpu-np-0"),
        ("nodes-lost", "nodes-missing", "pool tpu-np-0 has 3 of 4 nodes", "gcloud container operations list"),
        ("cordon", "pods-unschedulable", "4 node(s) were unschedulable", "kubectl describe pod pathways-worker-"),
        ("pod-quota", "pods-refused", "exceeded quota: rehearsal-no-pods", "kubectl describe resourcequota -n default"),
        ("topology-mismatch", "topology-mismatch", "didn't match Pod's node affinity", "pulumi preview"),
        ("image-tag", "image-pull", "worker in 8 pods waits for its image", "pathways preflight"),
        ("crash-loop", "container-failing", "worker in 8 pods is in CrashLoopBackOff (exit code 1", "logs worker"),
        ("slow-start", "slice-incomplete", "slice 0 has 0 of 4 workers ready", "pathways events"),
        ("protocol-version", "protocol-version", "does not overlap with server range", "pathways plan"),
        ("bucket-update", "bucket-update", "storage.buckets.update", "lifecycleOwner: stack"),
        ("bucket-forbidden", "bucket-forbidden", "storage.objects.create", "pulumi refresh"),
        ("no-bucket", "no-bucket", "bucket does not exist", "pulumi refresh"),
        ("second-client", "second-client", "already connected", "workload.mode: service"),
    ],
)
def test_what_goes_wrong_is_the_first_thing_said(
    commands: Commands, fault: Fault, switched: str, id: str, evidence: str, command: str
) -> None:
    fault(switched)
    found = commands.until(lambda status: ids(status)[:1] == [id])
    assert evidence in found["troubles"][0]["evidence"] and command in found["troubles"][0]["next"]


def test_a_tag_that_is_gone_is_found_before_up_too(commands: Commands, fault: Fault) -> None:
    fault("image-tag")
    before = commands.run("preflight")
    assert before.returncode == 1 and "[images-exist]" in before.stdout


def test_what_a_worker_says_is_logged_and_diagnosed(commands: Commands, fault: Fault) -> None:
    fault("head-dns")
    assert ids(commands.status()) == ["head-dns"]
    lines = commands.run("logs", "worker", "--json")
    said = [json.loads(each) for each in lines.stdout.splitlines()]
    assert any("DNS resolution failed for pathways-pathways-head-0-0.pathways" in each["text"] for each in said)


def test_another_stack_is_not_deployed(commands: Commands) -> None:
    found = commands.status(stack=commands.rehearsal.stack("other"))
    assert ids(found) == ["not-deployed"] and "pulumi up -s other" in found["troubles"][0]["next"]


def test_a_job_set_that_somebody_suspended_goes_on_by_the_next_command(commands: Commands) -> None:
    with commands.kubernetes() as api:
        api.patch(JOB_SET, {"spec": {"suspend": True}})
        found = commands.until(lambda status: "jobset-suspended" in ids(status))
        command = found["troubles"][0]["next"]
        assert ids(found)[0] == "jobset-suspended" and "kubectl patch jobset pathways -n default" in command
        patch = re.search(r"-p '(.*)'", command)
        assert patch and patch[1] == '{"spec":{"suspend":false}}'
        api.patch(JOB_SET, {"spec": {"suspend": False}})
    commands.until(well)


@pytest.fixture
def mended(commands: Commands) -> Iterator[None]:
    """After a test, what several diagnoses name as the next commands: refresh and up. Then all must be well."""
    yield
    commands.rehearsal.run("refresh", commands.stack)
    commands.rehearsal.run("up", commands.stack)
    commands.until(well)


@pytest.mark.usefixtures("mended")
def test_what_somebody_removed_is_missing(commands: Commands) -> None:
    with commands.kubernetes() as api:
        api.delete(JOB_SET, dependents=True)
    pool = "projects/example-ml/locations/us-east5/clusters/gke-v6e/nodePools/tpu-np-1"
    commands.google("DELETE", f"/container/v1/{pool}")
    found = commands.until(lambda status: {"pool-missing", "jobset-missing"} <= set(ids(status)))
    evidence = {each["id"]: each["evidence"] for each in found["troubles"]}
    assert evidence["pool-missing"] == "there is no node pool tpu-np-1"
    assert evidence["jobset-missing"] == "namespace default has no JobSet pathways"
    assert all("pulumi refresh" in each["next"] for each in found["troubles"])


@pytest.mark.usefixtures("mended")
def test_a_head_that_ends_with_an_error_fails_the_job_set(commands: Commands) -> None:
    heads = {"labelSelector": f"{REPLICATED_JOB}={names.HEAD_JOB}"}
    with commands.kubernetes() as api:

        def failed(status: dict[str, Any]) -> bool:
            for pod in api.items(PODS, **heads):
                if pod["status"].get("phase") == "Running":
                    api.patch(f"{PODS}/{pod['metadata']['name']}/status", {"status": {"phase": "Failed"}})
            return ids(status)[:1] == ["jobset-failed"]

        found = commands.until(failed)
        assert "JobSet pathways failed after" in found["troubles"][0]["evidence"]
        api.delete(JOB_SET, dependents=True)


@pytest.mark.parametrize(
    ("switched", "id", "said"),
    [("stock-out", "stock-out", "ZONE_RESOURCE_POOL_EXHAUSTED"), ("quota", "quota-exceeded", "TPUS_PER_TPU_FAMILY")],
)
def test_a_slice_that_cannot_be_had_fails_up_and_is_diagnosed(
    commands: Commands, fault: Fault, switched: str, id: str, said: str
) -> None:
    wider = commands.rehearsal.stack("gke-v6e", slices={"count": 3})
    fault(switched)
    try:
        assert said in commands.rehearsal.run("up", wider, expect=1)
        found = commands.status()
    finally:
        commands.rehearsal.run("up", commands.rehearsal.stack("gke-v6e"))
    assert ids(found)[0] == id and "pool tpu-np-2 is ERROR" in found["troubles"][0]["evidence"]


def test_every_diagnosis_is_produced_on_a_rehearsal() -> None:
    text = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for diagnosis in DIAGNOSES:
        assert f'"{diagnosis.id}"' in text, diagnosis.id
