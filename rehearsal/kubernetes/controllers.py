"""Deployments whose program runs for real in a rehearsal: which they are, and how it is started."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]
# API group and resources by program; a program has the last part of its image's name, also among the built tools.
# A program that starts before its API is served looks for it again only ten seconds later, or ends.
PROGRAMS: dict[str, tuple[str, frozenset[str]]] = {
    "jobset": ("jobset.x-k8s.io", frozenset({"jobsets"})),
    "kueue": (
        "kueue.x-k8s.io",
        frozenset(
            {
                "admissionchecks",
                "clusterqueues",
                "cohorts",
                "localqueues",
                "multikueueclusters",
                "multikueueconfigs",
                "provisioningrequestconfigs",
                "resourceflavors",
                "topologies",
                "workloadpriorityclasses",
                "workloads",
            }
        ),
    ),
}
# Settings by program that a rehearsal must change.
# JobSet: its certificate is issued from outside (webhooks.py), since the path where it waits for its own is fixed,
# and two rehearsals would share it. Kueue: the server of its visibility API keeps its certificate at a fixed path too.
SETTINGS: dict[str, dict[str, Json]] = {
    "jobset": {"internalCertManagement": {"enable": False}},
    "kueue": {"featureGates": {"VisibilityOnDemand": False}},
}
# Annotation on a pod of such a Deployment, once its program serves; until then the pod is not ready.
SERVING = "rehearsal.pathways/serving"
# controller-runtime's defaults: where the webhooks' certificate lies, and their port.
DEFAULT_CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"
DEFAULT_WEBHOOK_PORT = 9443


@dataclass(frozen=True)
class LocalPorts:
    """Loopback ports of one running program."""

    webhook: int
    health: int


@dataclass(frozen=True)
class Controller:
    """A Deployment of one of the PROGRAMS, with the container that runs it."""

    deployment: Mapping[str, Any]
    container: Mapping[str, Any]
    program: str

    @classmethod
    def of(cls, deployment: Mapping[str, Any]) -> Controller | None:
        """The controller that a Deployment wants to run; None if it is another program or scaled to none."""
        if not deployment["spec"].get("replicas", 1) or deployment["metadata"].get("deletionTimestamp"):
            return None
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            program = program_of(container.get("image", ""))
            if program:
                return cls(deployment, container, program)
        return None

    @property
    def namespace(self) -> str:
        return str(self.deployment["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """NAMESPACE/NAME of the Deployment."""
        return f"{self.namespace}/{self.deployment['metadata']['name']}"

    @property
    def api(self) -> tuple[str, frozenset[str]]:
        """The API group, and the resources of it, that must be served before the program starts."""
        return PROGRAMS[self.program]

    @property
    def makes_certificates(self) -> bool:
        """Whether it fills the Secret of its webhooks' certificate itself."""
        return "internalCertManagement" not in SETTINGS[self.program]

    @property
    def generation(self) -> tuple[str, int]:
        """Differs as soon as the program must be started anew."""
        metadata = self.deployment["metadata"]
        return metadata["uid"], metadata["generation"]

    @property
    def pod_selector(self) -> str:
        """Label selector of its pods."""
        labels = self.deployment["spec"]["selector"]["matchLabels"]
        return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))

    @property
    def user(self) -> str:
        """The user as whom its pods speak to the API server."""
        account = self._pod.get("serviceAccountName") or "default"
        return f"system:serviceaccount:{self.namespace}:{account}"

    @property
    def config_source(self) -> tuple[str, str] | None:
        """Name and key of the ConfigMap that its --config argument reads; None without one."""
        path = self._config_path()
        if path is None:
            return None
        for mount in self.container.get("volumeMounts", ()):
            source = self._volume(mount["name"]).get("configMap")
            if not source:
                continue
            if mount["mountPath"] == path:
                return source["name"], mount.get("subPath") or Path(path).name
            if path.startswith(mount["mountPath"].rstrip("/") + "/"):
                return source["name"], path[len(mount["mountPath"].rstrip("/")) + 1 :]
        return None

    def certificate_secret(self, config: Mapping[str, Any]) -> str | None:
        """Name of the Secret with the certificate of its webhooks; None if it mounts none."""
        folder = _part(config, "webhook").get("certDir") or DEFAULT_CERTIFICATES
        for mount in self.container.get("volumeMounts", ()):
            secret = self._volume(mount["name"]).get("secret")
            if secret and mount["mountPath"].rstrip("/") == folder.rstrip("/"):
                return str(secret["secretName"])
        return None

    def serves_for(self, service: Mapping[str, Any]) -> bool:
        """Whether a Service of its namespace selects its pods."""
        labels = self.deployment["spec"]["template"]["metadata"].get("labels", {})
        selector = service["spec"].get("selector") or {}
        return bool(selector) and selector.items() <= labels.items()

    def routes(
        self, services: Iterable[Mapping[str, Any]], config: Mapping[str, Any], ports: LocalPorts
    ) -> dict[tuple[str, int], int]:
        """The loopback port for each (cluster IP, port) of its Services."""
        webhook = int(_part(config, "webhook").get("port") or DEFAULT_WEBHOOK_PORT)
        named = {p["name"]: p["containerPort"] for p in self.container.get("ports", ()) if "name" in p}
        found: dict[tuple[str, int], int] = {}
        for service in services:
            for port in service["spec"].get("ports", ()):
                target = port.get("targetPort", port["port"])
                if named.get(target, target) == webhook:
                    addresses = service["spec"].get("clusterIPs", ())
                    found |= {(ip, port["port"]): ports.webhook for ip in addresses}
        return found

    def argv(self, binary: Path, config: Path) -> list[str]:
        """The command line: the container's arguments with its own configuration file."""
        arguments, rest = [], iter(self.container.get("args", ()))
        for argument in rest:
            if argument == "--config":
                next(rest, None)
            elif not argument.startswith("--config="):
                arguments.append(argument)
        return [str(binary), *arguments, *([f"--config={config}"] if self.config_source else [])]

    @property
    def environment(self) -> dict[str, str]:
        return {e["name"]: e["value"] for e in self.container.get("env", ()) if "value" in e}

    @property
    def _pod(self) -> Json:
        pod: Json = self.deployment["spec"]["template"]["spec"]
        return pod

    def _volume(self, name: str) -> Json:
        return next((v for v in self._pod.get("volumes", ()) if v["name"] == name), {})

    def _config_path(self) -> str | None:
        arguments = list(self.container.get("args", ()))
        for index, argument in enumerate(arguments):
            if argument.startswith("--config="):
                return str(argument.partition("=")[2])
            if argument == "--config" and index + 1 < len(arguments):
                return str(arguments[index + 1])
        return None


def program_of(image: str) -> str | None:
    """The program of an image such as registry.example/jobset/jobset:v1; None if there is none for it."""
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return name if name in PROGRAMS else None


def runs_as_controller(pod: Mapping[str, Any]) -> bool:
    """Whether a pod stands for one of the PROGRAMS: kwok shows it (kwok.py), and the program runs once for all."""
    return program_of(pod["spec"]["containers"][0].get("image", "")) is not None


def rehearsed_config(program: str, text: str, ports: LocalPorts, certificates: Path) -> str:
    """A controller's configuration with what one machine and a single process of it make necessary.

    It listens on loopback and free ports. Leader election is off, since a restarted process would wait for
    the lease of the dead one.
    """
    config: Json = yaml.safe_load(text) or {}
    changes: dict[str, Json] = {
        "webhook": {"host": "127.0.0.1", "port": ports.webhook, "certDir": str(certificates)},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports.health}"},
        "metrics": {"bindAddress": "0"},
        "leaderElection": {"leaderElect": False},
        **SETTINGS[program],
    }
    return str(yaml.safe_dump(config | {key: _part(config, key) | part for key, part in changes.items()}))


def decoded(secret: Mapping[str, Any]) -> dict[str, str]:
    """The data of a Secret as text."""
    return {key: base64.b64decode(value).decode() for key, value in (secret.get("data") or {}).items()}


def encoded(data: Mapping[str, str]) -> dict[str, str]:
    """Text as the data of a Secret."""
    return {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}


def _part(config: Mapping[str, Any], key: str) -> Json:
    return config.get(key) or {}
