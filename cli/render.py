"""`pathways render`: the Kubernetes manifests of a stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import typer
import yaml

from cli import director, stacks
from pathways import manifests, names
from pathways.director.plan import DirectorPlan
from pathways.geometry import count
from pathways.plan import Plan
from pathways.proxy_job import Client

_CLIENT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def command(
    stack: stacks.StackOption,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only objects of this kind, such as JobSet. Repeatable.")
    ] = None,
    client: Annotated[
        str, typer.Option(metavar="NAME", help="Mode service: whose proxy Job to render.")
    ] = manifests.ANY_CLIENT.name,
    slices: Annotated[
        int | None, typer.Option(min=1, help="Mode service: how many slices that client uses; default: all.")
    ] = None,
) -> None:
    """Print the Kubernetes manifests of a stack as YAML: the JobSet, Kueue's queues, the way to the proxy.

    In mode service also the Job with which a client brings its own proxy, which the stack does not create.
    On Cluster Director, the job scripts.
    """
    plan, warnings = stacks.load(stack)
    if isinstance(plan, DirectorPlan):
        stacks.warn(warnings)
        typer.echo(director.scripts(plan), nl=False)
        return
    whose = _client(plan, client, slices)
    stacks.warn(warnings)
    found = documents(plan, whose, {each.lower() for each in kind or []})
    if not found:
        known = ", ".join(dict.fromkeys(each["kind"] for each in _all(plan, whose)))
        raise typer.BadParameter(f"{stack} has none. It has {known}.", param_hint="--kind")
    typer.echo("".join(found), nl=False)


def documents(plan: Plan, client: Client = manifests.ANY_CLIENT, kinds: set[str] | None = None) -> list[str]:
    """The manifests as YAML documents; of these kinds, in lower case, where some are named."""
    own = manifests.of_client(plan, client)
    return [
        _document(manifest, "# A client creates this itself, under a name of its own.\n" if manifest in own else "")
        for manifest in _all(plan, client)
        if not kinds or manifest["kind"].lower() in kinds
    ]


def _all(plan: Plan, client: Client) -> list[Mapping[str, Any]]:
    return [*manifests.of(plan), *manifests.of_client(plan, client)]


def _document(manifest: Mapping[str, Any], comment: str) -> str:
    return f"---\n{comment}{yaml.safe_dump(dict(manifest), sort_keys=False, width=120)}"


def _client(plan: Plan, name: str, slices: int | None) -> Client:
    longest = names.LABEL_LIMIT - len(names.proxy_job(plan.settings.workload.name, ""))
    if not _CLIENT.fullmatch(name) or len(name) > longest:
        message = f'"{name}" does not fit into the name of a Job. Use up to {longest} lower-case letters, digits and -.'
        raise typer.BadParameter(message, param_hint="--client")
    if slices and slices > plan.settings.slices.count:
        message = f"{plan.settings.stack} has {count(plan.settings.slices.count, 'slice')}, not {slices}."
        raise typer.BadParameter(message, param_hint="--slices")
    return Client(name, slices)
