"""The `pathways` program: one command per module of this package."""

from __future__ import annotations

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


app.command("plan")(plan.command)
app.command("render")(render.command)
app.command("checks")(checks.command)
app.command("topologies")(topologies.command)
app.command("schema")(schema.command)
app.command("preflight")(preflight.command)
app.command("status")(status.command)
app.command("connect")(connect.command)
app.command("events")(events.command)
app.command("logs")(logs.command)
app.command("report")(report.command)
