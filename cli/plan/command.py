"""The command: a stack in, one or more forms of its plan out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cli import director, stacks
from cli.plan import data, picture, terminal
from pathways.director.plan import DirectorPlan


def command(
    stack: stacks.StackOption,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON, for programs.")] = False,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw slices, nodes, ports and addresses into an SVG file; - prints it."),
    ] = None,
) -> None:
    """Show everything that follows from a stack file. Nothing is created and nobody is asked."""
    plan, warnings = stacks.load(stack)
    # A pipe or file has no width: nothing is to be cut there.
    console = Console() if Console().is_terminal else Console(width=200)
    if isinstance(plan, DirectorPlan):
        if svg:
            raise typer.BadParameter("there is no picture of a stack on Cluster Director.", param_hint="--svg")
        described = director.describe(plan, warnings)
        if as_json:
            typer.echo(json.dumps(described, indent=2, ensure_ascii=False))
        else:
            director.show(console, described)
        return
    described = data.describe(plan, warnings)
    if svg:
        _put(svg, picture.draw(plan))
    if as_json:
        typer.echo(json.dumps(described, indent=2, ensure_ascii=False))
    elif not svg:
        terminal.show(console, described)


def _put(path: Path, content: str) -> None:
    if str(path) == "-":
        typer.echo(content, nl=False)
        return
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}.", param_hint="--svg") from None
    stacks.say(f"wrote {path}")
