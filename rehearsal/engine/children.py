"""Processes that the language host starts, and that never outlive it."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

GRACE = 3.0
"""Seconds a child gets after SIGTERM. The engine gives the host itself five after SIGINT."""

_READ = 64 * 1024

# The engine interrupts the host's whole process group when it closes it. Python would answer with a
# KeyboardInterrupt traceback in the middle of the user's output, so children ignore SIGINT and are ended by
# the host. They stay in its group: when the engine kills that, nothing is left behind.
_IGNORING_SIGINT = ("/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh")


class Children:
    """Starts processes and ends those that still run."""

    def __init__(self) -> None:
        self._running: set[Process] = set()

    async def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None, piped: bool = False
    ) -> Process:
        """Start a process. Its output goes to the host's own stdout and stderr unless `piped`."""
        streams = PIPE if piped else None
        child = await asyncio.create_subprocess_exec(
            *_IGNORING_SIGINT, *argv, env=dict(env), cwd=cwd, stdin=DEVNULL, stdout=streams, stderr=streams
        )
        self._running.add(child)
        return child

    async def wait(self, child: Process) -> int:
        """The exit code; minus the signal's number when a signal ended it."""
        try:
            return await child.wait()
        finally:
            if child.returncode is not None:
                self._running.discard(child)

    async def output(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None
    ) -> tuple[int, bytes, bytes]:
        """Run to the end: exit code, stdout, stderr."""
        child = await self.start(argv, env=env, cwd=cwd, piped=True)
        try:
            stdout, stderr = await child.communicate()
        except asyncio.CancelledError:
            self.end(child)
            raise
        return await self.wait(child), stdout, stderr

    def end(self, child: Process) -> None:
        """SIGTERM now, SIGKILL after GRACE; returns at once."""
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
            asyncio.get_running_loop().call_later(GRACE, self._kill, child)

    async def end_all(self) -> None:
        """End every process and wait until they are gone."""
        running = list(self._running)
        for child in running:
            self.end(child)
        await asyncio.gather(*(self.wait(child) for child in running))

    @staticmethod
    def _kill(child: Process) -> None:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()


async def output_of(child: Process) -> AsyncIterator[tuple[str, bytes]]:
    """Blocks of a piped process's output as they come: ("stdout" or "stderr", bytes)."""
    blocks: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(maxsize=16)

    async def pump(name: str, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        while block := await stream.read(_READ):
            await blocks.put((name, block))
        await blocks.put((name, b""))

    pumps = [
        asyncio.create_task(pump("stdout", child.stdout)),
        asyncio.create_task(pump("stderr", child.stderr)),
    ]
    try:
        open_streams = len(pumps)
        while open_streams:
            name, block = await blocks.get()
            if block:
                yield name, block
            else:
                open_streams -= 1
    finally:
        for task in pumps:
            task.cancel()
