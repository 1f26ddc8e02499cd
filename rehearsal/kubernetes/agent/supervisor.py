"""Keeps one container of a pod running, as its restart policy wants."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from pathlib import Path

from rehearsal.kubernetes.agent.container import Exit, Run, StartError, runs
from rehearsal.kubernetes.agent.environment import ConfigError
from rehearsal.kubernetes.agent.launch import Launcher
from rehearsal.kubernetes.agent.probes import Prober
from rehearsal.kubernetes.agent.programs import UnknownImageError
from rehearsal.kubernetes.agent.status import ContainerState
from rehearsal.kubernetes.api import ApiError, UnreachableError

# A tenth of the kubelet's: ten seconds to five minutes, forgotten after ten.
FIRST_BACK_OFF, LONGEST_BACK_OFF, FORGET_SECONDS = 1.0, 30.0, 60.0
RETRY_SECONDS = 1.0
# As containerd gives it to what could not be started.
START_ERROR_CODE = 128


class Supervisor:
    """One container. `started`: it has run, and its startup probe, if any, has succeeded."""

    def __init__(
        self, state: ContainerState, policy: str, pod: Path, launcher: Launcher, report: Callable[[], None]
    ) -> None:
        self.state = state
        self.started = asyncio.Event()
        self._policy = policy
        self._folder = pod / "containers" / state.spec["name"]
        self._launcher = launcher
        self._report = report
        self._run: Run | None = None

    async def run(self) -> int:
        """Run it until it is not to be restarted; its exit code. A run of an earlier agent is found again."""
        back_off = FIRST_BACK_OFF
        found = runs(self._folder)
        self._run = found[-1] if found and found[-1].exists else None
        number = len(found) - (self._run is not None)
        while True:
            self.state.restarts = number
            end = await self._once(number)
            self._ended(end)
            if self._policy == "Never" or (self._policy == "OnFailure" and end.code == 0):
                return end.code
            if end.finished - end.started > FORGET_SECONDS:
                back_off = FIRST_BACK_OFF
            if number > 0:  # the first restart comes at once
                name = self.state.spec["name"]
                self.state.wait("CrashLoopBackOff", f"back-off {back_off:.0f}s restarting failed container={name}")
                self._report()
                await asyncio.sleep(back_off)
                back_off = min(2 * back_off, LONGEST_BACK_OFF)
            number += 1
            self._run = None

    async def stop(self, grace: float) -> None:
        """End it: SIGTERM, and after the grace period (seconds) SIGKILL."""
        if self._run is None or not (self._run.alive or self.state.running):
            return
        ended = asyncio.create_task(self._run.wait())
        if self._run.alive:
            self._run.signal(signal.SIGTERM)
        await asyncio.wait([ended], timeout=grace)
        if not ended.done():
            self._run.signal(signal.SIGINT)
        self._ended(await ended)

    def _ended(self, end: Exit) -> None:
        self.state.end(end.code, end.reason, end.message, end.started, end.finished)
        self._report()

    async def _once(self, number: int) -> Exit:
        """One run, from its start, or from where an earlier agent left it, to its end."""
        if self._run is None:
            fresh = Run(self._folder / str(number))
            try:
                await self._start(fresh, number)
            except StartError as error:
                return Exit(START_ERROR_CODE, "StartError", str(error), time.time(), time.time())
            self._run = fresh
        self.state.run(self._launcher.id(self.state.spec, number), self._run.started)
        probing = asyncio.create_task(Prober(self.state, self._run, self._launcher.address, self._progress).run())
        try:
            return await self._run.wait()
        finally:
            probing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await probing

    async def _start(self, run: Run, number: int) -> None:
        """Start a run; waits for what does not exist yet, as a kubelet does. Raises StartError."""
        while True:
            try:
                command = await asyncio.to_thread(self._launcher.command, self.state.spec, number)
                await run.start(command)
                return
            except UnknownImageError as error:
                self._wait("ErrImagePull", str(error))
            except (ConfigError, ApiError, UnreachableError) as error:
                self._wait("CreateContainerConfigError", str(error))
            await asyncio.sleep(RETRY_SECONDS)

    def _wait(self, reason: str, message: str) -> None:
        before = self.state.state
        self.state.wait(reason, message)
        if self.state.state != before:
            self._report()

    def _progress(self) -> None:
        if self.state.started:
            self.started.set()
        self._report()
