"""GKE versions: which are served, how they compare, and getServerConfig."""

from __future__ import annotations

import re
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.container.defaults import default
from rehearsal.google.services.container.service import PREFIX, SERVICE, place_of

Json = dict[str, Any]

FULL = re.compile(r"1\.\d+\.\d+-gke\.\d+")


def number(version: str) -> tuple[int, ...]:
    """A version to compare: 1.34.1-gke.2541000 is (1, 34, 1, 2541000)."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def resolve(wanted: str, channel: str = "REGULAR") -> str:
    """The full version for a version, a prefix (1.35, 1.35.4), "latest", "-" or ""; else GoogleError."""
    versions: Json = default("versions")
    served: list[str] = versions["served"]
    if wanted in ("", "-"):
        return str(versions["channels"].get(channel, versions["channels"]["REGULAR"]))
    if wanted == "latest":
        return served[0]
    for version in served:
        if number(version)[: len(number(wanted))] == number(wanted):
            return version
    minors = {number(version)[:2] for version in served}
    if FULL.fullmatch(wanted) and number(wanted)[:2] in minors:
        return wanted
    raise invalid(f'Master version "{wanted}" is unsupported.')


@SERVICE.handles(PREFIX + "getServerConfig")
def get_server_config(cloud: Cloud, call: Call) -> Json:
    place_of(cloud, call)
    versions: Json = default("versions")
    served: list[str] = versions["served"]
    channels = [
        {"channel": name, "defaultVersion": version, "validVersions": served[served.index(version) :]}
        for name, version in versions["channels"].items()
    ]
    return {
        "defaultClusterVersion": resolve(""),
        "validMasterVersions": served,
        "validNodeVersions": served,
        "defaultImageType": "COS_CONTAINERD",
        "validImageTypes": ["COS_CONTAINERD", "UBUNTU_CONTAINERD"],
        "channels": channels,
    }
