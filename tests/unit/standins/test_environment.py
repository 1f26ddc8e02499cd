"""Where JAX lies, and what a stand-in says of an environment that whoever starts it got wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from rehearsal import client
from rehearsal.client import CHECKOUT, ENVIRONMENT, VARIABLE
from rehearsal.environments import PythonEnvironment
from rehearsal.processes import free_port, wait_for

IMAGE = {"REHEARSAL_IMAGE": "server:jax-0.10.2"}


def test_another_lock_is_another_environment(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("a==1\n")
    environment = PythonEnvironment("test", lock, "a")
    first = environment.folder
    lock.write_text("a==2\n")
    assert environment.folder != first


@pytest.mark.parametrize("named", [False, True])
def test_a_half_made_environment_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if named:
        monkeypatch.setenv(VARIABLE, str(ENVIRONMENT.folder))
    ENVIRONMENT.python.parent.mkdir(parents=True)
    ENVIRONMENT.python.touch()
    assert client.python() is None
    (ENVIRONMENT.folder / "complete").touch()
    assert client.python() == ENVIRONMENT.python


def test_without_jax_a_proxy_starts_and_says_that_nobody_can_connect(tmp_path: Path) -> None:
    log = tmp_path / "log"
    flags = [
        f"--server_port={free_port()}",
        "--resource_manager_address=127.86.3.1:29001",
        "--gcs_scratch_location=gs://bucket",
    ]
    with log.open("wb") as output:
        proxy = start(
            ["proxy_server", *flags], output, REHEARSAL_ADDRESS="127.86.3.1", **IMAGE, **{VARIABLE: str(tmp_path)}
        )
        try:
            wait_for(lambda: "started with status OK" in log.read_text(), "the proxy starts", 30)
        finally:
            proxy.terminate()
            proxy.wait(20)
    assert "no client can connect" in log.read_text()


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["server"], {}, "the environment lacks REHEARSAL_IMAGE"),
        (["/pathways/worker"], IMAGE, "must be server or proxy_server"),
        ([], IMAGE, "must be server or proxy_server"),
    ],
)
def test_a_wrong_start_is_told_in_a_sentence(arguments: list[str], environment: dict[str, str], said: str) -> None:
    output, _ = start(arguments, subprocess.PIPE, **environment).communicate(timeout=30)
    assert said in output.decode()
    assert output.count(b"\n") == 1


def start(arguments: list[str], output: int | IO[bytes], **environment: str) -> subprocess.Popen[bytes]:
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-m", "rehearsal.standins", *arguments]
    return subprocess.Popen(command, env={**base, **environment}, stdout=output, stderr=subprocess.STDOUT)
