"""Brings what runs on this machine in line with the pods of a cluster."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from typing import Any

from rehearsal.kubernetes.agent.balancers import Balancers
from rehearsal.kubernetes.agent.container import signal_all
from rehearsal.kubernetes.agent.pod import PodTask
from rehearsal.kubernetes.agent.surroundings import Surroundings, in_thread
from rehearsal.kubernetes.agent.watch import Watch
from rehearsal.kubernetes.controllers import runs_as_controller
from rehearsal.kubernetes.pools import NODES

Json = dict[str, Any]
log = logging.getLogger("agent")
# Changes that come together, as those of a JobSet's pods do, are written to hosts files together.
GATHER_SECONDS = 0.05
# What containers get to end when the agent is told to.
GRACE_SECONDS = 1.5


class NodeAgent:
    """The kubelets of all nodes of a cluster. All of it but the watches' threads runs in one event loop."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._tasks: dict[str, PodTask] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._names_changed = asyncio.Event()
        self._balancers = Balancers(around)

    async def serve(self) -> None:
        """Run pods until SIGTERM or SIGINT, then end every container."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        writing = asyncio.create_task(self._write_hosts())
        # Nodes and Services first: pods are judged by them.
        for path, changed in (
            (NODES, self._node_changed),
            ("/api/v1/services", self._service_changed),
            ("/api/v1/pods", self._pod_changed),
        ):
            watch = Watch(self._around.api, path, _in(loop, changed))
            watch.start()
            while not watch.listed.is_set() and not ended.is_set():
                await asyncio.sleep(0.05)
        await ended.wait()
        writing.cancel()
        self._balancers.close()
        for task in self._running.values():
            task.cancel()
        await self._end_containers()

    def _pod_changed(self, pod: Json, there: bool) -> None:
        uid = pod["metadata"]["uid"]
        if there:
            self._around.pods[uid] = pod
        else:
            self._around.pods.pop(uid, None)
        task = self._tasks.get(uid)
        if task is not None:
            task.changed(pod) if there else task.vanish()
        elif there and self._is_ours(pod):
            self._start(pod)
        self._names_changed.set()

    def _is_ours(self, pod: Json) -> bool:
        node = pod["spec"].get("nodeName")
        return bool(node) and not runs_as_controller(pod) and self._around.node(node) is not None

    def _start(self, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        task = PodTask(pod, self._around)
        task.changed(pod)
        self._tasks[uid] = task
        self._running[uid] = task.start()
        self._running[uid].add_done_callback(lambda done: self._forget(uid, done))

    def _forget(self, uid: str, done: asyncio.Task[None]) -> None:
        self._tasks.pop(uid, None)
        self._running.pop(uid, None)
        if not done.cancelled() and (error := done.exception()):
            log.error("%s", done.get_name(), exc_info=error)
        self._start_left(uid)

    def _start_left(self, uid: str) -> None:
        """Start what a node has in the API and does not run: a node that was made anew finds the pods of its name."""
        pod = self._around.pods.get(uid)
        if pod and uid not in self._tasks and not pod["metadata"].get("deletionTimestamp") and self._is_ours(pod):
            self._start(pod)

    def _node_changed(self, node: Json, there: bool) -> None:
        uid, name = node["metadata"]["uid"], node["metadata"]["name"]
        if there:
            known = uid in self._around.nodes
            self._around.nodes[uid] = node
            for pod in [] if known else list(self._around.pods):
                self._start_left(pod)
            return
        self._around.nodes.pop(uid, None)
        for task in list(self._tasks.values()):
            if task.pod["spec"].get("nodeName") == name:
                log.info("node %s is gone, and %s with it", name, task.path)
                task.vanish()

    def _service_changed(self, service: Json, there: bool) -> None:
        uid = service["metadata"]["uid"]
        if there:
            self._around.services[uid] = service
        else:
            self._around.services.pop(uid, None)
        self._balancers.changed(service, there)
        self._names_changed.set()

    async def _write_hosts(self) -> None:
        while True:
            await self._names_changed.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._names_changed.clear()
            for task in list(self._tasks.values()):
                try:
                    await in_thread(self._around.write_hosts, task.pod)
                except OSError:
                    continue  # the pod's folder goes when it goes
                except Exception:
                    log.exception("the names for %s are not written", task.path)

    async def _end_containers(self) -> None:
        pods = self._around.folder / "pods"
        deadline = asyncio.get_running_loop().time() + GRACE_SECONDS
        left = await in_thread(signal_all, pods, signal.SIGTERM)
        while left and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.1)
            left = [run for run in left if run.alive]
        await in_thread(signal_all, pods)


def _in(loop: asyncio.AbstractEventLoop, changed: Callable[[Json, bool], None]) -> Callable[[Json, bool], None]:
    """`changed`, called in the loop whichever thread calls it."""

    def call(item: Json, there: bool) -> None:
        loop.call_soon_threadsafe(changed, item, there)

    return call
