"""The life of one pod on its node, from being placed there to being gone."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from rehearsal.kubernetes.agent import tpu
from rehearsal.kubernetes.agent.container import signal_all
from rehearsal.kubernetes.agent.environment import ConfigError
from rehearsal.kubernetes.agent.launch import Launcher
from rehearsal.kubernetes.agent.reporter import Reporter
from rehearsal.kubernetes.agent.status import ContainerState
from rehearsal.kubernetes.agent.supervisor import Supervisor
from rehearsal.kubernetes.agent.surroundings import Surroundings, in_thread
from rehearsal.kubernetes.api import ApiError, UnreachableError

Json = dict[str, Any]
log = logging.getLogger(__name__)
CONFIG_RETRY_SECONDS = 1.0
# What sidecars get after the containers they serve have ended.
SIDECAR_GRACE_SECONDS = 2.0


class PodTask:
    """Runs a pod's containers and reports on them. It begins with `start` and ends by itself once the pod is gone."""

    def __init__(self, pod: Json, around: Surroundings) -> None:
        self.pod = pod
        self._around = around
        self._folder = around.pod_folder(pod)
        spec, status = pod["spec"], pod["status"]
        self.policy: str = spec.get("restartPolicy", "Always")
        self._inits = [_known(c, status.get("initContainerStatuses"), True) for c in spec.get("initContainers") or ()]
        self._main = [_known(c, status.get("containerStatuses"), False) for c in spec["containers"]]
        self._reporter = Reporter(around, pod, [*self._inits, *self._main], self.policy)
        self._launcher = Launcher(pod, around)
        self._supervisors: dict[str, Supervisor] = {}
        self._deleted = asyncio.Event()
        self._gone = asyncio.Event()
        self._tasks: list[asyncio.Task[Any]] = []

    @property
    def path(self) -> str:
        return self._reporter.path

    def start(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._live(), name=self.path)

    def changed(self, pod: Json) -> None:
        """The pod has changed in the API."""
        self.pod = pod
        self._reporter.pod = pod
        if pod["metadata"].get("deletionTimestamp"):
            self._deleted.set()

    def vanish(self) -> None:
        """The pod is gone from the API, or its node is gone with all that ran there."""
        self._gone.set()
        self._deleted.set()

    async def _live(self) -> None:
        reporting = asyncio.create_task(self._reporter.forever())
        running = asyncio.create_task(self._run())
        try:
            await self._deleted.wait()
            await _cancelled(running)
            if not self._gone.is_set():
                ending = asyncio.create_task(self._end())
                await asyncio.wait(
                    [ending, gone := asyncio.create_task(self._gone.wait())], return_when="FIRST_COMPLETED"
                )
                await _cancelled(ending, gone)
        finally:
            await _cancelled(running, reporting, *self._tasks)
            await in_thread(signal_all, self._folder)
            await in_thread(self._launcher.remove)

    async def _run(self) -> None:
        if self.pod["status"].get("phase") in ("Succeeded", "Failed"):
            return
        try:
            await self._prepare()
            await self._containers()
        except tpu.RejectedError as error:
            self._reporter.reject("UnexpectedAdmissionError", str(error))
        except Exception:
            log.exception("%s", self.path)

    async def _prepare(self) -> None:
        """Make what the containers need; waits for what does not exist yet, as a kubelet does."""
        while True:
            try:
                await in_thread(self._launcher.prepare)
                self._reporter.ready_to_start(self._launcher.addresses_in_api)
                return
            except (ConfigError, ApiError, UnreachableError) as error:
                for state in [*self._inits, *self._main]:
                    state.wait("ContainerCreating", f"MountVolume.SetUp failed: {error}")
                self._reporter.report()
                await asyncio.sleep(CONFIG_RETRY_SECONDS)

    async def _containers(self) -> None:
        for state in self._inits:
            supervisor = self._supervisor(state, "Always" if state.sidecar else _of_inits(self.policy))
            if state.sidecar:
                self._spawn(supervisor)
                await supervisor.started.wait()
            elif await supervisor.run() != 0:
                await self._stop_sidecars()
                return
        await asyncio.gather(*(self._spawn(self._supervisor(state, self.policy)) for state in self._main))
        await self._stop_sidecars()

    def _supervisor(self, state: ContainerState, policy: str) -> Supervisor:
        made = Supervisor(state, policy, self._folder, self._launcher, self._reporter.report)
        self._supervisors[state.spec["name"]] = made
        return made

    def _spawn(self, supervisor: Supervisor) -> asyncio.Task[int]:
        task = asyncio.create_task(supervisor.run())
        self._tasks.append(task)
        return task

    async def _stop_sidecars(self) -> None:
        """End the sidecars, last started first: the containers they served have ended."""
        # Nobody restarts one that ends now.
        await _cancelled(*self._tasks)
        grace = float(self.pod["spec"].get("terminationGracePeriodSeconds", 30))
        for state in reversed(self._inits):
            if state.sidecar and (supervisor := self._supervisors.get(state.spec["name"])):
                await supervisor.stop(grace)
        self._reporter.report()

    async def _end(self) -> None:
        """End a pod that is being deleted: in order, within its grace period, and then take it from the API."""
        await _cancelled(*self._tasks)
        grace = float(self.pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        deadline = time.monotonic() + grace
        mains = [s for s in self._supervisors.values() if not s.state.init]
        await asyncio.gather(*(supervisor.stop(grace) for supervisor in mains))
        for supervisor in reversed([s for s in self._supervisors.values() if s.state.init]):
            await supervisor.stop(max(SIDECAR_GRACE_SECONDS, deadline - time.monotonic()))
        await self._reporter.finish()


def _known(container: Json, statuses: list[Json] | None, init: bool) -> ContainerState:
    """A container with what an earlier agent reported of it."""
    state = ContainerState(container, init)
    for status in statuses or ():
        if status["name"] == container["name"]:
            state.restarts, state.id = status["restartCount"], status.get("containerID", "")
            state.state, state.last = status.get("state") or state.state, status.get("lastState") or {}
    return state


def _of_inits(policy: str) -> str:
    return "Never" if policy == "Never" else "OnFailure"


async def _cancelled(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            log.error("a container's task failed", exc_info=result)
