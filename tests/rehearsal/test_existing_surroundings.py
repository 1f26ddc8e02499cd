"""A stack in a network, a cluster and a bucket that others made."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable

import pytest

from rehearsal.view import Pod
from tests.rehearsal.conftest import Rehearsal
from tests.unit.google.running import CLUSTERS, PROJECT, REGION, Double, RecordingRuntime, cluster

# What a control plane takes to start on a machine that does other things too.
PATIENCE_SECONDS = 300


def make_surroundings(double: Double) -> None:
    """The network `net` with its subnet, the cluster `theirs` in it, and the bucket `theirs`."""
    double.enable()
    double.network()
    double.call("POST", f"/storage/storage/v1/b?project={PROJECT}", {"name": "theirs", "location": REGION})
    operation = double.call("POST", CLUSTERS, {"cluster": cluster(name="theirs")})
    path = f"/container/v1/projects/{PROJECT}/locations/{REGION}/operations/{operation['name']}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while double.call("GET", path)["status"] != "DONE":
        assert time.monotonic() < deadline, double.call("GET", path)
        time.sleep(0.2)


def pools_of_slices(pods: list[Pod]) -> list[dict[str, int]]:
    slices: dict[int, Counter[str]] = {}
    for pod in pods:
        assert pod.phase == "Running", pod
        if pod.job == "worker":
            slices.setdefault(pod.index, Counter())[pod.pool] += 1
    return sorted(map(dict, slices.values()), key=str)


@pytest.mark.extended
def test_a_stack_runs_in_a_cluster_and_with_a_bucket_that_exist(fresh_rehearsal: Callable[[], Rehearsal]) -> None:
    rehearsal = fresh_rehearsal()
    stack = rehearsal.stack(
        "gke-v6e",
        cluster={"existing": "theirs", "deletionProtection": None},
        scratch={"existing": True, "bucket": "theirs", "forceDestroy": None, "retentionDays": None},
    )
    # Starts the servers; the stack itself comes when its surroundings are there.
    rehearsal.run("preview", rehearsal.stack("other"))
    make_surroundings(Double(rehearsal.session().google_url, RecordingRuntime()))
    rehearsal.run("up", stack)
    assert pools_of_slices(rehearsal.pods()) == [{"tpu-np-0": 4}, {"tpu-np-1": 4}]
    again = rehearsal.run("up", stack)
    assert re.search(r"\d+ unchanged", again)
    assert not re.search(r"\d+ (created|updated|replaced|deleted)", again), again
