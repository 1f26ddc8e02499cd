"""The `pathways` program: one command per module of this package."""

from __future__ import annotations

import typer

from cli import topologies

app = typer.Typer(name="pathways", no_args_is_help=True, pretty_exceptions_show_locals=False)


@app.callback()
def pathways() -> None:
    """Pathways on Google Cloud, from a stack file."""


app.command("topologies")(topologies.command)
