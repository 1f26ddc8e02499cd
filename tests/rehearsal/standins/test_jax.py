"""Real JAX against the stand-ins: what it sees, what it computes, and what it is told when something is wrong."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from rehearsal.client import ENVIRONMENT
from rehearsal.client.check import OCCUPIED, UNREACHABLE, USAGE, WRONG_DEVICES
from rehearsal.processes import wait_for
from rehearsal.standins.slices import InstanceType
from tests.rehearsal.standins.pathways import PATIENCE, PROXY, Pathways, running

CLIENT = Path(__file__).with_name("client.py")
Json = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def _environment() -> None:
    ENVIRONMENT.ensure()


@pytest.fixture(scope="module")
def pathways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pathways]:
    """Two slices of two hosts, one of which may be missing."""
    with running(tmp_path_factory.mktemp("pathways"), "tpuv6e:2x4", slices=2, elastic=1) as servers:
        yield servers


def client(pathways: Pathways, what: str) -> subprocess.Popen[str]:
    command = [str(ENVIRONMENT.python), str(CLIENT), what]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=pathways.client_environment(), text=True, **pipes)


def told(pathways: Pathways, what: str) -> list[Json]:
    """All that a client tells."""
    output, errors = client(pathways, what).communicate(timeout=120)
    assert output, errors
    return [json.loads(line) for line in output.splitlines()]


def test_jax_sees_the_chips_of_the_workers(pathways: Pathways) -> None:
    kind = InstanceType.parse(pathways.instance_type)
    expected = [asdict(device) for index in range(2) for device in kind.devices(index)]
    for device in expected:
        del device["host"]
        device |= {"platform": "tpu", "coords": list(device["coords"])}
    assert told(pathways, "devices") == expected


def test_jax_computes_over_all_slices(pathways: Pathways) -> None:
    numbers = list(range(pathways.devices * 4))
    first, donation, refusal, last = told(pathways, "values")
    assert first["back"] == first["moved"] == numbers
    assert first["psum"] == sum(numbers)
    assert first["bfloat16"] == 64
    assert first["integers"] == [0, 1, 2]
    assert donation == {"donated": True, "result": 1}
    assert "The rehearsed Pathways has no host callbacks (jax.debug.print" in refusal["refused"]
    assert last["after"] == sum(numbers) + len(numbers), "the session goes on after a request that is not served"


def test_the_check_says_each_step(pathways: Pathways) -> None:
    done = pathways.check("--slices", "2", "--devices", "16")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "connecting",
        "connected",
        "devices",
        "sum",
        "matmul",
    ]
    assert "16 devices in 2 slices: TPU v6 lite" in done.stdout


def test_the_check_names_the_slices_that_are_there(pathways: Pathways) -> None:
    done = pathways.check("--slices", "3", "--devices", "24")
    assert done.returncode == WRONG_DEVICES
    assert "16 devices in 2 slices (slice 0: 8, slice 1: 8); expected are 24 devices in 3 slices" in done.stderr


def test_an_elastic_client_outlives_a_slice_and_is_the_only_one(pathways: Pathways) -> None:
    first = client(pathways, "elastic")
    assert first.stdin and first.stdout

    def ask() -> Json:
        assert first.stdin and first.stdout
        first.stdin.write("\n")
        first.stdin.flush()
        answer: Json = json.loads(first.stdout.readline())
        return answer

    assert ask() == {"active": [0, 1], "kept": [1, 2, 3]}
    second = pathways.check("--slices", "2", "--devices", "16", "--timeout", "2")
    assert second.returncode == OCCUPIED
    assert "Pathways serves one client at a time" in second.stderr

    pathways.stop("worker-1-0")
    pathways.said("resource-manager", "slice 1 lost")
    assert ask() == {"active": [0], "kept": "DATA_LOSS: Slice 1 is lost."}

    pathways.start_worker(1, 0)
    # The proxy hears of it a moment after the worker.
    wait_for(lambda: ask()["active"] == [0, 1], "the client has the slice back", PATIENCE)
    first.communicate(timeout=30)


def test_a_client_is_not_shown_a_lost_slice(pathways: Pathways) -> None:
    pathways.stop("worker-0-1")
    pathways.said("resource-manager", "slice 0 lost")
    done = pathways.check("--slices", "2", "--devices", "16")
    assert done.returncode == WRONG_DEVICES
    assert "8 devices in 1 slices (slice 1: 8)" in done.stderr
    pathways.stop("worker-1-1")
    pathways.said("resource-manager", "slice 1 lost")
    done = pathways.check("--slices", "2", "--devices", "16", "--timeout", "2")
    assert done.returncode == UNREACHABLE
    assert "0 of 2 slices are ready, and 1 may be missing (--num_elastic_slices)" in done.stderr


def test_the_check_says_when_nobody_listens(pathways: Pathways) -> None:
    wrong = {"JAX_BACKEND_TARGET": f"grpc://{pathways.head}:{PROXY + 9}"}
    done = pathways.check("--slices", "2", "--devices", "16", "--timeout", "1", **wrong)
    assert done.returncode == UNREACHABLE
    assert f"grpc://{pathways.head}:{PROXY + 9} does not answer as Pathways does" in done.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("JAX_PLATFORMS", "cpu"),
        ("JAX_BACKEND_TARGET", "127.0.0.1:29000"),
        ("IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS", "false"),
        ("IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS", ""),
    ],
)
def test_the_check_wants_the_settings_of_a_stack(pathways: Pathways, variable: str, value: str) -> None:
    done = pathways.check("--slices", "2", "--devices", "16", **{variable: value})
    assert done.returncode == USAGE
    assert f"{variable} " in done.stderr and repr(value) in done.stderr
