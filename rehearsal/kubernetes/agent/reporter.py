"""Writes a pod's status to the API."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from rehearsal.kubernetes.agent import status
from rehearsal.kubernetes.agent.status import ContainerState
from rehearsal.kubernetes.agent.surroundings import Surroundings, in_thread
from rehearsal.kubernetes.api import ApiError, UnreachableError

Json = dict[str, Any]
log = logging.getLogger(__name__)
AGAIN_SECONDS = 0.5


class Reporter:
    """The status of one pod, from the states of its containers. `pod` is the newest that is known of it."""

    def __init__(self, around: Surroundings, pod: Json, containers: list[ContainerState], policy: str) -> None:
        self.pod = pod
        self._around = around
        self._containers = containers
        self._policy = policy
        self._dirty = asyncio.Event()
        self._written: Json = {}
        self._own: Json = {}
        self._writing = asyncio.Lock()

    @property
    def path(self) -> str:
        metadata = self.pod["metadata"]
        return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"

    def report(self) -> None:
        """The states have changed: they are written soon."""
        self._dirty.set()

    def ready_to_start(self, addresses: dict[str, str]) -> None:
        """The pod has what its containers need; its addresses as the API shows them."""
        self._own |= {
            "startTime": self.pod["status"].get("startTime") or status.now(),
            "hostIP": addresses["host"],
            "hostIPs": [{"ip": addresses["host"]}],
            "podIP": addresses["pod"],
            "podIPs": [{"ip": addresses["pod"]}],
        }
        self.report()

    def reject(self, reason: str, message: str) -> None:
        """The node does not take the pod: it fails, and no container has run."""
        self._own |= {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {message}"}
        self.report()

    async def forever(self) -> None:
        """Write whatever is reported, until the task is cancelled."""
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            try:
                await self._write(self._status())
            except UnreachableError:
                self._dirty.set()
                await asyncio.sleep(AGAIN_SECONDS)
            except ApiError as error:
                if error.status != 404:
                    log.error("the status of %s is refused: %s", self.path, error)

    async def finish(self) -> None:
        """All containers of a deleted pod have ended: say so, and take the pod from the API."""
        while True:
            try:
                await self._write(self._status(ended=True))
                await in_thread(self._delete)
                return
            except UnreachableError:
                await asyncio.sleep(AGAIN_SECONDS)
            except ApiError as error:
                if error.status not in (404, 409):
                    log.error("%s cannot be removed: %s", self.path, error)
                return

    def _delete(self) -> None:
        self._around.api.delete(self.path, at_once=True, uid=self.pod["metadata"]["uid"])

    def _status(self, ended: bool = False) -> Json:
        phase = self._own.get("phase") or self._phase(ended)
        before = self.pod["status"].get("conditions") or []
        found: Json = {
            **self._own,
            "phase": phase,
            "conditions": status.conditions(self._containers, phase, before, "podIP" in self._own),
        }
        if "reason" not in self._own:
            for name, init in (("initContainerStatuses", True), ("containerStatuses", False)):
                if states := [state.json() for state in self._containers if state.init == init]:
                    found[name] = states
        return found

    def _phase(self, ended: bool) -> str:
        known = self.pod["status"].get("phase")
        if known in ("Succeeded", "Failed"):
            return str(known)
        # Of a pod that is deleted, no container starts again.
        return status.phase(self._containers, "Never" if ended else self._policy)

    async def _write(self, wanted: Json) -> None:
        async with self._writing:
            if wanted != self._written:
                await in_thread(lambda: self._around.api.patch(f"{self.path}/status", {"status": wanted}, by_key=True))
                self._written = wanted
