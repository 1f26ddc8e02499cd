"""A container's environment and command line, in the order and with the rules of the kubelet.

Source: Kubernetes documentation, "Define dependent environment variables" and "Downward API".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

Json = dict[str, Any]
# kind ("configmaps", "secrets") and name of an object of the pod's namespace; None where there is none.
Lookup = Callable[[str, str], Json | None]

_REFERENCE = re.compile(r"\$(?:\$|\(([^()$]*)\))")
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")
_UNITS = {
    "m": Decimal("0.001"),
    **{letter: Decimal(1000) ** power for power, letter in enumerate(["", "k", "M", "G", "T", "P", "E"])},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
}


class ConfigError(Exception):
    """What a container refers to does not exist: CreateContainerConfigError, with this message."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace $(NAME) by the variable's value; $$ is a dollar, and a name that is not known stays as it is."""

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        return "$" if name is None else variables.get(name, match[0])

    return _REFERENCE.sub(replaced, text)


def variables(container: Json, pod: Json, addresses: Mapping[str, str], node: Json, lookup: Lookup) -> dict[str, str]:
    """The environment that a container's `envFrom` and `env` give it. Raises ConfigError.

    `addresses`: what status.hostIP and status.podIP are inside the pod.
    """
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        found |= _all_of(source, lookup)
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source is None:
            # Only variables that stand earlier in the list are known here.
            found[variable["name"]] = expand(variable.get("value") or "", found)
        else:
            value = _value(source, container, pod, addresses, node, lookup)
            if value is not None:
                found[variable["name"]] = value
    return found


def command_line(container: Json, entrypoint: list[str], environment: Mapping[str, str]) -> list[str]:
    """Command and arguments as the container's, else the image's; a command of its own drops the image's arguments."""
    command = [expand(word, environment) for word in container.get("command") or ()]
    arguments = [expand(word, environment) for word in container.get("args") or ()]
    return [*(command or entrypoint), *arguments]


def field(path: str, pod: Json, addresses: Mapping[str, str]) -> str:
    """The value of a `fieldRef`. Raises ConfigError for a path that the downward API does not have."""
    metadata, spec = pod["metadata"], pod["spec"]
    if match := _SUBSCRIPT.fullmatch(path):
        return str((metadata.get(match[1]) or {}).get(match[2], ""))
    known = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "metadata.labels": _listed(metadata.get("labels")),
        "metadata.annotations": _listed(metadata.get("annotations")),
        "spec.nodeName": spec["nodeName"],
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": addresses["host"],
        "status.hostIPs": addresses["host"],
        "status.podIP": addresses["pod"],
        "status.podIPs": addresses["pod"],
    }
    if path not in known:
        raise ConfigError(f"field path {path} is not supported")
    return str(known[path])


def resource(reference: Mapping[str, Any], container: Json, node: Json) -> str:
    """The value of a `resourceFieldRef`: a limit or request in units of its divisor, rounded up."""
    kind, _, name = reference["resource"].partition(".")
    resources = container.get("resources") or {}
    stated = (resources.get(kind) or {}).get(name)
    if stated is None:  # without a limit, a container may use all that the node gives to pods
        stated = node["status"]["allocatable"].get(name, "0") if kind == "limits" else "0"
    divisor = quantity(str(reference.get("divisor") or "1")) or Decimal(1)
    return str((quantity(stated) / divisor).to_integral_value(ROUND_CEILING))


def quantity(text: str) -> Decimal:
    """A Kubernetes quantity such as 100m, 32G or 8Gi as a number."""
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text)
    if not match or match[2] not in _UNITS:
        raise ConfigError(f"{text!r} is not a quantity")
    return Decimal(match[1]) * _UNITS[match[2]]


def _value(
    source: Json, container: Json, pod: Json, addresses: Mapping[str, str], node: Json, lookup: Lookup
) -> str | None:
    if reference := source.get("fieldRef"):
        return field(reference["fieldPath"], pod, addresses)
    if reference := source.get("resourceFieldRef"):
        return resource(reference, container, node)
    for key, kind in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if reference := source.get(key):
            data = data_of(kind, reference, lookup)
            if reference["key"] in data:
                return data[reference["key"]]
            if reference.get("optional"):
                return None
            raise ConfigError(f"couldn't find key {reference['key']} in {kind[:-1]} {reference['name']}")
    raise ConfigError(f"the rehearsal does not know the source {', '.join(source)} of a variable")


def _all_of(source: Json, lookup: Lookup) -> dict[str, str]:
    for key, kind in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
        if reference := source.get(key):
            prefix = source.get("prefix") or ""
            return {prefix + name: value for name, value in data_of(kind, reference, lookup).items()}
    return {}


def data_of(kind: str, reference: Mapping[str, Any], lookup: Lookup) -> dict[str, str]:
    """The data of a ConfigMap or Secret as text. Raises ConfigError where it must exist and does not."""
    found = lookup(kind, reference["name"])
    if found is None:
        if reference.get("optional"):
            return {}
        raise ConfigError(f'{kind[:-1]} "{reference["name"]}" not found')
    data: dict[str, str] = found.get("data") or {}
    return {k: base64.b64decode(v).decode() for k, v in data.items()} if kind == "secrets" else dict(data)


def _listed(values: Mapping[str, str] | None) -> str:
    return "\n".join(f'{key}="{value}"' for key, value in sorted((values or {}).items()))
