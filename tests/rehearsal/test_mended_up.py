"""An `up` whose pods do not run, and the one after the stack file was mended."""

from __future__ import annotations

import pytest

from rehearsal import faults
from tests.rehearsal.conftest import Rehearsal

pytestmark = pytest.mark.extended


def test_an_up_names_the_container_that_does_not_run_and_the_next_one_mends_it(rehearsal: Rehearsal) -> None:
    broken = rehearsal.stack("gke-v6e", runtime={"proxy": {"args": ["--no_such_flag=1"]}})
    said = rehearsal.run("up", broken, expect=1)
    assert "error: container pathways-proxy of pod pathways-pathways-head-0-0-" in said
    assert "Unknown command line flag 'no_such_flag'" in said

    mended = rehearsal.stack("gke-v6e")
    assert "devices     32 devices in 2 slices" in rehearsal.run("up", mended)
    rehearsal.run("down", mended)


def test_an_up_names_the_job_whose_pods_are_refused_and_the_next_one_goes_on(rehearsal: Rehearsal) -> None:
    rehearsal.run("up", rehearsal.stack("gke-v6e"))
    faults.switch(rehearsal.session(), "pod-quota", on=True)
    changed = rehearsal.stack("gke-v6e", workload={"terminationGraceSeconds": 20})
    said = rehearsal.run("up", changed, expect=1)
    assert "error: Job pathways-pathways-head-0 lacks 1 of 1 pod, which the API server refuses: " in said
    assert "exceeded quota: rehearsal-no-pods" in said and "fix: kubectl describe resourcequota -n default" in said
    assert "Job pathways-pathways-head-0 lacks 1 of 1 pod" in rehearsal.run("status", changed)

    faults.switch(rehearsal.session(), "pod-quota", on=False)
    assert "devices     32 devices in 2 slices" in rehearsal.run("up", changed)
    rehearsal.run("down", changed)
