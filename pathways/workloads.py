"""Pathways as it stands in Kubernetes manifests: any program's, recognised by what its containers run.

Flags and images: Introduction to Pathways on Cloud; images of either repository, cloud-pathways and pathways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["resource_manager", "proxy", "worker", "client"]

_IMAGE = re.compile(r"/(server|proxy_server)(?=[:@]|$)")
# Only for containers whose image or arguments are not known yet.
_NAMES: Mapping[str, Role] = {
    "pathways-rm": "resource_manager",
    "pathways-proxy": "proxy",
    "pathways-worker": "worker",
}


@dataclass(frozen=True)
class Pod:
    """A pod template. `copies` is how many jobs of it the manifest asks for, None where it is not stated."""

    spec: Mapping[str, Any]
    copies: int | None

    @property
    def node_selector(self) -> Mapping[str, Any]:
        selector = self.spec.get("nodeSelector")
        return selector if isinstance(selector, Mapping) else {}

    @property
    def containers(self) -> list[Mapping[str, Any]]:
        groups = [self.spec.get("initContainers"), self.spec.get("containers")]
        return [each for group in groups for each in _list(group) if isinstance(each, Mapping)]


@dataclass(frozen=True)
class Container:
    """A container of Pathways or of its client. Values that are not known yet are absent; `hidden` says there are some."""

    role: Role
    name: str
    image: str | None
    flags: Mapping[str, str]
    env: Mapping[str, str]
    ports: tuple[int, ...]
    hidden: bool
    pod: Pod = field(repr=False)

    def port(self, flag: str) -> int | None:
        """The port that a flag states, as itself or at the end of an address."""
        return port_of(self.flags.get(flag))


def pods(properties: Any, copies: int | None = None) -> Iterator[Pod]:
    """Every pod template inside a manifest, however deep."""
    if isinstance(properties, Mapping):
        if isinstance(properties.get("containers"), Sequence) and not isinstance(properties["containers"], str):
            yield Pod(properties, copies)
            return
        stated = properties.get("replicas")
        inner = stated if isinstance(stated, int | float) and not isinstance(stated, bool) else copies
        for value in properties.values():
            yield from pods(value, None if inner is None else int(inner))
    elif isinstance(properties, Sequence) and not isinstance(properties, str):
        for value in properties:
            yield from pods(value, copies)


def containers(type_: str, properties: Mapping[str, Any]) -> list[Container]:
    """The Pathways containers of a Kubernetes resource; empty for anything else."""
    if not type_.startswith("kubernetes:"):
        return []
    found = []
    for pod in pods(properties):
        for container in pod.containers:
            role = role_of(container)
            if role:
                found.append(_container(role, container, pod))
    return found


def role_of(container: Mapping[str, Any]) -> Role | None:
    """What of Pathways a container is, None where it is none of it."""
    flags, image = _flags(container), container.get("image")
    if flags.get("node_type") == "resource_manager":
        return "resource_manager"
    kind = _IMAGE.search(image) if isinstance(image, str) else None
    if kind and kind.group(1) == "proxy_server":
        return "proxy"
    if kind and "resource_manager_address" in flags:
        return "worker"
    env = _env(container)
    if env.get("JAX_PLATFORMS") == "proxy" or "JAX_BACKEND_TARGET" in env:
        return "client"
    return _NAMES.get(str(container.get("name")))


def port_of(address: str | None) -> int | None:
    """The port of `29000`, `host:29000` or `grpc://host:29000`."""
    last = (address or "").rpartition(":")[2]
    return int(last) if last.isdigit() else None


def _container(role: Role, container: Mapping[str, Any], pod: Pod) -> Container:
    image = container.get("image")
    ports = [port.get("containerPort") for port in _list(container.get("ports")) if isinstance(port, Mapping)]
    return Container(
        role=role,
        name=str(container.get("name")),
        image=image if isinstance(image, str) else None,
        flags=_flags(container),
        env=_env(container),
        ports=tuple(int(port) for port in ports if isinstance(port, int | float)),
        hidden=any(
            not isinstance(argument, str)
            for key in ("command", "args")
            if key in container
            for argument in (_list(container[key]) or [container[key]])
        ),
        pod=pod,
    )


def _flags(container: Mapping[str, Any]) -> dict[str, str]:
    flags = {}
    for key in ("command", "args"):
        for argument in _list(container.get(key)):
            if isinstance(argument, str) and argument.startswith("--"):
                name, _, value = argument[2:].partition("=")
                flags[name] = value
    return flags


def _env(container: Mapping[str, Any]) -> dict[str, str]:
    return {
        variable["name"]: variable["value"]
        for variable in _list(container.get("env"))
        if isinstance(variable, Mapping)
        and isinstance(variable.get("name"), str)
        and isinstance(variable.get("value"), str)
    }


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
