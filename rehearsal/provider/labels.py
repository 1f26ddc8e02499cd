"""Labels: what the program states, what the stack adds to all resources, and what somebody else has put there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Set at creation on everything Pulumi makes, unless gcp:addPulumiAttributionLabel is false.
ATTRIBUTION = {"goog-pulumi-provisioned": "true"}


def managed(defaults: Mapping[str, str], own: Mapping[str, str] | None, *, marked: bool) -> dict[str, str]:
    """The labels that are Pulumi's business, the program's own last."""
    return {**defaults, **(own or {}), **(ATTRIBUTION if marked else {})}


def is_marked(state: Mapping[str, Any]) -> bool:
    """Whether the resource carries the mark of its creation."""
    return any(name in (state.get("pulumiLabels") or {}) for name in ATTRIBUTION)


def told(stated_by: str, now: Mapping[str, str], stated: Mapping[str, Any]) -> dict[str, Any]:
    """The three label properties of a state; `stated_by` is the one that the program states."""

    def only(names: Mapping[str, str] | None) -> dict[str, str]:
        return {name: now[name] for name in names or {} if name in now}

    own = only(stated.get(stated_by))
    all_three = {stated_by: own, "pulumiLabels": only(stated.get("pulumiLabels")), "effectiveLabels": dict(now)}
    return all_three if own else {name: value for name, value in all_three.items() if name != stated_by}
