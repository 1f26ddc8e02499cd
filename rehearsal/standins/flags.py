"""The servers' command line, as strict as the documented flags allow."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import yaml

from pathways import images

Role = Literal["resource_manager", "worker", "proxy"]

_KINDS = {
    "port": r"[1-9]\d{0,4}",
    "address": r"[^\s:]+:[1-9]\d{0,4}",
    "count": r"[1-9]\d{0,5}",
    "bool": r"true|false",
    "gcs": r"gs://[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9](/.*)?",
    "text": r".+",
}

# Names of the flag for slices that may be missing, the newest first.
ELASTIC = ("num_elastic_instances", "num_elastic_slices")


class FlagError(Exception):
    """A command line that the server refuses; the message is what it prints."""


@dataclass(frozen=True)
class Flags:
    """An accepted command line: what the server is, its flags by name, and the tag of the image that it came with."""

    role: Role
    values: dict[str, str]
    image_tag: str

    @property
    def port(self) -> int:
        return int(self.values["server_port"])

    @property
    def resource_manager(self) -> tuple[str, int]:
        """Host and port of the resource manager."""
        host, _, port = self.values["resource_manager_address"].rpartition(":")
        return host, int(port)

    @property
    def shared(self) -> dict[str, str]:
        """What must be the same for all servers of a Pathways."""
        return {"--gcs_scratch_location": self.values["gcs_scratch_location"], "image tag": self.image_tag}

    @property
    def elastic(self) -> tuple[str, int]:
        """The proxy's flag for slices that may be missing, by the name that its image knows, and their number."""
        given = [name for name in ELASTIC if name in self.values]
        if given:
            return f"--{given[0]}", self.count(given[0])
        version = _version(self.image_tag)
        known = next(name for name in ELASTIC if _exists(_table()["flags"][name], version))
        return f"without --{known}", 0

    @property
    def virtual_slices(self) -> list[str]:
        return self.values["virtual_slices"].split(",") if "virtual_slices" in self.values else []

    @property
    def sidecar(self) -> bool:
        """Whether the proxy is to use the workers' colocated-Python sidecars."""
        return "sidecar_name" in self.values

    def count(self, name: str) -> int:
        return int(self.values[name])


def parse(program: str, image_tag: str, arguments: Sequence[str]) -> Flags:
    """Read the command line of `/pathways/server` or `/pathways/proxy_server` from an image of that tag.

    Raises FlagError for unknown flags, malformed values and missing ones.
    """
    table, version = _table(), _version(image_tag)
    values: dict[str, str] = {}
    for name, value in _pairs(arguments):
        known = table["flags"].get(name) or next(
            (entry for prefix, entry in table["prefixes"].items() if name.startswith(prefix)), None
        )
        if known is None or program not in known["programs"] or not _exists(known, version):
            raise FlagError(f"ERROR: Unknown command line flag '{name}'{_instead(table, program, name, version)}")
        if not re.fullmatch(_KINDS[known["kind"]], value) or value not in known.get("choices", [value]):
            raise FlagError(f"ERROR: Illegal value '{value}' specified for flag '{name}'")
        values[name] = value
    role: Role = "proxy" if program == "proxy_server" else "resource_manager" if "node_type" in values else "worker"
    missing = [name for name in table["required"][role] if name not in values]
    if missing:
        known = "worker, as it has no --node_type," if role == "worker" else role.replace("_", " ")
        raise FlagError(f"ERROR: the {known} needs --{', --'.join(missing)}")
    return Flags(role, values, image_tag)


@functools.cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        resources.files("rehearsal.standins").joinpath("flags.yaml").read_text("utf-8")
    )
    return found


def _version(image_tag: str) -> list[int] | None:
    """The version of JAX that an image is for; None where its tag does not say."""
    jax = images.jax_version(image_tag)
    return [int(part) for part in jax.split(".")] if jax else None


def _pairs(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """`--name=value` and `--name value` as pairs. Raises FlagError for anything else."""
    pairs, rest = [], list(arguments)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("--"):
            raise FlagError(f"ERROR: Unexpected argument '{argument}'")
        name, equals, value = argument[2:].partition("=")
        if not equals:
            if not rest or rest[0].startswith("--"):
                raise FlagError(f"ERROR: Missing the value for the flag '{name}'")
            value = rest.pop(0)
        pairs.append((name, value))
    return pairs


def _exists(flag: dict[str, Any], version: list[int] | None) -> bool:
    if version is None:
        return True
    return version >= flag.get("since", version) and not ("before" in flag and version >= flag["before"])


def _instead(table: dict[str, Any], program: str, name: str, version: list[int] | None) -> str:
    words = set(name.split("_"))
    near = [
        other
        for other, flag in table["flags"].items()
        if program in flag["programs"] and _exists(flag, version) and len(words & set(other.split("_"))) > 1
    ]
    return f". Did you mean: {', '.join(near)} ?" if near else ""
