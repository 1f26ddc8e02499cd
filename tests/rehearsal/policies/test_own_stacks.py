"""This project's stacks keep the policies of their environments."""

from __future__ import annotations

import os
import subprocess

import pytest

from ci import stacks
from cli.report import reading, summary
from pathways import prices
from rehearsal.project import StackFile
from rehearsal.pulumi import Stack
from tests.rehearsal.policies.conftest import Previewer


@pytest.mark.parametrize("stack", stacks.all_stacks(), ids=lambda stack: stack.name)
def test_a_shipped_stack_keeps_the_policies_of_its_environment(previewer: Previewer, stack: stacks.Stack) -> None:
    session = previewer.session
    Stack(session, StackFile.find(stack.name)).prepare()
    argv = ["preview", "--json", "--stack", stack.name, "--cwd", str(session.home.project), "--non-interactive",
            "--policy-pack", str(stacks.CHECKOUT / "policies"), "--policy-pack-config", str(stack.policies)]  # fmt: skip
    environment = {**os.environ, **session.environment(), "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"}
    done = subprocess.run(
        [str(session.home.bin / "pulumi"), *argv], env=environment, capture_output=True, text=True, check=False
    )
    report = summary.summarise(reading.read(done.stdout, stack.name), prices.example())
    assert (report.preview.errors, report.mandatory) == ((), ())
    assert report.verdict is summary.Verdict.CHANGES
    assert report.after.chips
    # Cluster Director's node sets say how many VMs there are, but not which of them form a slice.
    assert report.after.slices or stack.name == "slurm-v6e"
