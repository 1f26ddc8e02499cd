"""The `pathways` program: one command per module of this package."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer

from cli import checks, render, schema, topologies
from cli.connect import command as connect
from cli.events import command as events
from cli.logs import command as logs
from cli.plan import command as plan
from cli.preflight import command as preflight
from cli.report import command as report
from cli.status import command as status

app = typer.Typer(name="pathways", no_args_is_help=True, pretty_exceptions_show_locals=False)


@app.callback()
def pathways() -> None:
    """Pathways on Google Cloud, from a stack file."""


def _help(command: Callable[..., None]) -> str:
    """A docstring whose paragraphs are as wide as the reader's terminal, not as the code."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


_COMMANDS: dict[str, Callable[..., None]] = {
    "plan": plan.command,
    "render": render.command,
    "checks": checks.command,
    "topologies": topologies.command,
    "schema": schema.command,
    "preflight": preflight.command,
    "status": status.command,
    "connect": connect.command,
    "events": events.command,
    "logs": logs.command,
    "report": report.command,
}
for name, command in _COMMANDS.items():
    app.command(name, help=_help(command))(command)
