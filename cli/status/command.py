"""The command: a screen, once or again and again, or all of it as JSON."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cli import progress, stacks
from cli.cloud.errors import EXIT_UNREACHABLE, CloudError
from pathways.director.plan import DirectorPlan

if TYPE_CHECKING:
    from cli.cloud.google import Google
    from pathways.plan import Plan

EXIT_TROUBLE = 1


def command(
    stack: stacks.StackOption,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Look again and again, until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="With --watch: seconds between looks.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON, for programs.")] = False,
) -> None:
    """Show how a deployed stack is, and what is the matter: the probable cause and the next command. Changes nothing.

    Ends with 0 where nothing is the matter, 1 where something is, and 3 where Google cannot be asked.
    """
    if watch and as_json:
        raise typer.BadParameter("it goes on and on, which is no JSON.", param_hint="--watch")
    plan, _ = stacks.load(stack)
    from cli.cloud.google import Google

    google = Google()
    try:
        if isinstance(plan, DirectorPlan):
            from cli.status import director

            raise typer.Exit(director.show(google, plan, as_json))
        _watch(google, plan, every) if watch else _once(google, plan, as_json)
    except CloudError as error:
        stacks.say(str(error), "[red]error:[/] ")
        raise typer.Exit(EXIT_UNREACHABLE) from None


def _once(google: Google, plan: Plan, as_json: bool) -> None:
    from cli.status.diagnoses import DIAGNOSES, diagnose
    from cli.status.observe import observe
    from cli.status.screen import screen

    with progress.waiting(f"looking at {plan.settings.stack}"):
        snapshot = observe(google, plan)
    troubles = diagnose(snapshot, DIAGNOSES)
    if as_json:
        document = {"troubles": [asdict(each) for each in troubles], **asdict(snapshot)}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        console = Console() if Console().is_terminal else Console(width=160)
        console.print(screen(snapshot, troubles))
    if troubles:
        raise typer.Exit(EXIT_TROUBLE)


def _watch(google: Google, plan: Plan, every: float) -> None:
    """Until Ctrl-C. A look that fails is said, and the next one is tried: a network comes back."""
    from rich.live import Live
    from rich.text import Text

    from cli.status.diagnoses import DIAGNOSES, diagnose
    from cli.status.observe import observe
    from cli.status.screen import screen

    try:
        with Live(Text(f"looking at {plan.settings.stack}"), auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                try:
                    snapshot = observe(google, plan)
                    live.update(screen(snapshot, diagnose(snapshot, DIAGNOSES)), refresh=True)
                except CloudError as error:
                    live.update(Text(str(error), "red"), refresh=True)
                time.sleep(every)
    except KeyboardInterrupt:
        return
