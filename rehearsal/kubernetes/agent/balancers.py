"""Load balancers: the addresses that Services were given, joined to the pods behind them.

Each connection goes to a pod that is ready and that the Service selects, as on GKE; ranges that a Service or a
NetworkPolicy lets in make no difference here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from rehearsal.kubernetes.agent.surroundings import Surroundings

Json = dict[str, Any]
log = logging.getLogger(__name__)
CHUNK = 1 << 16


class Balancers:
    """The load balancers of one cluster; `changed` and `close` are called in the event loop."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._servers: dict[tuple[str, str, int], asyncio.Task[None]] = {}

    def changed(self, service: Json, there: bool) -> None:
        """A Service is there, has changed, or is gone."""
        uid = service["metadata"]["uid"]
        wanted = {(uid, address, port): True for address, port in _fronts(service)} if there else {}
        for key in [key for key in self._servers if key[0] == uid and key not in wanted]:
            self._servers.pop(key).cancel()
        for key in wanted.keys() - self._servers.keys():
            self._servers[key] = asyncio.create_task(self._serve(*key))

    def close(self) -> None:
        for task in self._servers.values():
            task.cancel()

    async def _serve(self, uid: str, address: str, port: int) -> None:
        async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._join(uid, port, reader, writer)

        local = self._around.loopback.of(address)
        try:
            server = await asyncio.start_server(join, local, port)
        except OSError as error:
            log.error("nothing can stand for the load balancer %s: port %d of %s: %s", address, port, local, error)
            return
        async with server:
            await server.serve_forever()

    async def _join(self, uid: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far: asyncio.StreamWriter | None = None
        with contextlib.suppress(OSError):
            backend = self._backend(uid, port)
            if backend is not None:
                answers, far = await asyncio.open_connection(*backend)
                await asyncio.gather(_copy(reader, far), _copy(answers, writer))
        for end in (far, writer):
            if end is not None:
                end.close()

    def _backend(self, uid: str, port: int) -> tuple[str, int] | None:
        """Loopback address and port of a pod that serves a port of a Service; None where no pod is ready."""
        service = self._around.services.get(uid)
        if service is None:
            return None
        stated = next(each for each in service["spec"]["ports"] if each["port"] == port)
        for pod in self._around.pods.values():
            if _selected(pod, service) and _ready(pod):
                number = _number(stated.get("targetPort") or port, pod)
                return (self._around.loopback.of(pod["status"]["podIP"]), number) if number else None
        return None


def _fronts(service: Json) -> Iterator[tuple[str, int]]:
    """The addresses and TCP ports at which a Service is to be reached from outside."""
    if service["spec"].get("type") != "LoadBalancer":
        return
    for ingress in (service.get("status", {}).get("loadBalancer") or {}).get("ingress") or ():
        for port in service["spec"].get("ports") or ():
            if "ip" in ingress and port.get("protocol", "TCP") == "TCP":
                yield ingress["ip"], port["port"]


def _selected(pod: Json, service: Json) -> bool:
    metadata, selector = pod["metadata"], service["spec"].get("selector") or {}
    same = metadata["namespace"] == service["metadata"]["namespace"]
    return same and bool(selector) and selector.items() <= (metadata.get("labels") or {}).items()


def _ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _number(target: int | str, pod: Json) -> int | None:
    """A port by number or by the name that a container gives it; None where none has the name."""
    if isinstance(target, int):
        return target
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    ports: list[Mapping[str, Any]] = [port for each in containers for port in each.get("ports") or ()]
    return next((int(port["containerPort"]) for port in ports if port.get("name") == target), None)


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(CHUNK):
            sink.write(data)
            await sink.drain()
    with contextlib.suppress(OSError, RuntimeError):
        sink.write_eof()
