"""Rehearsals for tests: each in a folder of its own, driven by the commands a user types."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal import view
from rehearsal.home import CHECKOUT, Home
from rehearsal.session import Session
from rehearsal.tools import Tools

# Far beyond what any command takes, so that one that hangs is a failure and not a silence.
LONGEST_SECONDS = 900


class Rehearsal:
    """`python -m rehearsal` on stack files that a test writes."""

    def __init__(self, root: Path) -> None:
        self.home = Home(root / "rehearsal")
        self._stacks = root
        self.environment = {
            **os.environ,
            "REHEARSAL_HOME": str(self.home.root),
            "COLUMNS": "200",
            "NO_COLOR": "1",
        }

    def stack(self, name: str, **changes: Any) -> str:
        """The path of a stack file: gke-v6e's settings with sections `pathways:<name>` updated; None takes one out."""
        source = CHECKOUT / "stacks" / "Pulumi.gke-v6e.yaml"
        document = yaml.safe_load(source.read_text())
        for section, value in changes.items():
            key = f"pathways:{section}"
            known = document["config"].get(key)
            changed = {**known, **value} if isinstance(known, dict) else value
            if isinstance(changed, dict):
                changed = {name: each for name, each in changed.items() if each is not None}
            document["config"][key] = changed
        path = self._stacks / f"Pulumi.{name}.yaml"
        path.write_text(yaml.safe_dump(document))
        return str(path)

    def run(self, *arguments: str, expect: int = 0) -> str:
        """Run a command to its end; all it printed."""
        done = subprocess.run(
            self._argv(arguments),
            check=False,
            timeout=LONGEST_SECONDS,
            env=self.environment,
            cwd=CHECKOUT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=_as_in_the_background,
        )
        assert done.returncode == expect, done.stdout
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own, as a terminal does."""
        return subprocess.Popen(
            self._argv(arguments),
            env=self.environment,
            cwd=CHECKOUT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def session(self) -> Session:
        return Session(self.home, Tools.locate())

    def pods(
        self, project: str = "example-ml", job_set: str = "pathways", namespace: str = "default"
    ) -> list[view.Pod]:
        session = self.session()
        [cluster] = view.clusters(session, project)
        return view.pods(view.api(session, cluster), namespace, job_set)

    def _argv(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "rehearsal", *arguments]


def _as_in_the_background() -> None:
    """As a shell starts `make up &`: without Ctrl-C, by which then nothing may be ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def kill_group(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Signal a command and all it started in its group."""
    os.killpg(process.pid, number)


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """One rehearsal for a module's tests, in a folder whose name has a space in it, as many a user's has."""
    made = Rehearsal(tmp_path_factory.mktemp("a rehearsal"))
    yield made
    made.session().stop()


@pytest.fixture
def fresh_rehearsal(tmp_path: Path) -> Iterator[Callable[[], Rehearsal]]:
    """A maker of rehearsals that a test may break."""
    made: list[Rehearsal] = []

    def make() -> Rehearsal:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Rehearsal(folder))
        return made[-1]

    yield make
    for rehearsal in made:
        rehearsal.session().stop()
