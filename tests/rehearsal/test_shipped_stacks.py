"""Every shipped GKE stack as its file is: up, up again, down."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from pathways import names, plan, stackfile
from rehearsal.home import CHECKOUT
from rehearsal.tools import Tools
from tests.rehearsal.conftest import Rehearsal

STACKS = ("gke-v5e-dev", "gke-v6e-reserved", "gke-v5p-elastic", "gke-v6e-shared", "gke-tpu7x-production")
# By default the stack that make up takes, test_gke_stack.py, stands for them: each takes minutes.
pytestmark = pytest.mark.extended
CHANGES = r"\d+ (created|updated|replaced|deleted)"


def _expected(stack: str) -> plan.Plan:
    settings, _ = stackfile.from_file(CHECKOUT / "stacks" / f"Pulumi.{stack}.yaml")
    return plan.make(settings)


def _slices(
    rehearsal: Rehearsal, project: str = "example-ml", job_set: str = "pathways", namespace: str = "default"
) -> dict[str, Counter[str]]:
    """Running workers by the node pool they are on, per slice; the head's pods are checked on the way."""
    slices: dict[str, Counter[str]] = {}
    for pod in rehearsal.pods(project, job_set, namespace):
        assert pod.phase == "Running", pod
        if pod.job == names.HEAD_JOB:
            assert pod.pool == names.HEAD_POOL
        else:
            slices.setdefault(f"{pod.job} {pod.index}", Counter())[pod.pool] += 1
    return slices


@pytest.mark.parametrize("stack", STACKS)
def test_a_shipped_stack_runs_one_slice_per_pool_does_not_change_by_itself_and_goes(
    stack: str, fresh_rehearsal: Callable[[], Rehearsal]
) -> None:
    expected, rehearsal = _expected(stack), fresh_rehearsal()
    if expected.settings.kueue.enabled and Tools.locate().missing(["kueue"]):
        pytest.skip("kueue is not built: python -m rehearsal.tools kueue")
    workload = expected.settings.workload
    # A batch client that runs is done soon, and its slices are gone then.
    how = ["--no-run-pods"] if workload.mode == "batch" else []
    rehearsal.run("up", stack, *how)
    slices = _slices(rehearsal, expected.settings.project, workload.name, workload.namespace)
    assert sorted(slices.values(), key=str) == [Counter({pool.name: pool.nodes}) for pool in expected.tpu_pools]
    again = rehearsal.run("up", stack, *how)
    assert re.search(r"\d+ unchanged", again) and not re.search(CHANGES, again), again
    rehearsal.run("down", stack)
    assert not rehearsal.home.root.exists()


def test_queued_slices_get_their_nodes_when_kueue_asks_for_them(fresh_rehearsal: Callable[[], Rehearsal]) -> None:
    if Tools.locate().missing(["kueue"]):
        pytest.skip("kueue is not built: python -m rehearsal.tools kueue")
    rehearsal = fresh_rehearsal()
    capacity = {"type": "flexStart", "queued": True}
    queued = rehearsal.stack("gke-v6e", slices={"capacity": capacity}, kueue={"enabled": True})
    rehearsal.run("up", queued)
    slices = _slices(rehearsal)
    assert sorted(slices.values(), key=str) == [{"tpu-np-0": 4}, {"tpu-np-1": 4}]
    for command in ("refresh", "up"):
        # What Kueue writes into the JobSet is no change of it.
        again = rehearsal.run(command, queued)
        assert re.search(r"\d+ unchanged", again) and not re.search(CHANGES, again), again


def test_flex_start_slices_get_their_nodes_when_pods_wait_for_them(fresh_rehearsal: Callable[[], Rehearsal]) -> None:
    rehearsal = fresh_rehearsal()
    flexible = rehearsal.stack("gke-v6e", slices={"capacity": {"type": "flexStart"}})
    rehearsal.run("up", flexible)
    slices = _slices(rehearsal)
    assert sorted(slices.values(), key=str) == [{"tpu-np-0": 4}, {"tpu-np-1": 4}]
    again = rehearsal.run("up", flexible)
    assert re.search(r"\d+ unchanged", again) and not re.search(CHANGES, again), again
