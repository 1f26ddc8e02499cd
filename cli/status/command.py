"""The command: a screen, once or again and again, or all of it as JSON."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from cli import progress, stacks
from cli.cloud.errors import CloudError, told
from pathways.director.plan import DirectorPlan

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cli.cloud.google import Google
    from cli.status.diagnoses import Trouble
    from pathways.plan import Plan

EXIT_TROUBLE = 1


@dataclass(frozen=True)
class Look:
    """One look at a stack: all that is seen as JSON, what is the matter, and both to be shown."""

    seen: dict[str, Any]
    troubles: list[Trouble]
    screen: RenderableType


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
    with told():
        _watch(google, plan, every) if watch else _once(google, plan, as_json)


def _look(google: Google, plan: Plan | DirectorPlan) -> Look:
    """What is seen, what is the matter, and how to show both. Raises CloudError where nobody can be asked."""
    from cli.status.diagnoses import DIAGNOSES, diagnose

    if isinstance(plan, DirectorPlan):
        from cli.status import director, slurm
        from cli.status.diagnoses.director import DIAGNOSES as OF_SLURM

        seen = slurm.observe(google, plan)
        found = diagnose(seen, OF_SLURM)
        return Look(asdict(seen), found, director.screen(seen, found))
    from cli.status.observe import observe
    from cli.status.screen import screen

    snapshot = observe(google, plan)
    troubles = diagnose(snapshot, DIAGNOSES)
    return Look(asdict(snapshot), troubles, screen(snapshot, troubles))


def _once(google: Google, plan: Plan | DirectorPlan, as_json: bool) -> None:
    with progress.waiting(f"looking at {plan.settings.stack}"):
        look = _look(google, plan)
    if as_json:
        document = {"troubles": [asdict(each) for each in look.troubles], **look.seen}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _console().print(look.screen)
    if look.troubles:
        raise typer.Exit(EXIT_TROUBLE)


def _watch(google: Google, plan: Plan | DirectorPlan, every: float) -> None:
    """Until Ctrl-C. A look that fails is said, and the next one is tried: a network comes back."""
    from rich.live import Live

    console = _console()
    try:
        if not console.is_terminal:
            while True:
                console.print(_seen(google, plan))
                time.sleep(every)
        with Live(console=console, screen=True, auto_refresh=False, vertical_overflow="visible") as live:
            while True:
                live.update(_seen(google, plan), refresh=True)
                time.sleep(every)
    except KeyboardInterrupt:
        return


def _seen(google: Google, plan: Plan | DirectorPlan) -> RenderableType:
    """The screen now, or why there is none."""
    from rich.text import Text

    try:
        return _look(google, plan).screen
    except CloudError as error:
        return Text(str(error), "red")


def _console() -> Console:
    """Where nobody watches the width, nothing is cut."""
    return Console() if Console().is_terminal else Console(width=160)
