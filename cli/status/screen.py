"""The screen of a GKE stack: what is the matter first, then everything from the cluster to the slices."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cli.status.diagnoses import Trouble
from cli.status.diagnoses.logs import ALL_SLICES, READY
from cli.status.parts import silent, trouble
from cli.status.snapshot import Container, Pool, Snapshot
from pathways.geometry import count

_GOOD, _BAD, _SO_SO = "green", "bold red", "yellow"
#: Slices beyond are summed up, so that a hundred of them leave room for the rest.
MOST_SLICES = 16


def screen(snapshot: Snapshot, troubles: list[Trouble]) -> RenderableType:
    """All that is known, as one renderable."""
    parts: list[RenderableType] = [_headline(snapshot, troubles)]
    parts += [trouble(each) for each in troubles]
    if snapshot.status:
        parts += [_facts(snapshot), _pools(snapshot)]
    if snapshot.containers or snapshot.pending:
        parts += [_components(snapshot), _slices(snapshot)]
    if snapshot.silent:
        parts.append(silent(snapshot.silent))
    return Group(*parts)


def _headline(snapshot: Snapshot, troubles: list[Trouble]) -> Text:
    if troubles:
        verdict = (count(len(troubles), "trouble"), _BAD)
    elif snapshot.silent:
        verdict = ("nothing wrong in what could be seen", _SO_SO)
    else:
        verdict = ("well", _GOOD)
    amount = f": {count(snapshot.slices, 'slice')} of {count(snapshot.vms, 'VM')}, {count(snapshot.chips, 'chip')}, "
    return Text.assemble((snapshot.stack, "bold"), amount, verdict, (f"  {snapshot.taken}", "dim"))


def _facts(snapshot: Snapshot) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(
        "cluster",
        Text.assemble(
            f"{snapshot.cluster} in {snapshot.location} ", _state(snapshot.status), f", GKE {snapshot.version}"
        ),
    )
    for operation in snapshot.operations:
        grid.add_row("going on", operation)
    if job := snapshot.job:
        conditions = ", ".join(each.type for each in job.conditions) or "no condition yet"
        ready = ", ".join(f"{number} {name} ready" for name, number in sorted(job.ready.items()))
        said = f"{snapshot.namespace}/{snapshot.job_set}: {conditions}; {ready or 'no job yet'}; {count(job.restarts, 'restart')}"
        grid.add_row("JobSet", said)
    if snapshot.admission:
        grid.add_row(
            "Kueue", ("admitted: " if snapshot.admission.admitted else "waiting: ") + snapshot.admission.message
        )
    if line := snapshot.said("resource-manager", ALL_SLICES):
        grid.add_row("slices", Text(line.text.strip("* ").strip(), _GOOD))
    if snapshot.clients is None:
        grid.add_row("proxy", snapshot.proxy_address or "no address yet")
    elif not snapshot.clients:
        grid.add_row("clients", f"none now; pathways connect -s {snapshot.stack} starts one")
    for each in snapshot.clients or ():
        grid.add_row("client", f"{each.client}: {count(each.slices, 'slice')}, proxy {each.state} since {each.since}")
    return grid


def _pools(snapshot: Snapshot) -> Table:
    table = _table("Node pool", "Status", "Nodes ready", "Says")
    for pool in snapshot.pools:
        table.add_row(
            pool.name, _state(pool.status), _nodes(pool), pool.message or ", ".join(c.type for c in pool.conditions)
        )
    return table


def _nodes(pool: Pool) -> Text:
    if pool.nodes < 0:
        return Text("unknown", _SO_SO)
    asleep = pool.autoscaled and pool.nodes == 0
    return Text(
        "scaled to none" if asleep else f"{pool.ready}/{pool.wanted}",
        _GOOD if pool.ready == pool.wanted else _SO_SO if asleep else _BAD,
    )


def _components(snapshot: Snapshot) -> Table:
    table = _table("Component", "State", "Restarts", "Says")
    for each in snapshot.containers:
        if each.slice is None:
            said = snapshot.said(each.component, READY[each.component]) if each.component in READY else None
            table.add_row(each.component, _container(each), str(each.restarts), said.text if said else each.message)
    return table


def _slices(snapshot: Snapshot) -> Table:
    table = _table("Slice", "Workers ready", "Restarts", "Pending", "Not running")
    for index in range(min(snapshot.slices, MOST_SLICES)):
        workers = snapshot.of_slice(index)
        ready = sum(each.ready for each in workers)
        states = sorted({each.state for each in workers if each.state != "running"})
        table.add_row(
            str(index),
            Text(f"{ready}/{snapshot.vms}", _GOOD if ready == snapshot.vms else _BAD),
            str(sum(each.restarts for each in workers)),
            str(sum(each.slice == index for each in snapshot.pending) or ""),
            ", ".join(states),
        )
    if snapshot.slices > MOST_SLICES:
        rest = range(MOST_SLICES, snapshot.slices)
        whole = sum(sum(each.ready for each in snapshot.of_slice(index)) == snapshot.vms for index in rest)
        table.add_row("…", f"{whole} of {len(rest)} more slices are whole")
    return table


def _container(container: Container) -> Text:
    good = container.state == "running" and container.ready
    return Text(
        container.state if good or container.state != "running" else "running, not ready", _GOOD if good else _BAD
    )


def _state(status: str) -> Text:
    good = status in ("RUNNING", "RECONCILING")
    return Text(status, _GOOD if good else _SO_SO if status == "PROVISIONING" else _BAD)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
