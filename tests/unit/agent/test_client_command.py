"""What runs in place of a client's command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.kubernetes.agent import client_command


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (["sh", "-c", "true"], None),
        ([sys.executable, "-m", "json.tool"], None),
        ([sys.executable, "-c", "pass"], None),
        ([sys.executable, "-m", "pretrain"], "the Python module pretrain"),
        ([sys.executable, "-m", "flagship.train"], "the Python module flagship.train"),
        ([sys.executable, "train.py"], "train.py"),
        (["/app/train"], "/app/train"),
        ([], "the image's own command"),
    ],
)
def test_it_is_known_what_of_a_command_a_rehearsal_lacks(command: list[str], missing: str | None) -> None:
    assert client_command.lacking(command) == missing


def run(*command: str) -> list[str]:
    environment = {**os.environ, "REHEARSAL_CHECK": json.dumps(["echo", "checked"])}
    argv = [sys.executable, client_command.__file__, *command]
    return subprocess.run(argv, check=True, env=environment, capture_output=True, text=True).stdout.splitlines()


def test_a_command_runs_as_it_is(tmp_path: Path) -> None:
    assert run("echo", "trained") == ["trained"]


def test_in_place_of_a_program_that_is_missing_the_check_runs_and_says_so() -> None:
    said, checked = run("python", "-m", "pretrain")
    assert said.startswith("The rehearsal lacks the Python module pretrain: ") and checked == "checked"
