"""Creations that a killed `pulumi up` left behind, made part of the stack's state again.

The engine writes down every creation before it asks for it. When it is killed in between, the resource may exist
in the cloud while the state only has the intention ("pending operation"), and the next `up` would try to create
it a second time, which Google refuses. `pulumi refresh --import-pending-creates` of CLI 3.229 marks such an
operation as an import and then forgets it, so the state is edited instead: each intention becomes a resource
with the id that it must have, and the refresh that follows reads it, or drops it when it does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from rehearsal.provider.check import DEFAULTS
from rehearsal.provider.google import Google
from rehearsal.provider.resources import resource
from rehearsal.provider.resources.base import Config, Refused

_SIGNATURE = "4dabf18193072939515e22adb298388d"


@dataclass(frozen=True)
class Settled:
    """`export` is what `pulumi stack import` takes; the lists hold URNs."""

    export: dict[str, Any]
    adopted: list[str]
    dropped: list[str]


def settle_pending_creates(export: dict[str, Any]) -> Settled:
    """Turn the pending creations in the output of `pulumi stack export` into resources to refresh.

    Those whose id cannot be told from their inputs are dropped: `up` creates them again. Other pending
    operations need nothing: the resource is in the state, and the next `up` repeats the operation.
    """
    deployment = dict(export["deployment"])
    resources = list(deployment.get("resources") or [])
    known = {r["urn"] for r in resources if not r.get("delete")}
    adopted, dropped = [], []
    for operation in deployment.pop("pending_operations", None) or []:
        pending = operation["resource"]
        if operation["type"] != "creating" or pending["urn"] in known:
            continue
        identity = _identity(pending, resources)
        if identity is None:
            dropped.append(pending["urn"])
            continue
        resources.append({**pending, "id": identity, "outputs": {}})
        known.add(pending["urn"])
        adopted.append(pending["urn"])
    deployment["resources"] = resources
    return Settled({**export, "deployment": deployment}, adopted, dropped)


def _identity(pending: dict[str, Any], resources: list[dict[str, Any]]) -> str | None:
    inputs = _plain(pending.get("inputs") or {})
    token = pending["type"]
    if token.startswith("gcp:"):
        provider = str(pending.get("provider", "")).rpartition("::")[0]
        settings = next((_plain(r.get("inputs") or {}) for r in resources if r["urn"] == provider), {})
        project, region, zone = (str(settings.get(name, "")) for name in ("project", "region", "zone"))
        try:
            # Where a resource is follows from its inputs alone: nothing is asked of Google.
            kind = resource(token, cast(Google, None), Config(project, region, zone))
            return kind.identity(kind.where({k: v for k, v in inputs.items() if k != DEFAULTS}))
        except (Refused, LookupError):
            return None
    if token.startswith("kubernetes:"):
        metadata = inputs.get("metadata") or {}
        parts = [metadata[name] for name in ("namespace", "name") if metadata.get(name)]
        return "/".join(parts) if metadata.get("name") else None
    return None


def _plain(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs without the secret ones, which an export holds encrypted."""
    return {k: v for k, v in inputs.items() if not (isinstance(v, dict) and _SIGNATURE in v)}
