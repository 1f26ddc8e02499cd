"""The Pulumi CLI on a rehearsed stack."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from rehearsal import project, recovery
from rehearsal.errors import RehearsalError
from rehearsal.project import StackFile
from rehearsal.provider.pending import settle_pending_creates
from rehearsal.session import Session

_WATCH_SECONDS = 1.0


class Stack:
    """A stack of the rehearsal's own backend."""

    def __init__(self, session: Session, file: StackFile) -> None:
        self.name = file.name
        self._file = file
        self._session = session
        self._environment = {
            **os.environ,
            **session.environment(),
            recovery.UPDATE_OF: str(session.home.root),
        }
        # Set, it makes every run of the program compile the whole Google SDK anew.
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def prepare(self) -> None:
        """Lay the project and create the stack where it does not exist yet."""
        project.lay(self._session.home, self._session.tools, self._file)
        arguments = ["--create", "--secrets-provider", "passphrase"]
        self.read("stack", "select", "--stack", self.name, *arguments)

    def recover(self, report: Callable[[str], None]) -> None:
        """Make good an update that was killed: take its lock away, and take over what it had begun to create."""
        if recovery.stale_locks(self._session.home, self.name):
            report("An earlier update was killed; its lock is taken away.")
            recovery.end_stragglers(self._session.home)
            self.read("cancel", "--stack", self.name, "--yes")
        settled = settle_pending_creates(json.loads(self.read("stack", "export", "--stack", self.name)))
        if not settled.adopted and not settled.dropped:
            return
        report(f"An earlier update was cut off while it created {_names([*settled.adopted, *settled.dropped])}.")
        state = self._session.home.root / "recovered-state.json"
        state.write_text(json.dumps(settled.export))
        self.read("stack", "import", "--stack", self.name, "--file", str(state))
        state.unlink()
        self.read("refresh", "--stack", self.name, "--yes", "--skip-preview")

    def run(self, command: str, *arguments: str, watch: Callable[[], None] | None = None) -> int:
        """Run a command on the stack, shown to the user as it goes; the CLI's exit code.

        `watch` is called every second meanwhile. What it raises is raised once the CLI has ended the update in order.
        """
        child = subprocess.Popen(self._argv(command, "--stack", self.name, *arguments), env=self._environment)
        error: RehearsalError | None = None
        while True:
            try:
                code = child.wait(None if watch is None or error else _WATCH_SECONDS)
                break
            except KeyboardInterrupt:
                # The terminal sent it to the CLI as well, which ends the update in order; a second one ends it hard.
                continue
            except subprocess.TimeoutExpired:
                try:
                    assert watch is not None
                    watch()
                except RehearsalError as raised:
                    error = raised
                    child.send_signal(signal.SIGINT)
        if error is not None:
            raise error
        return code

    def read(self, *arguments: str) -> str:
        """Run a command in silence; what it printed. Raises RehearsalError with its error text."""
        done = subprocess.run(
            self._argv(*arguments), check=False, env=self._environment, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RehearsalError(f"pulumi {' '.join(arguments)} failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def config(self, key: str) -> str:
        """A plain value of the configuration of a stack that was made ready. Raises RehearsalError where it has none."""
        try:
            return str(self._config[key]["value"])
        except KeyError:
            raise RehearsalError(f"{self._file.path} states no {key}.") from None

    @cached_property
    def _config(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.read("config", "--json", "--stack", self.name))
        return found

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs, secrets masked; empty where nothing is deployed."""
        outputs: dict[str, Any] = json.loads(self.read("stack", "output", "--stack", self.name, "--json"))
        return outputs

    def _argv(self, *arguments: str) -> list[str]:
        return [
            str(self._session.home.bin / "pulumi"),
            "--cwd",
            str(self._session.home.project),
            *arguments,
        ]


def _names(urns: Sequence[str]) -> str:
    return ", ".join(urn.rpartition("::")[2] for urn in urns)
