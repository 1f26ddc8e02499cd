"""Stacks on Cluster Director on the command line."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from cli.app import app


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments, "-s", "slurm-v6e"])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_plan_says_what_the_stack_amounts_to_and_how_to_start() -> None:
    shown = run("plan")
    assert "2 slices of tpuv6e:2x4, 4 TPU VMs, 16 chips, Slurm cluster pathways in us-east5-b" in shown
    assert "bash /mnt/pathways/scripts/start_pathways.sh" in shown


def test_the_plan_as_json_holds_the_clusters_arguments() -> None:
    plan = json.loads(run("plan", "--json"))
    assert plan["cluster"]["cluster_id"] == "pathways"
    assert plan["outputs"]["chips"] == 16


def test_render_prints_the_job_scripts() -> None:
    rendered = run("render")
    assert "#### start_pathways.sh\n#!/bin/bash\n" in rendered
    assert ': "${SLICE_SHAPE:=2x4}"' in rendered


def test_there_is_no_picture_of_it_and_that_is_said() -> None:
    done = CliRunner().invoke(app, ["plan", "-s", "slurm-v6e", "--svg", "x.svg"])
    assert done.exit_code == 2
    assert "no picture of a stack on Cluster Director" in done.output
