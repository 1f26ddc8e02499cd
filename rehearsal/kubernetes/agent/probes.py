"""Startup, readiness and liveness probes of containers.

Source: Kubernetes documentation, "Configure Liveness, Readiness and Startup Probes".
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from rehearsal.kubernetes.agent.container import Run
from rehearsal.kubernetes.agent.status import ContainerState

Json = dict[str, Any]
ENTER = Path(__file__).with_name("enter.py")


class Prober:
    """Probes one run of a container on its loopback address: marks it started and ready, ends what is not alive."""

    def __init__(self, state: ContainerState, run: Run, address: str, changed: Callable[[], None]) -> None:
        self._state = state
        self._run = run
        self._address = address
        self._changed = changed

    async def run(self) -> None:
        """Probe until the task is cancelled, or the container has failed a probe that ends it."""
        spec = self._state.spec
        if "startupProbe" in spec and not await self._verdict(spec["startupProbe"]):
            return self._run.signal(signal.SIGTERM)
        self._state.started = True
        self._state.ready = "readinessProbe" not in spec
        self._changed()
        await asyncio.gather(self._watch_readiness(), self._watch_life())

    async def _watch_readiness(self) -> None:
        probe = self._state.spec.get("readinessProbe")
        while probe:
            ready = await self._verdict(probe)
            if ready != self._state.ready:
                self._state.ready = ready
                self._changed()
            await asyncio.sleep(_period(probe))

    async def _watch_life(self) -> None:
        probe = self._state.spec.get("livenessProbe")
        while probe:
            if not await self._verdict(probe):
                return self._run.signal(signal.SIGTERM)
            await asyncio.sleep(_period(probe))

    async def _verdict(self, probe: Json) -> bool:
        """Repeat a probe until it has succeeded, or failed, as often in a row as counts."""
        await asyncio.sleep(float(probe.get("initialDelaySeconds", 0)))
        successes = failures = 0
        while True:
            if await self._succeeds(probe):
                successes, failures = successes + 1, 0
            else:
                successes, failures = 0, failures + 1
            if successes >= int(probe.get("successThreshold", 1)):
                return True
            if failures >= int(probe.get("failureThreshold", 3)):
                return False
            await asyncio.sleep(_period(probe))

    async def _succeeds(self, probe: Json) -> bool:
        """Try once. gRPC probes are tried as far as the port."""
        with contextlib.suppress(TimeoutError, OSError, httpx.TransportError):
            async with asyncio.timeout(float(probe.get("timeoutSeconds", 1))):
                if "exec" in probe:
                    return await self._execute(probe["exec"]["command"]) == 0
                if "httpGet" in probe:
                    return await self._get(probe["httpGet"])
                _, writer = await asyncio.open_connection(
                    self._address, self._port((probe.get("tcpSocket") or probe["grpc"])["port"])
                )
                writer.close()
                return True
        return False

    async def _get(self, action: Json) -> bool:
        scheme, path = str(action.get("scheme", "HTTP")).lower(), str(action.get("path", "/")).lstrip("/")
        url = f"{scheme}://{self._address}:{self._port(action['port'])}/{path}"
        headers = {header["name"]: header["value"] for header in action.get("httpHeaders") or ()}
        async with httpx.AsyncClient(verify=False, trust_env=False) as client:
            return 200 <= (await client.get(url, headers=headers)).status_code < 400

    async def _execute(self, command: list[str]) -> int:
        argv = [sys.executable, "-I", "-S", str(ENTER), str(self._run.folder.parent), *command]
        nothing = subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*argv, stdin=nothing, stdout=nothing, stderr=nothing)
        try:
            return await process.wait()
        except asyncio.CancelledError:
            process.kill()
            raise

    def _port(self, port: int | str) -> int:
        """A port by number, or by the name that the container gives it."""
        ports = self._state.spec.get("ports") or ()
        named = {p["name"]: p["containerPort"] for p in ports if "name" in p}
        return int(named.get(port, port))


def _period(probe: Json) -> float:
    return float(probe.get("periodSeconds", 10))
