"""What is written for a stack: the commands of Google's page, the slices' geometry, and shell that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pathways import topology
from pathways.slurm import content_version, render
from tests.unit.slurm.example import service

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "slurm"
SHELLCHECK = Path(sys.executable).parent / "shellcheck"

# Introduction to Pathways on Cloud, Cluster Director part, word by word. The names in capitals are the page's.
PAGE = {
    "resource manager": """
        /pathways/server
        --server_port=29001
        --node_type=resource_manager
        --instance_type=tpuTPU_TYPE:TOPOLOGY
        --instance_count=MAX_SLICES
        --gcs_scratch_location=gs://BUCKET_NAME/pathways-scratch/shared
        --enable_gcs_olm=false""",
    "proxy": """
        /pathways/proxy_server
        --server_port=29000
        --resource_manager_address=RM_IP:29001
        --gcs_scratch_location=gs://BUCKET_NAME/pathways-scratch/shared
        --num_elastic_instances=MAX_SLICES""",
    "worker": """
        /pathways/server
        --server_port=29001
        --resource_manager_address=RM_IP:29001
        --gcs_scratch_location=gs://BUCKET_NAME/pathways-scratch/shared
        --enable_gcs_olm=false""",
}
# How the scripts spell the page's placeholders.
SPELLED = {
    "tpuTPU_TYPE:TOPOLOGY": "$INSTANCE_TYPE_PREFIX:$SLICE_SHAPE",
    "MAX_SLICES": "$MAX_SLICES",
    "BUCKET_NAME": "$GCS_BUCKET",
    "RM_IP": "$RM_IP",
}


def commands(script: str) -> list[list[str]]:
    """The servers' command lines in a script, without quotes, redirections and what Enroot takes."""
    joined = script.replace("\\\n", " ")
    found = re.findall(r"(/pathways/(?:proxy_)?server\b[^\n&>]*)", joined)
    return [line.replace('"', "").split() for line in found]


def page(component: str) -> list[str]:
    text = PAGE[component]
    for placeholder, spelled in SPELLED.items():
        text = text.replace(placeholder, spelled)
    return text.split()


def test_the_service_runs_the_pages_commands() -> None:
    assert commands(render(service())["start_pathways.sh"]) == [page("resource manager"), page("proxy")]


def test_a_worker_runs_the_pages_command() -> None:
    assert commands(render(service())["run_worker.sh"]) == [page("worker")]


def test_the_pages_images_are_used() -> None:
    settings = render(service())["settings.sh"]
    repository, tag = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways", "20261103-jax_0.11.1"
    assert f"SERVER_IMAGE={repository}/server:{tag}\n" in settings
    assert f"PROXY_IMAGE={repository}/proxy_server:{tag}\n" in settings


def test_an_image_that_knows_the_older_flag_gets_it() -> None:
    script = render(service(elastic_flag="--num_elastic_slices"))["start_pathways.sh"]
    assert commands(script)[1][-1] == "--num_elastic_slices=$MAX_SLICES"


@pytest.mark.parametrize(
    ("accelerator", "shape", "expected"),
    [
        # Shape, VMs, accelerator type, host bounds.
        ("v6e", "2x4", "2x4 2 v6e-8 1,2,1"),
        ("v6e", "4x4", "4x4 4 v6e-16 2,2,1"),
        ("v5e", "4x8", "4x8 8 v5litepod-32 2,4,1"),
        ("v5p", "2x2x4", "2x2x4 4 v5p-32 1,1,4"),
        ("tpu7x", "4x4x4", "4x4x4 16 tpu7x-128 2,2,4"),
    ],
)
def test_a_slice_shape_has_its_geometry(accelerator: str, shape: str, expected: str) -> None:
    assert expected in render(service(accelerator, shape, tpu_nodes=16))["settings.sh"].splitlines()


@pytest.mark.parametrize(
    ("accelerator", "shape", "prefix"),
    [("v5e", "2x4", "tpuv5e"), ("v5p", "2x2x2", "tpuv5"), ("v6e", "2x4", "tpuv6e"), ("tpu7x", "2x2x2", "tpu7x")],
)
def test_the_instance_type_begins_as_pathways_names_the_generation(accelerator: str, shape: str, prefix: str) -> None:
    settings = render(service(accelerator, shape))["settings.sh"]
    assert f"INSTANCE_TYPE_PREFIX={prefix}\n" in settings
    assert topology.resolve(accelerator, shape).instance_type == f"{prefix}:{shape}"


def test_only_slices_that_fit_on_the_cluster_can_be_asked_for() -> None:
    lines = render(service(tpu_nodes=4))["settings.sh"].splitlines()
    table = lines[lines.index('SLICE_SHAPES="\\') + 1 : lines.index('"')]
    assert [line.split()[0] for line in table] == ["2x2", "2x4", "4x4"]


def test_what_a_user_sets_wins_over_what_the_stack_wrote(tmp_path: Path) -> None:
    (tmp_path / "settings.sh").write_text(render(service())["settings.sh"])
    shown = subprocess.run(
        ["bash", "-c", f". {tmp_path}/settings.sh; echo $SLICE_SHAPE $MIN_SLICES $MAX_SLICES $GCS_BUCKET"],
        env={"HOME": "/home/me", "SLICE_SHAPE": "4x4", "MAX_SLICES": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["4x4", "1", "1", "example-scratch"]


def test_the_version_names_the_content() -> None:
    files = render(service())
    assert content_version(files) == content_version(dict(reversed(files.items())))
    assert content_version(files) != content_version(render(service(max_slices=1)))
    assert re.fullmatch(r"[0-9a-f]{12}", content_version(files))


@pytest.mark.parametrize("name", sorted(render(service())))
def test_a_script_is_the_reviewed_one(name: str) -> None:
    rendered, golden = render(service())[name], GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(rendered)
    assert golden.read_text() == rendered


@pytest.mark.parametrize(("accelerator", "shape"), [("v6e", "2x4"), ("tpu7x", "2x2x2")])
def test_shellcheck_finds_nothing(accelerator: str, shape: str, tmp_path: Path) -> None:
    files = render(service(accelerator, shape))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = subprocess.run(
        [SHELLCHECK, "--external-sources", *files], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.stdout + found.stderr == ""


def test_every_script_is_shell(tmp_path: Path) -> None:
    for name, text in render(service()).items():
        (tmp_path / name).write_text(text)
        subprocess.run(["bash", "-n", tmp_path / name], check=True)
