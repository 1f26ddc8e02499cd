"""`pathways render`: the Kubernetes manifests of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
import yaml

from cli import clients, director, stacks
from pathways import manifests
from pathways.director.plan import DirectorPlan
from pathways.plan import Plan
from pathways.proxy_job import Client


def command(
    stack: stacks.StackOption,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only objects of this kind, such as JobSet. Repeatable.")
    ] = None,
    client: Annotated[
        str, typer.Option(metavar="NAME", help="Mode service: whose proxy Job to render.")
    ] = manifests.ANY_CLIENT.name,
    slices: clients.SlicesOption = None,
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
    whose = clients.chosen(plan, client, slices)
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
