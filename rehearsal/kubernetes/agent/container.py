"""Runs of a container: each has a folder and a shim, by which a later agent finds it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rehearsal.kubernetes.agent.debugging import CURRENT_LOG, PREVIOUS_LOG
from rehearsal.kubernetes.agent.namespace import born
from rehearsal.kubernetes.agent.volumes import Mount
from rehearsal.processes import running

SHIM = Path(__file__).with_name("shim.py")
# As of the kubelet: a container whose end nobody saw.
UNKNOWN_CODE, UNKNOWN = 137, "ContainerStatusUnknown"
MESSAGE_LINES, MESSAGE_BYTES = 10, 2048


class StartError(Exception):
    """The container's program cannot be started; the message says why."""


@dataclass(frozen=True)
class Command:
    """What a run executes: see shim.py."""

    argv: list[str]
    env: dict[str, str]
    hostName: str
    workingDir: str
    log: str
    mounts: list[Mount]
    kept: list[str]


@dataclass(frozen=True)
class Exit:
    """How a run ended. `message` is the end of its log, where it failed."""

    code: int
    reason: str
    message: str
    started: float
    finished: float


class Run:
    """One run of a container in a folder of its own. Its record: the shim's and the container's process ids."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shim: subprocess.Popen[bytes] | None = None

    @property
    def exists(self) -> bool:
        return self._record.exists()

    @property
    def started(self) -> float:
        """When it started, in seconds since the epoch."""
        return float(self._read()["started"])

    @property
    def pid(self) -> int:
        """The container's first process."""
        return int(self._read()["pid"])

    async def start(self, command: Command) -> None:
        """Start it and wait until its program runs. Raises StartError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "run.json").write_text(json.dumps(asdict(command)))
        _link_logs(Path(command.log))
        self._shim = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SHIM), str(self.folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._shim.stdout is not None
        try:
            line = await asyncio.to_thread(self._shim.stdout.readline)
        except asyncio.CancelledError:
            # Nobody would end it later: by the record, which it may not have written yet, they find what to end.
            self._shim.kill()
            self._shim.wait()
            if self.exists:
                self._kill_group()
            raise
        self._shim.stdout.close()
        answer: dict[str, Any] = json.loads(line or '{"error": "the shim of the container has ended"}')
        if "error" in answer:
            await asyncio.to_thread(self._shim.wait)
            raise StartError(answer["error"])

    async def wait(self) -> Exit:
        """Wait for its end."""
        descriptor = self._open()
        if descriptor is not None:
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            loop = asyncio.get_running_loop()
            loop.add_reader(descriptor, lambda: None if ended.done() else ended.set_result(None))
            try:
                await ended
            finally:
                loop.remove_reader(descriptor)
                os.close(descriptor)
        if self._shim is not None:
            self._shim.poll()  # else it stays a zombie
        return self._exit()

    def signal(self, number: signal.Signals) -> None:
        """SIGTERM asks the container to end, SIGINT kills it; harmless after its end."""
        descriptor = self._open()
        if descriptor is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, number)
            os.close(descriptor)

    @property
    def alive(self) -> bool:
        descriptor = self._open()
        if descriptor is None:
            return False
        os.close(descriptor)
        return True

    def _exit(self) -> Exit:
        try:
            end = json.loads((self.folder / "exit.json").read_text())
        except FileNotFoundError:
            self._kill_group()
            return Exit(UNKNOWN_CODE, UNKNOWN, "its shim was killed", self.started, time.time())
        code = int(end["code"])
        message = self._log_tail() if code else ""
        return Exit(code, "Error" if code else "Completed", message, self.started, float(end["finished"]))

    def _kill_group(self) -> None:
        """Kill what a container without a shim has left: its first process died with the shim, others did not."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            # As long as one of its group lives, no other process gets its first one's id.
            if born(self.pid) != self._read()["pidBorn"]:
                return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def _log_tail(self) -> str:
        with contextlib.suppress(OSError):
            log = Path(json.loads((self.folder / "run.json").read_text())["log"])
            with log.open("rb") as file:
                file.seek(max(0, log.stat().st_size - 4 * MESSAGE_BYTES))
                lines = file.read().decode(errors="replace").splitlines()
            # TIME STREAM TAG TEXT
            texts = [line.split(" ", 3)[3] for line in lines[-MESSAGE_LINES:] if line.count(" ") >= 3]
            return "\n".join(texts)[-MESSAGE_BYTES:]
        return ""

    def _open(self) -> int | None:
        """A descriptor of the shim's process; None once it has ended."""
        try:
            record = self._read()
            descriptor = os.pidfd_open(record["shim"])
        except (FileNotFoundError, ProcessLookupError):
            return None
        with contextlib.suppress(OSError):
            # Compared after opening: what the descriptor stands for does not change any more.
            if born(record["shim"]) == record["born"] and running(record["shim"]):
                return descriptor
        os.close(descriptor)
        return None

    @property
    def _record(self) -> Path:
        return self.folder / "record.json"

    def _read(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self._record.read_text())
        return record


def runs(folder: Path) -> list[Run]:
    """The runs of a container, oldest first."""
    numbers = sorted(int(path.name) for path in folder.glob("[0-9]*")) if folder.exists() else []
    return [Run(folder / str(number)) for number in numbers]


def _link_logs(log: Path) -> None:
    """Let the links by which logs are read lead to this run's and the one's before."""
    log.parent.mkdir(parents=True, exist_ok=True)
    current, previous = log.parent / CURRENT_LOG, log.parent / PREVIOUS_LOG
    if current.is_symlink():
        current.replace(previous)
    current.symlink_to(log.name)


def signal_all(folder: Path, number: signal.Signals = signal.SIGINT) -> list[Run]:
    """Signal (by default: kill) the runs that lie anywhere below a folder and have not ended; which they are."""
    found = [Run(record.parent) for record in folder.glob("**/containers/*/*/record.json")]
    alive = [run for run in found if run.alive]
    for run in alive:
        run.signal(number)
    return alive
