"""Stacks by name or by file, and what is wrong with them said on standard error."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from pathways import plan, stackfile
from pathways.director import plan as director
from pathways.director.plan import DirectorPlan
from pathways.faults import Fault, StackError
from pathways.plan import Plan

FOLDER = Path(__file__).resolve().parent.parent / "stacks"
# As typer ends where it does not understand the command line.
EXIT_FAULTY = 2


def names() -> list[str]:
    """The stacks of this checkout."""
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in FOLDER.glob("Pulumi.*.yaml"))


StackOption = Annotated[
    str,
    typer.Option(
        "--stack",
        "-s",
        metavar="STACK",
        help="A stack in stacks/, or the path of a file Pulumi.STACK.yaml.",
        autocompletion=names,
    ),
]


def load(stack: str) -> tuple[Plan | DirectorPlan, list[Fault]]:
    """The plan of a stack and the warnings about it. Where there are faults, says all of them and ends the program."""
    try:
        settings, warnings = stackfile.from_file(_path(stack))
    except StackError as error:
        say(str(error))
        raise typer.Exit(EXIT_FAULTY) from None
    made = plan.make(settings) if settings.platform == "gke" else director.make(settings)
    return made, warnings


def say(message: str, prefix: str = "") -> None:
    """Tell a person, apart from what a program reads."""
    # Soft, so that a sentence is not cut where nobody watches the width.
    Console(stderr=True, highlight=False, soft_wrap=True).print(prefix + escape(message))


def warn(warnings: list[Fault]) -> None:
    """Say what should be known about a stack that may be deployed all the same."""
    for warning in warnings:
        say(str(warning), "[yellow]warning:[/] ")


def _path(stack: str) -> Path:
    if stack.endswith(".yaml"):
        return Path(stack)
    path = FOLDER / f"Pulumi.{stack}.yaml"
    if not path.exists():
        raise typer.BadParameter(
            f"there is no stack {stack}. Stacks here: {', '.join(names())}; the path of a file Pulumi.STACK.yaml does "
            "as well.",
            param_hint="--stack",
        )
    return path
