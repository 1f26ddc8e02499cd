"""An `up` that was cut off, and the one after it."""

from __future__ import annotations

import re
import signal
import time

import psutil
import pytest

from rehearsal.recovery import UPDATE_OF
from tests.rehearsal.conftest import Rehearsal, kill_group

# What is in question is Pulumi's state, for which it does not matter whether the pods' containers run.
UP = ("up", "--no-run-pods")


def cut_off(rehearsal: Rehearsal, stack: str, moment: str, number: signal.Signals) -> str:
    """Start `up`, send it a signal once it has printed `moment`, and return what it printed."""
    process = rehearsal.start(*UP, stack)
    assert process.stdout
    printed = ""
    for line in process.stdout:
        printed += line
        if re.search(moment, line):
            break
    else:
        pytest.fail(f"up never said {moment}:\n{printed}")
    kill_group(process, number)
    return printed + process.stdout.read()


# What an interrupted `up` leaves is with the provider's tests too: provider/test_engine.py.
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.extended)])
def test_up_after_a_cut_off_up_ends_in_the_same_state(rehearsal: Rehearsal, number: signal.Signals) -> None:
    stack = rehearsal.stack("gke-v6e")
    cut_off(rehearsal, stack, r"NodePool cpu-np creating", number)
    shown = rehearsal.run(*UP, stack)
    assert "2 slices of tpuv6e:4x4, 8 TPU VMs, 32 chips" in shown
    assert all(pod.phase == "Running" for pod in rehearsal.pods())
    assert len(rehearsal.pods()) == 9
    again = rehearsal.run(*UP, stack)
    assert re.search(r"49 unchanged", again) and not re.search(r"\d+ (created|updated|replaced)", again)
    rehearsal.run("down", stack)


def test_a_killed_up_leaves_no_plugin_behind_after_down(rehearsal: Rehearsal) -> None:
    stack = rehearsal.stack("gke-v6e")
    cut_off(rehearsal, stack, r"Bucket bucket creat", signal.SIGKILL)
    rehearsal.run("down", stack)
    deadline = time.monotonic() + 10
    while (left := _of(rehearsal)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []


def _of(rehearsal: Rehearsal) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(UPDATE_OF) == str(rehearsal.home.root):
                found.append(process.name())
        except psutil.Error:
            continue
    return found
