"""The command: lines of the components in order of time."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli import progress, stacks
from cli.cloud.errors import CloudError, told
from cli.logs.lines import COMPONENTS, Line
from pathways.director.plan import DirectorPlan

if TYPE_CHECKING:
    from cli.cloud.google import Google
    from cli.logs.reading import Read, Wanted
    from pathways.plan import Plan

    Reader = Callable[[Wanted], Read]

_AGO = re.compile(r"(\d+)([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_COLOURS = {"resource-manager": "cyan", "proxy": "magenta", "client": "green"}
FOLLOW_SECONDS = 5


def command(
    stack: stacks.StackOption,
    component: Annotated[
        str | None,
        typer.Argument(help=f"One of {', '.join(COMPONENTS)}; default: all.", autocompletion=lambda: list(COMPONENTS)),
    ] = None,
    slice_: Annotated[
        int | None, typer.Option("--slice", min=0, metavar="N", help="Only workers of this slice.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="AGO", help="Only lines since then, such as 15m, 2h or 1d.")] = "",
    tail: Annotated[int, typer.Option(min=1, metavar="N", help="How many of the newest lines.")] = 500,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new lines until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line, for programs.")] = False,
) -> None:
    """Show what the components of Pathways said, in order of time: of pods that run, and of those that are gone.

    On GKE, nodes are asked for what they keep, and Cloud Logging for the rest; on Cluster Director the login node has
    the files of the newest service.
    """
    if component and component not in COMPONENTS:
        raise typer.BadParameter(f"there is no {component}. There are {', '.join(COMPONENTS)}.", param_hint="COMPONENT")
    start = _start(since)
    plan, _ = stacks.load(stack)
    from cli.cloud.google import Google
    from cli.logs.reading import Wanted

    wanted = Wanted((component,) if component else (), slice_, start, tail)
    with told():
        with progress.waiting(f"reading what {stack} said"):
            read = _reader(Google(), plan)
            found = read(wanted)
        _print(found.lines, as_json)
        _complain(found)
        if follow:
            _follow(read, wanted, found.lines, as_json)


def _reader(google: Google, plan: Plan | DirectorPlan) -> Reader:
    """Reads what is wanted of a stack's logs, now or again later. Raises CloudError where it is not deployed."""
    from cli.logs.reading import Read, read

    if isinstance(plan, DirectorPlan):
        from cli.cloud import login
        from cli.logs import slurm

        cluster = login.find(google, plan)
        return lambda wanted: Read(slurm.read(plan, cluster, wanted))
    from cli.cloud.stack import find

    deployed = find(google, plan)

    def from_gke(wanted: Wanted) -> Read:
        """What there is; where the cluster does not answer, what Cloud Logging has."""
        try:
            return read(deployed, deployed.pods(), wanted)
        except CloudError as error:
            found = read(deployed, [], wanted)
            found.silent.insert(0, error)
            return found

    return from_gke


def _start(ago: str) -> str:
    if not ago:
        return ""
    found = _AGO.fullmatch(ago)
    if not found:
        raise typer.BadParameter(f'"{ago}" is no time. Write 90s, 15m, 2h or 1d.', param_hint="--since")
    then = datetime.now(UTC) - timedelta(**{_UNITS[found.group(2)]: int(found.group(1))})
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def _follow(read: Reader, wanted: Wanted, shown: list[Line], as_json: bool) -> None:
    known = set(shown)
    try:
        while True:
            time.sleep(FOLLOW_SECONDS)
            since = max((each.time[:19] + "Z" for each in known if each.time), default=wanted.since)
            new = [each for each in read(replace(wanted, since=since)).lines if each not in known]
            _print(new, as_json)
            known.update(new)
    except KeyboardInterrupt:
        return


def _print(lines: list[Line], as_json: bool) -> None:
    console = Console(highlight=False, soft_wrap=True)
    width = max((len(each.where) for each in lines), default=0)
    for each in lines:
        if as_json:
            typer.echo(json.dumps(asdict(each), ensure_ascii=False))
        else:
            colour = _COLOURS.get(each.component, "yellow")
            where = (f"{each.where:<{width}}  ", colour)
            console.print(Text.assemble((f"{each.time[:19].replace('T', ' ')}  ", "dim"), where, each.text))


def _complain(found: Read) -> None:
    for each in found.silent:
        stacks.say(f"{each.reason}\n  fix: {each.fix}", "[yellow]not read:[/] ")
    if not found.lines:
        stacks.say("There are no lines.")
