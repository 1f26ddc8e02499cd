"""What a user is told who asks for something that cannot be: start_pathways.sh with Slurm's commands played."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pathways.slurm import render
from tests.unit.slurm.example import TAG, service

# What the cluster's commands answer when all is well.
WELL = {
    "gcloud": "echo example-scratch",
    "sinfo": "echo cpu-0 is idle",
    "squeue": "exit 0",
    "sbatch": "echo Submitted batch job 7",
}
Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Runs start_pathways.sh on a login node, with environment variables and commands of the test's choice."""
    for name, text in render(service()).items():
        (tmp_path / name).write_text(text)
    images = tmp_path / "home" / "pathways" / "images"
    images.mkdir(parents=True)
    for name in ("server", "proxy_server"):
        (images / f"{name}-{TAG}.sqsh").touch()

    def run(commands: dict[str, str] | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        programs = tmp_path / "bin"
        programs.mkdir(exist_ok=True)
        for name, body in {**WELL, **(commands or {})}.items():
            (programs / name).write_text(f"#!/bin/bash\n{body}\n")
            (programs / name).chmod(0o755)
        environment = {"HOME": str(tmp_path / "home"), "PATH": f"{programs}:{os.defpath}", **variables}
        return subprocess.run(
            ["bash", tmp_path / "start_pathways.sh"], env=environment, capture_output=True, text=True, check=False
        )

    return run


def test_a_request_that_can_be_met_is_submitted(start: Start) -> None:
    done = start()
    assert (done.returncode, done.stdout) == (0, "Submitted batch job 7\n")


@pytest.mark.parametrize(
    ("variables", "wrong", "fix"),
    [
        ({"SLICE_SHAPE": "4x2"}, "SLICE_SHAPE=4x2 is no v6e slice that fits", "one of 2x2, 2x4, 4x4"),
        ({"SLICE_SHAPE": "16x16"}, "SLICE_SHAPE=16x16 is no v6e slice that fits", "one of 2x2, 2x4, 4x4"),
        ({"MIN_SLICES": "3"}, "MIN_SLICES=3 is more than MAX_SLICES=2", "lower MIN_SLICES or raise MAX_SLICES"),
        ({"MIN_SLICES": "0"}, "MIN_SLICES=0 is not a number of slices", "set MIN_SLICES to 1 or more"),
        ({"MAX_SLICES": "two"}, "MAX_SLICES=two is not a number of slices", "set MAX_SLICES to 1 or more"),
        ({"MAX_SLICES": "3"}, "3 slices of 2x4 take 6 TPU VMs; the cluster has 4", "set MAX_SLICES to 2 or less"),
        ({"GCS_BUCKET": "gs://b"}, "GCS_BUCKET=gs://b is not a bucket name", "without gs://"),
    ],
)
def test_a_request_that_cannot_be_met_is_explained(
    start: Start, variables: dict[str, str], wrong: str, fix: str
) -> None:
    done = start(**variables)
    assert done.returncode == 1
    error, to_do = done.stderr.splitlines()
    assert wrong in error
    assert to_do.startswith("    to do: ") and fix in to_do


def test_a_missing_bucket_is_said_with_googles_reason(start: Start) -> None:
    done = start({"gcloud": "echo 'ERROR: gs://example-scratch not found: 404.' >&2; exit 1"})
    assert "the bucket gs://example-scratch cannot be read: ERROR: gs://example-scratch not found" in done.stderr
    assert "to do: set GCS_BUCKET to a bucket that exists" in done.stderr
    assert done.returncode == 1


def test_missing_images_lead_to_the_setup_script(start: Start, tmp_path: Path) -> None:
    (tmp_path / "home" / "pathways" / "images" / f"server-{TAG}.sqsh").unlink()
    assert "to do: run setup_env.sh" in start().stderr


def test_a_cluster_without_a_usable_cpu_node_is_said_with_its_state(start: Start) -> None:
    done = start({"sinfo": "echo cpu-0 is drained; echo cpu-1 is down*"})
    assert "no CPU node can run the service: cpu-0 is drained, cpu-1 is down*" in done.stderr
    assert "sinfo --list-reasons" in done.stderr


def test_a_cluster_without_the_partition_is_said(start: Start) -> None:
    assert "the cluster has no partition cpu" in start({"sinfo": "exit 0"}).stderr
    only_cpu = "[[ $* == *--partition=tpu* ]] || echo cpu-0 is idle"
    assert "the cluster has no partition tpu" in start({"sinfo": only_cpu}).stderr


def test_a_service_that_runs_already_is_named(start: Start, tmp_path: Path) -> None:
    address = tmp_path / "home" / "pathways" / "cluster.env"
    address.write_text("export PATHWAYS_JOB_ID=5\n")
    done = start({"squeue": "echo RUNNING"})
    assert "your Pathways service job 5 runs already" in done.stderr
    assert "scancel 5" in done.stderr


def test_what_a_dead_service_left_is_no_hindrance(start: Start, tmp_path: Path) -> None:
    address = tmp_path / "home" / "pathways" / "cluster.env"
    address.write_text("export PATHWAYS_JOB_ID=5\n")
    assert start({"squeue": "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"}).returncode == 0


def test_a_powered_down_cpu_node_will_do(start: Start) -> None:
    assert start({"sinfo": "echo cpu-0 is idle~"}).returncode == 0
