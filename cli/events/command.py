"""The command: Kubernetes' events of the JobSet, its jobs, pods and nodes, and GKE's operations, in order of time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from cli import progress, stacks
from cli.cloud.errors import told
from pathways import labels, names
from pathways.director.plan import DirectorPlan

if TYPE_CHECKING:
    from cli.cloud.stack import Deployed

Json = dict[str, Any]
_KINDS = ("JobSet", "Job", "Pod", "Workload", "Service")


@dataclass(frozen=True, order=True)
class Event:
    """Something that happened. `slice` is None for what belongs to none; `warning` for what should not happen."""

    time: str
    slice: int | None
    about: str
    reason: str
    message: str
    count: int
    warning: bool


def command(
    stack: stacks.StackOption,
    slice_: Annotated[int | None, typer.Option("--slice", min=0, metavar="N", help="Only of this slice.")] = None,
    warnings: Annotated[bool, typer.Option("--warnings", help="Only what should not happen.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, for programs.")] = False,
) -> None:
    """Show what happened to the JobSet, its pods and nodes, in order of time. Kubernetes keeps events for an hour.

    On Cluster Director: to the service's jobs within two days (where the cluster keeps no accounts, lately), to nodes
    that have a reason not to be used, and what the newest service says.
    """
    plan, _ = stacks.load(stack)
    from cli.cloud.google import Google

    with told(), progress.waiting(f"asking what happened to {stack}"):
        if isinstance(plan, DirectorPlan):
            from cli.cloud import login
            from cli.events import slurm

            found = slurm.read(plan, login.find(Google(), plan))
        else:
            from cli.cloud.stack import find

            found = read(find(Google(), plan))
    chosen = [each for each in found if slice_ in (None, each.slice) and (each.warning or not warnings)]
    _print(chosen, as_json)


def read(deployed: Deployed) -> list[Event]:
    """Events of the stack in order of time. Raises CloudError."""
    nodes = {
        node["metadata"]["name"]: node["metadata"].get("labels", {}).get(labels.NODE_POOL, "")
        for node in deployed.kubernetes.items("/api/v1/nodes")
    }
    pools = {pool.name: index for index, pool in enumerate(deployed.plan.tpu_pools)}
    name = deployed.plan.settings.workload.name
    here = deployed.kubernetes.items(f"/api/v1/namespaces/{deployed.namespace}/events")
    # Events of nodes, which lie in no namespace, are kept in "default".
    of_nodes = (
        here
        if deployed.namespace == "default"
        else deployed.kubernetes.items("/api/v1/namespaces/default/events", fieldSelector="involvedObject.kind=Node")
    )
    found = [_event(each, _slice_of(each["involvedObject"]["name"], name)) for each in here if _concerns(each, name)]
    found += [
        _event(each, pools.get(nodes[each["involvedObject"]["name"]]))
        for each in of_nodes
        if each["involvedObject"]["kind"] == "Node" and each["involvedObject"]["name"] in nodes
    ]
    return sorted([*found, *_operations(deployed, pools)], key=lambda each: (each.time, each.about))


def _concerns(event: Json, job_set: str) -> bool:
    about = event["involvedObject"]
    name = str(about.get("name", ""))
    return about.get("kind") in _KINDS and (name == job_set or name.startswith((f"{job_set}-", f"jobset-{job_set}-")))


def _slice_of(name: str, job_set: str) -> int | None:
    found = re.match(rf"{re.escape(job_set)}-{names.WORKER_JOB}-(\d+)(-|$)", name)
    return int(found.group(1)) if found else None


def _event(event: Json, slice_: int | None) -> Event:
    about = event["involvedObject"]
    series = event.get("series") or {}
    time = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return Event(
        time=str(time or event["metadata"]["creationTimestamp"]),
        slice=slice_,
        about=f"{about['kind']} {about['name']}",
        reason=event.get("reason", ""),
        message=" ".join(event.get("message", "").split()),
        count=series.get("count") or event.get("count") or 1,
        warning=event.get("type") == "Warning",
    )


def _operations(deployed: Deployed, pools: dict[str, int]) -> Iterator[Event]:
    """What GKE did to the cluster and its pools."""
    from cli.cloud.stack import cluster_path

    parent = cluster_path(deployed.plan).rpartition("/clusters/")[0]
    target = f"/clusters/{deployed.plan.names.cluster}"
    for each in deployed.google.gke("list_operations", parent=parent).operations:
        if each.target_link.endswith(target) or f"{target}/" in each.target_link:
            name = each.target_link.rpartition("/")[2]
            said = each.error.message or each.status_message or each.status.name.lower()
            yield Event(
                time=each.end_time or each.start_time,
                slice=pools.get(name),
                about=f"GKE {name}",
                reason=each.operation_type.name,
                message=said,
                count=1,
                warning=bool(each.error.message),
            )


def _print(events: list[Event], as_json: bool) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for each in events:
        if as_json:
            typer.echo(json.dumps(asdict(each), ensure_ascii=False))
            continue
        where = "        " if each.slice is None else f"slice {each.slice:<2}"
        times = f" ({each.count} times)" if each.count > 1 else ""
        console.print(
            Text.assemble(
                (f"{each.time[:19].replace('T', ' ')}  ", "dim"),
                (f"{where}  ", "cyan"),
                (f"{each.reason}  ", "bold red" if each.warning else "green"),
                f"{each.about}: {each.message}{times}",
            )
        )
    if not events:
        stacks.say("Nothing happened that is still known.")
