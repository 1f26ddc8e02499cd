"""Programs in place of images, and what GKE adds to TPU containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rehearsal.kubernetes.agent import colocated_python, tpu
from rehearsal.kubernetes.agent.programs import UnknownImageError, program_of
from tests.unit.agent.samples import container, node, pod

CLIENT = Path("/cache/client")
TPU = {"limits": {"google.com/tpu": "4"}}
JOB = {"metadata": {"name": "pathways-worker-0"}, "spec": {"completions": 4}}
WORKER = {"labels": {tpu.COMPLETION_INDEX: "1"}, "subdomain": "pathways"}


@pytest.mark.parametrize("name", ["server", "proxy_server"])
def test_pathways_images_are_the_stand_ins_wherever_they_are_pulled_from(name: str) -> None:
    program = program_of(container(image=f"mirror.example.com/tpu/{name}:jax-0.11.1@sha256:abc"), CLIENT)
    assert program.argv[1:] == ["-m", "rehearsal.standins"] and program.entrypoint == [name]


def test_whatever_its_image_a_jax_client_runs_in_the_environment_with_jax() -> None:
    env = [{"name": "JAX_BACKEND_TARGET", "value": "grpc://head:29000"}]
    program = program_of(container(image="example.com/pretrain:1", env=env), CLIENT)
    assert program.argv[0] == "/cache/client/bin/python"
    assert program.environment["PATH"].startswith("/cache/client/bin:")


def test_an_image_without_a_program_is_told_which_ones_have() -> None:
    with pytest.raises(UnknownImageError, match=r"'nginx:1'.*server and proxy_server.*JAX_BACKEND_TARGET"):
        program_of(container(image="nginx:1"), CLIENT)


def test_a_worker_learns_its_slice_from_its_node_and_its_peers_from_its_job() -> None:
    found = tpu.variables(container(resources=TPU), pod(**WORKER), node(), JOB)
    assert (found["TPU_TOPOLOGY"], found["TPU_HOST_BOUNDS"], found["TPU_CHIPS_PER_HOST_BOUNDS"]) == (
        "4x4",
        "2,2,1",
        "2,2,1",
    )
    assert found["TPU_WORKER_ID"] == "1"
    assert found["TPU_WORKER_HOSTNAMES"].split(",")[3] == "pathways-worker-0-3.pathways"


def test_a_container_without_chips_gets_none_of_it() -> None:
    assert tpu.variables(container(), pod(), node(), JOB) == {}


def test_a_part_of_a_vms_chips_is_refused() -> None:
    with pytest.raises(tpu.RejectedError, match=r"asks for 2 TPU chips .* all of its 4"):
        tpu.variables(container(resources={"limits": {"google.com/tpu": "2"}}), pod(**WORKER), node(), JOB)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"GRPC_SERVER_ADDRESS": "50051"}, "GRPC_SERVER_ADDRESS must be ADDRESS:PORT, not 50051"),
        ({}, "GRPC_SERVER_ADDRESS must be"),
        ({"GRPC_SERVER_ADDRESS": "0.0.0.0:50051"}, "SHM_DIRECTORY is not set"),
        (
            {"GRPC_SERVER_ADDRESS": "0.0.0.0:50051", "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY": "/tmp/x"},
            "/tmp/x is no volume",
        ),
    ],
)
def test_the_colocated_python_server_refuses_wrong_settings(environment: dict[str, str], message: str) -> None:
    assert message in (colocated_python.fault(environment, "none /proc proc rw 0 0\n") or "")


def test_the_colocated_python_server_takes_right_settings() -> None:
    right = {
        "GRPC_SERVER_ADDRESS": "0.0.0.0:50051",
        "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY": "/tmp/shared-memory",
    }
    assert colocated_python.fault(right, "tmpfs /tmp/shared-memory tmpfs rw 0 0\n") is None
