"""A batch client that goes on while slices come and go, with real JAX on pods that run."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from rehearsal.home import CHECKOUT
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.kubernetes.pods import Pods

CLIENT = CHECKOUT / "tests" / "rehearsal" / "kubernetes" / "elastic_client.py"
ELASTIC = {
    "slices": {"topology": "2x4", "count": 2},
    "workload": {
        "mode": "batch",
        "image": "example.com/pretrain:1",
        "command": ["python", str(CLIENT), "2"],
        "elastic": {"slices": 1},
        "maxRestarts": 1,
    },
}


def _stack(rehearsal: Rehearsal) -> str:
    return rehearsal.stack("gke-v6e", **ELASTIC)


@pytest.fixture(scope="module")
def up(rehearsal: Rehearsal) -> str:
    """What `up` printed."""
    return rehearsal.run("up", _stack(rehearsal))


@pytest.fixture(scope="module")
def pods(up: str, rehearsal: Rehearsal) -> Pods:
    found = Pods(rehearsal)
    found.until("the client sees both slices", lambda: said(found) == [[0, 1]])
    return found


def said(pods: Pods) -> list[list[int]]:
    """The active slices, each time that the client told of a change."""
    log = pods.log(pods.head().name, "main")
    return [json.loads(line)["active"] for line in log.splitlines() if line.startswith("{")]


def test_up_names_a_program_of_the_users_own(up: str, pods: Pods) -> None:
    assert "it is a program of your own, and goes on" in up


def test_the_client_outlives_the_nodes_of_a_slice_and_takes_it_back(pods: Pods) -> None:
    head, lost = pods.head(), {pod.node for pod in pods.all() if pod.pool == "tpu-np-1"}
    index = next(pod.index for pod in pods.all() if pod.pool == "tpu-np-1")
    assert len(lost) == 2
    for node in lost:
        pods.api.delete(f"/api/v1/nodes/{node}")
    pods.until("the client has lost the slice", lambda: said(pods)[-1] == [1 - index])
    assert f"slice {index} lost" in pods.log(head.name, "pathways-rm")

    _resize(pods, "tpu-np-1", 2)
    pods.until("the client has the slice back", lambda: said(pods)[-1] == [0, 1])
    assert pods.head() == head and pods.restarts() == 0
    assert "is gone" not in pods.log(head.name, "pathways-proxy")


def test_a_client_that_fails_is_started_anew_with_all_slices(pods: Pods) -> None:
    before = {pod.name for pod in pods.all()}
    pods.run(pods.head().name, "main", "sh", "-c", "echo 7 > /tmp/end")
    pods.until("JobSet has begun anew", lambda: pods.restarts() == 1 and len(pods.all()) == 5 and pods.all_ready())
    assert not before & {pod.name for pod in pods.all()}
    pods.until("the new client sees both slices", lambda: said(pods)[-1:] == [[0, 1]])


def test_a_client_that_succeeds_completes_the_job_set(pods: Pods, rehearsal: Rehearsal) -> None:
    pods.run(pods.head().name, "main", "sh", "-c", "echo 0 > /tmp/end")
    path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/pathways"
    pods.until("it is complete", lambda: ((pods.api.get(path) or {}).get("status") or {}).get("terminalState"))
    assert (pods.api.get(path) or {})["status"]["terminalState"] == "Completed"
    again = rehearsal.run("up", _stack(rehearsal))
    assert re.search(r"\d+ unchanged", again) and not re.search(r"\d+ (created|updated|replaced|deleted)", again)


def _resize(pods: Pods, pool: str, count: int) -> None:
    """Have GKE bring a pool to its size, as it does by itself for spot capacity that is there again."""
    session = pods.rehearsal.session()
    place = f"projects/example-ml/locations/{pods.cluster['location']}/clusters/{pods.cluster['name']}"
    url = f"{session.google_url}/container/v1/{place}/nodePools/{pool}:setSize"
    httpx.post(url, json={"nodeCount": count}, timeout=120).raise_for_status()
