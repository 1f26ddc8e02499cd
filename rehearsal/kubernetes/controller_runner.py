"""Runs the programs of Deployments that run for real: one process for each that has a placed pod."""

from __future__ import annotations

import contextlib
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from rehearsal.kubernetes.api import Api, each
from rehearsal.kubernetes.controllers import SERVING, Controller, LocalPorts, decoded, rehearsed_config
from rehearsal.kubernetes.egress import Address
from rehearsal.kubernetes.webhooks import serving_certificate, trust
from rehearsal.processes import Process, Processes, free_port

Json = dict[str, Any]
log = logging.getLogger(__name__)
DEPLOYMENTS = "/apis/apps/v1/deployments"
RESTART_SECONDS = 1.0
STOP_SECONDS = 5.0
RECHECK_SECONDS = 5.0
# For so long a program has to say that it is ready: JobSet begins with that before its webhooks answer, and a kubelet
# would not ask so soon.
HEALTHY_SECONDS = 1.0


@dataclass
class _Running:
    """A program that was started for a Deployment. `ca`: PEM of its webhooks' authority, if it has any."""

    controller: Controller
    config: Json
    ports: LocalPorts
    ca: str | None
    process: Process
    started: float = field(default_factory=time.monotonic)
    healthy_since: float | None = None

    def is_healthy(self) -> bool:
        """Whether it has said for a while that it is ready."""
        if not _healthy(self.ports.health):
            self.healthy_since = None
            return False
        self.healthy_since = self.healthy_since or time.monotonic()
        return time.monotonic() - self.healthy_since >= HEALTHY_SECONDS


class ControllerRunner:
    """Keeps the processes of one cluster in line with its Deployments, one `step` at a time.

    `folder` holds what each process reads and is its own; `kubeconfig` says where the API server is.
    """

    def __init__(self, api: Api, kubeconfig: Path, folder: Path, programs: Path, logs: Path) -> None:
        self._api = api
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._programs = programs
        self._logs = logs
        self._processes = Processes(folder / "processes")
        self._running: dict[str, _Running] = {}
        self._routes: dict[Address, int] = {}
        self._seen: dict[str, str] = {}
        self._settled_at: float | None = None

    def resolve(self, address: Address) -> int | None:
        """The loopback port that serves a (cluster IP, port); None if none does."""
        return self._routes.get(address)

    def step(self) -> bool:
        """Start, stop and announce what has to be; whether all that is wanted serves."""
        deployments = self._api.items(DEPLOYMENTS, resourceVersion="0")
        wanted = {c.name: c for c in map(Controller.of, deployments) if c}
        # A Deployment's version changes with its pods' state too, so nothing new there means nothing to do.
        versions = {name: c.deployment["metadata"]["resourceVersion"] for name, c in wanted.items()}
        if versions == self._seen and self._is_settled():
            return True
        for name in self._running.keys() - wanted.keys():
            self._stop(name)
        settled = [self._bring_up(controller) for controller in wanted.values()]
        self._seen = versions
        self._settled_at = time.monotonic() if all(settled) else None
        return all(settled)

    def stop(self) -> None:
        """End every process, those of an earlier run of this runner included."""
        self._routes = {}
        self._running.clear()
        for process in self._processes.all():
            self._processes.stop(process.name, STOP_SECONDS)

    def _is_settled(self) -> bool:
        recent = self._settled_at is not None and time.monotonic() - self._settled_at < RECHECK_SECONDS
        return recent and all(running.process.alive for running in self._running.values())

    def _bring_up(self, controller: Controller) -> bool:
        """Bring one Deployment's program as far as it gets; whether it serves."""
        pods = self._api.items(
            f"/api/v1/namespaces/{controller.namespace}/pods",
            labelSelector=controller.pod_selector,
            resourceVersion="0",
        )
        placed = [p for p in pods if p["spec"].get("nodeName") and not p["metadata"].get("deletionTimestamp")]
        running = self._running.get(controller.name)
        if running and (not placed or running.controller.generation != controller.generation):
            self._stop(controller.name)
            running = None
        if running and not running.process.alive:
            if time.monotonic() - running.started < RESTART_SECONDS:
                return False
            log.warning("%s ended and is started again; its log is %s", controller.name, running.process.log)
            self._stop(controller.name)
            running = None
        if not placed:
            return False
        services = self._services(controller)
        running = running or self._start(controller, services)
        if running and controller.makes_certificates:
            self._mount_certificate(running)
        if running is None or not running.is_healthy():
            return False
        self._announce(running, services, placed)
        return True

    def _start(self, controller: Controller, services: list[Json]) -> _Running | None:
        """Start a program; None as long as something that its pod would mount does not exist."""
        text = self._config_text(controller)
        if text is None or not self._api.serves(*controller.api):
            return None
        config: Json = yaml.safe_load(text) or {}
        folder = self._folder / controller.name
        certificates = folder / "certificates"
        certificates.mkdir(parents=True, exist_ok=True)
        ca = None
        secret = controller.certificate_secret(config)
        if secret and not controller.makes_certificates:
            names = [service["metadata"]["name"] for service in services]
            issued = serving_certificate(self._api, (controller.namespace, secret), names)
            if issued is None:
                return None
            pair, ca = issued
            (certificates / "tls.crt").write_text(pair.certificate)
            (certificates / "tls.key").write_text(pair.key)
        ports = LocalPorts(webhook=free_port(), health=free_port())
        (folder / "config.yaml").write_text(rehearsed_config(controller.program, text, ports, certificates))
        (folder / "kubeconfig").write_text(self._kubeconfig_of(controller))
        process = self._processes.start(
            controller.name,
            controller.argv(self._programs / controller.program, folder / "config.yaml"),
            log=self._logs / f"{controller.name.replace('/', '.')}.log",
            env={**controller.environment, "KUBECONFIG": str(folder / "kubeconfig")},
            cwd=folder,
        )
        log.info("%s started: %s", controller.name, controller.program)
        self._running[controller.name] = _Running(controller, config, ports, ca, process)
        return self._running[controller.name]

    def _mount_certificate(self, running: _Running) -> None:
        """Put the Secret that the program fills itself where it reads it, as a kubelet does."""
        controller = running.controller
        name = controller.certificate_secret(running.config)
        found = self._api.get(f"/api/v1/namespaces/{controller.namespace}/secrets/{name}") if name else None
        for key, value in decoded(found or {}).items():
            file = self._folder / controller.name / "certificates" / key
            if not file.exists() or file.read_text() != value:
                file.write_text(value)

    def _announce(self, running: _Running, services: list[Json], placed: list[Json]) -> None:
        """A program serves: its routes to the proxy, its CA to its callers, its pods ready."""
        controller = running.controller
        routes = controller.routes(services, running.config, running.ports)
        self._routes = self._routes_without(running) | routes
        if running.ca:
            trust(self._api, {(controller.namespace, s["metadata"]["name"]) for s in services}, running.ca)
        silent = [p for p in placed if p["metadata"].get("annotations", {}).get(SERVING) != "true"]
        ready = {"metadata": {"annotations": {SERVING: "true"}}}
        each(lambda pod: self._api.patch(_path(pod), ready), silent)

    def _services(self, controller: Controller) -> list[Json]:
        services = self._api.items(f"/api/v1/namespaces/{controller.namespace}/services", resourceVersion="0")
        return [service for service in services if controller.serves_for(service)]

    def _config_text(self, controller: Controller) -> str | None:
        source = controller.config_source
        if source is None:
            return ""
        found = self._api.get(f"/api/v1/namespaces/{controller.namespace}/configmaps/{source[0]}")
        return None if found is None else found.get("data", {}).get(source[1])

    def _kubeconfig_of(self, controller: Controller) -> str:
        """A kubeconfig as the pods' service account, so that the Deployment's own RBAC rules count."""
        config = yaml.safe_load(self._kubeconfig.read_text())
        config["users"][0]["user"]["as"] = controller.user
        return str(yaml.safe_dump(config))

    def _routes_without(self, running: _Running) -> dict[Address, int]:
        return {address: port for address, port in self._routes.items() if port != running.ports.webhook}

    def _stop(self, name: str) -> None:
        running = self._running.pop(name)
        self._routes = self._routes_without(running)
        self._processes.stop(name, STOP_SECONDS)
        log.info("%s stopped", name)


def _path(pod: Json) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _healthy(port: int) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2.0, trust_env=False).status_code == 200
    return False
