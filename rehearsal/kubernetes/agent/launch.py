"""What a container of a pod becomes on this machine: command line, environment, files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from rehearsal.kubernetes.agent import clients, debugging, environment, hosts, programs, tpu
from rehearsal.kubernetes.agent.container import Command
from rehearsal.kubernetes.agent.environment import ConfigError
from rehearsal.kubernetes.agent.surroundings import Surroundings, internal_address
from rehearsal.kubernetes.agent.volumes import Volumes
from rehearsal.standins import ports

Json = dict[str, Any]


class Launcher:
    """Makes the commands of one pod. `prepare` comes first; every method may block on the API."""

    def __init__(self, pod: Json, around: Surroundings) -> None:
        self._pod = pod
        self._around = around
        self._folder = around.pod_folder(pod)
        self._node: Json = {}
        self._job: Json | None = None
        self._volumes: Volumes | None = None
        self.addresses_in_api: dict[str, str] = {}
        self._local: dict[str, str] = {}

    @property
    def address(self) -> str:
        """The loopback address that stands for the pod's."""
        return self._local["pod"]

    def prepare(self) -> None:
        """Make addresses, volumes and the hosts file. Raises RejectedError, ConfigError and what the API raises."""
        pod, around = self._pod, self._around
        node = around.node(pod["spec"]["nodeName"])
        if node is None:
            raise ConfigError(f"node {pod['spec']['nodeName']} does not exist")
        self._node = node
        self._job = around.job(pod)
        for container in _containers(pod):
            tpu.variables(container, pod, node, self._job)
        self.addresses_in_api = {"host": internal_address(node), "pod": around.address(pod, node)}
        self._local = {kind: around.loopback.of(address) for kind, address in self.addresses_in_api.items()}
        (self._folder / "etc").mkdir(parents=True, exist_ok=True)
        around.write_hosts(pod)
        lookup, token = around.lookup(pod["metadata"]["namespace"]), around.token(pod)
        self._volumes = Volumes(pod, around.places(pod), self._local, lookup, token)
        self._volumes.make()
        containers = self._folder / "containers"
        debugging.describe(around.api, pod, containers, around.log_folder(pod), self.address)

    def command(self, container: Json, run: int) -> Command:
        """What a run of a container executes. Raises UnknownImageError, ConfigError and what the API raises."""
        pod, around = self._pod, self._around
        assert self._volumes is not None
        program = programs.program_of(container, around.client)
        host = hosts.host_name(pod, self._node)
        server, port = around.server
        lookup = around.lookup(pod["metadata"]["namespace"])
        check = clients.check_of(pod) if program.client else None
        stated = environment.variables(container, pod, self._local, self._node, lookup)
        variables = {
            **program.environment,
            "HOSTNAME": host,
            "KUBERNETES_SERVICE_HOST": server,
            "KUBERNETES_SERVICE_PORT": port,
            **tpu.variables(container, pod, self._node, self._job),
            **stated,
            "REHEARSAL_IMAGE": container["image"],
            "REHEARSAL_ADDRESS": self.address,
            ports.VARIABLE: ports.told(container.get("ports") or ()),
            **({clients.CHECK: json.dumps(check)} if check else {}),
            **around.identity(pod, self._node, lookup),
        }
        files = [(str(self._folder / "etc" / name), f"/etc/{name}", False) for name in ("hosts", "resolv.conf")]
        return Command(
            argv=[*program.argv, *environment.command_line(container, program.entrypoint, stated)],
            env=variables,
            hostName=host,
            workingDir=container.get("workingDir") or "/",
            log=str(around.log_folder(pod) / container["name"] / f"{run}.log"),
            mounts=[*files, *self._volumes.mounts(container, stated)],
            kept=[folder for folder in program.kept if Path(folder).exists()],
        )

    def id(self, container: Json, run: int) -> str:
        """A run's name in the pod's status."""
        return f"rehearsal://{self._pod['metadata']['uid']}/{container['name']}/{run}"

    def remove(self) -> None:
        """Remove the pod's files, and give its address back."""
        if self.addresses_in_api:
            self._around.loopback.release(self.addresses_in_api["pod"])
        shutil.rmtree(self._folder, ignore_errors=True)


def _containers(pod: Json) -> list[Json]:
    return [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
