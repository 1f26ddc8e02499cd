"""A stack that waits in Kueue's queue."""

from __future__ import annotations

import pytest

from rehearsal import faults
from rehearsal.tools import Tools
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.dayafter.conftest import Commands, ids, well

pytestmark = pytest.mark.extended


def test_a_stopped_queue_is_what_the_stack_waits_for(rehearsal: Rehearsal) -> None:
    if Tools.locate().missing(["kueue"]):
        pytest.skip("kueue is not built: python -m rehearsal.tools kueue")
    stack = rehearsal.stack("gke-v6e", kueue={"enabled": True})
    rehearsal.run("up", stack)
    commands = Commands(rehearsal, stack)
    assert commands.until(well)["admission"]["admitted"]
    faults.switch(rehearsal.session(), "queue-stopped", on=True)
    found = commands.until(lambda status: ids(status)[:1] == ["kueue-waiting"])
    assert "Kueue has not admitted JobSet pathways" in found["troubles"][0]["evidence"]
    assert found["troubles"][0]["next"] == "kubectl get workloads,clusterqueues -A"
    faults.switch(rehearsal.session(), "queue-stopped", on=False)
    commands.until(well)
