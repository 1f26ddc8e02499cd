"""What a change of a node pool takes, and how many nodes it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rehearsal.provider.facts import Facts
from rehearsal.provider.google import Google
from rehearsal.provider.paths import lookup, place
from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Properties, kinds
from rehearsal.provider.translate import api_field

# Fields that GKE wants in one request when several of them change.
_TOGETHER = ("machineType", "diskType", "diskSizeGb", "storagePools", "bootDisk")


def pool_changes(
    facts: Facts, around: str, body: Properties, found: list[Change]
) -> Iterator[tuple[str, str, Properties]]:
    """Method, suffix of the pool's path, and body of each request that the changes take.

    `around` is the property that holds the node settings when they are a cluster's, and `body` what lies there.
    """
    together: Properties = {}
    inner = len(api_field(facts, (around,))) + 1 if around else 0
    for pattern, field in facts.maps["updates"].items():
        if (around and pattern[0] != around) or (not around and pattern[0] == "nodePools"):
            continue
        seen = kinds(found, ".".join(pattern))
        value = lookup(body, api_field(facts, pattern)[inner:])
        if not seen or (value is None and seen == {"add"}):
            continue
        if field in _TOGETHER:
            together[field] = value
            continue
        request: Properties = {}
        place(request, field, value if value is not None else _nothing(field))
        yield "PUT", "", request
    if together:
        yield "PUT", "", {name: value for name, value in together.items() if value is not None}


def pool_numbers(google: Google, pool: Properties, *, count: bool) -> Properties:
    """The pool's instance groups and, unless `count` is false, its nodes per group."""
    managers = list(pool.get("instanceGroupUrls") or [])
    groups = [url.replace("/instanceGroupManagers/", "/instanceGroups/") for url in managers]
    told: Properties = {"instanceGroupUrls": groups, "managedInstanceGroupUrls": managers}
    if count and managers:
        sizes = [_target_size(google, url) for url in managers]
        told["nodeCount"] = sum(sizes) // len(sizes)
    return told


def _target_size(google: Google, url: str) -> int:
    found = google.find("compute", url[url.index("projects/") :])
    return int((found or {}).get("targetSize", 0))


def _nothing(field: str) -> Any:
    lists = ("taints.taints", "tags.tags", "locations", "storagePools")
    return [] if field in lists else {}
