"""Servers of a rehearsal: started detached, found again by a later command, ended by pid."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from rehearsal.errors import RehearsalError

_SERVER_PORTS = range(10_000, 32_768)


@dataclass(frozen=True)
class Process:
    """One recorded server. `started` (seconds since the epoch) tells it from a later process with the same pid."""

    name: str
    argv: list[str]
    log: str
    pid: int
    started: float
    order: int
    cwd: str | None = None
    env: dict[str, str] = field(default_factory=dict)

    @property
    def alive(self) -> bool:
        return _start_time(self.pid) == self.started

    def log_tail(self, lines: int = 15) -> str:
        """The last lines it printed; empty when it printed nothing."""
        with contextlib.suppress(OSError):
            return "\n".join(Path(self.log).read_text(errors="replace").splitlines()[-lines:])
        return ""


class Processes:
    """The servers recorded in one folder, a JSON file each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(
        self,
        name: str,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Process:
        """Start a server unless it is alive already. `env` is added to the caller's environment."""
        with self._locked():
            known = self.get(name)
            if known and known.alive:
                return known
            order = known.order if known else 1 + max((p.order for p in self.all()), default=0)
            return self._spawn(name, list(argv), log, dict(env or {}), cwd, order)

    def get(self, name: str) -> Process | None:
        try:
            return Process(**json.loads(self._record(name).read_text()))
        except FileNotFoundError:
            return None

    def all(self, prefix: str = "") -> list[Process]:
        """Recorded servers in the order of their first start."""
        found = []
        for path in self._folder.rglob("*.json") if self._folder.exists() else ():
            with contextlib.suppress(FileNotFoundError):
                found.append(Process(**json.loads(path.read_text())))
        return sorted((p for p in found if p.name.startswith(prefix)), key=lambda p: p.order)

    def restart_dead(self) -> list[str]:
        """Start again what should run and does not; the names of what was dead."""
        dead = [p for p in self.all() if not p.alive]
        for p in dead:
            self.start(p.name, p.argv, log=Path(p.log), env=p.env, cwd=Path(p.cwd) if p.cwd else None)
        return [p.name for p in dead]

    def stop(self, name: str, timeout: float = 20.0) -> None:
        """End a server and wait until it is gone: SIGTERM, then SIGKILL after `timeout` seconds."""
        process = self.get(name)
        if process is None:
            return
        if process.alive:
            _signal(process, signal.SIGTERM)
            if not _gone(process, timeout):
                _signal(process, signal.SIGKILL)
                _gone(process, timeout)
        self._record(name).unlink(missing_ok=True)

    def stop_all(self, prefix: str = "") -> None:
        """End the servers whose names begin with `prefix`, last started first."""
        for process in reversed(self.all(prefix)):
            self.stop(process.name)

    def _spawn(
        self, name: str, argv: list[str], log: Path, env: dict[str, str], cwd: Path | None, order: int
    ) -> Process:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            try:
                child = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    env={**os.environ, **env},
                    start_new_session=True,
                )
            except OSError as error:
                raise RehearsalError(f"{name} cannot be started: {argv[0]}: {error.strerror}") from error
        _children[child.pid] = child
        process = Process(
            name=name,
            argv=argv,
            log=str(log),
            pid=child.pid,
            started=_start_time(child.pid) or 0.0,
            order=order,
            cwd=str(cwd) if cwd else None,
            env=env,
        )
        record = self._record(name)
        record.parent.mkdir(parents=True, exist_ok=True)
        draft = record.with_suffix(".new")
        draft.write_text(json.dumps(asdict(process), indent=1))
        draft.replace(record)
        return process

    def _record(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def free_port() -> int:
    """A loopback TCP port that nobody listens on right now.

    It lies below the ports that the kernel gives to outgoing connections: a server that restarts would
    otherwise find its port taken, at times by a client that was trying to reach it.
    """
    for port in random.sample(_SERVER_PORTS, len(_SERVER_PORTS)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RehearsalError(f"No free TCP port from {_SERVER_PORTS.start} to {_SERVER_PORTS.stop - 1} on 127.0.0.1.")


def running(pid: int) -> bool:
    """Whether a process does or holds anything: a zombie counts only while one of its threads still runs."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1
    except psutil.NoSuchProcess:
        return False


def wait_for(
    condition: Callable[[], bool],
    what: str,
    timeout: float,
    process: Process | None = None,
    interval: float = 0.1,
) -> None:
    """Wait until `condition` holds, at most `timeout` seconds.

    Raises RehearsalError with the log's tail when the time is over or `process` has died meanwhile.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if process and not process.alive:
            raise RehearsalError(
                f"{process.name} ended while {what} was awaited. Its log, {process.log}, ends:\n{process.log_tail()}"
            )
        if time.monotonic() > deadline:
            tail = f" The log of {process.name}, {process.log}, ends:\n{process.log_tail()}" if process else ""
            raise RehearsalError(f"{what}: not after {timeout:.0f} seconds.{tail}")
        time.sleep(interval)


# A child that ended stays a zombie until its parent asks for it.
_children: dict[int, subprocess.Popen[bytes]] = {}


def _start_time(pid: int) -> float | None:
    child = _children.get(pid)
    if child is not None and child.poll() is not None:
        return None
    try:
        return psutil.Process(pid).create_time() if running(pid) else None
    except psutil.NoSuchProcess:
        return None


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, number)


def _gone(process: Process, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while process.alive:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
