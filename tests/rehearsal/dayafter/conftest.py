"""`pathways` on a running rehearsal: one deployed stack for a module, and faults that end with a test."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from rehearsal import faults, view
from rehearsal.home import CHECKOUT
from rehearsal.kubernetes.api import Api
from tests.rehearsal.conftest import Rehearsal

# What a control plane takes, on a machine that does other things too, to do what a fault asks of it.
PATIENCE_SECONDS = 180


class Commands:
    """`pathways` with the environment that `python -m rehearsal env` prints."""

    def __init__(self, rehearsal: Rehearsal, stack: str) -> None:
        self.rehearsal = rehearsal
        self.stack = stack
        self.environment = {**rehearsal.environment, **rehearsal.session().environment()}

    def run(
        self, command: str, *arguments: str, stack: str = "", without: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the stack; `without` is a variable to leave out."""
        return subprocess.run(
            [sys.executable, "-m", "cli", command, "-s", stack or self.stack, *arguments],
            env={key: value for key, value in self.environment.items() if key != without},
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def status(self, **how: str) -> dict[str, Any]:
        """What status sees, as JSON."""
        done = self.run("status", "--json", **how)
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (1 if found["troubles"] else 0)
        return found

    def until(self, good: Callable[[dict[str, Any]], bool], **how: str) -> dict[str, Any]:
        """What status sees once it is so."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not good(found := self.status(**how)):
            assert time.monotonic() < deadline, found
            time.sleep(1)
        return found

    def google(self, verb: str, path: str) -> None:
        """A request to the rehearsed Google Cloud, as somebody with gcloud makes it."""
        httpx.request(verb, self.rehearsal.session().google_url + path).raise_for_status()

    @contextmanager
    def kubernetes(self, project: str = "example-ml") -> Iterator[Api]:
        """The API of the one cluster, as somebody with kubectl has it."""
        session = self.rehearsal.session()
        [cluster] = view.clusters(session, project)
        with view.api(session, cluster) as api:
            yield api


def ids(status: dict[str, Any]) -> list[str]:
    return [each["id"] for each in status["troubles"]]


def well(status: dict[str, Any]) -> bool:
    return not status["troubles"]


@pytest.fixture(scope="module")
def commands(rehearsal: Rehearsal) -> Commands:
    """A stack that is deployed and well."""
    stack = rehearsal.stack("gke-v6e")
    rehearsal.run("up", stack)
    made = Commands(rehearsal, stack)
    made.until(well)
    return made


@pytest.fixture
def fault(commands: Commands) -> Iterator[Callable[[str], None]]:
    """Switches a fault on until the test ends, and waits until all is well again."""
    session = commands.rehearsal.session()
    on: list[str] = []

    def switch(name: str) -> None:
        on.append(name)
        faults.switch(session, name, on=True)

    yield switch
    for name in on:
        faults.switch(session, name, on=False)
    commands.until(well)
