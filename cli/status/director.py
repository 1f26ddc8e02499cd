"""The screen of a stack on Cluster Director."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cli.status.diagnoses import Trouble
from cli.status.parts import silent, trouble
from cli.status.slurm import Director
from pathways.geometry import count

_GOOD, _BAD, _SO_SO = "green", "bold red", "yellow"
#: Slices beyond are summed up.
MOST_TASKS = 16


def screen(seen: Director, troubles: list[Trouble]) -> RenderableType:
    """All that is known, as one renderable."""
    if troubles:
        verdict = (count(len(troubles), "trouble"), _BAD)
    elif seen.silent:
        verdict = ("nothing wrong in what could be seen", _SO_SO)
    else:
        verdict = ("well", _GOOD)
    headline = Text.assemble((seen.stack, "bold"), f": {count(seen.slices, 'slice')} on Slurm, ", verdict)
    parts: list[RenderableType] = [headline, *(trouble(each) for each in troubles)]
    if seen.state:
        parts.append(_facts(seen))
    if seen.service or seen.tasks:
        parts.append(_queue(seen))
    if seen.silent:
        parts.append(silent(seen.silent))
    return Group(*parts)


def _facts(seen: Director) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("cluster", f"{seen.cluster} in {seen.region} {seen.state}")
    for node in seen.login_nodes:
        grid.add_row("login node", node)
    if seen.asked:
        known = seen.address.get("PATHWAYS_PROXY_ADDRESS")
        grid.add_row("proxy", f"{known}, as {seen.address_file} says" if known else f"there is no {seen.address_file}")
    if seen.said:
        grid.add_row("service says", seen.said[-1])
    return grid


def _queue(seen: Director) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Job", "Name", "State", "Time", "Nodes"):
        table.add_column(heading, overflow="fold")
    every = [*([seen.service] if seen.service else []), *seen.tasks]
    for job in every[: MOST_TASKS + 1]:
        state = Text(job.state, _GOOD if job.state == "RUNNING" else _SO_SO)
        table.add_row(job.id, job.name, state, job.time, job.nodes or f"({job.reason})")
    if rest := every[MOST_TASKS + 1 :]:
        running = sum(job.state == "RUNNING" for job in rest)
        table.add_row("…", f"{running} of {len(rest)} more slices run")
    return table
