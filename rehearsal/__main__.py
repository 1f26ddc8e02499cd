"""`python -m rehearsal`: rehearse a stack on this machine."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from rehearsal import view
from rehearsal.errors import RehearsalError
from rehearsal.home import Home
from rehearsal.project import StackFile, needs, protected
from rehearsal.pulumi import Stack
from rehearsal.session import Session
from rehearsal.tools import Tools

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
# A pipe or a file has no width, and nothing is to be cut there.
console = Console() if Console().is_terminal else Console(width=160)
StackName = Annotated[str, typer.Argument(metavar="STACK", help="A stack in stacks/, or the path of a stack file.")]


@app.command()
def up(stack: StackName) -> None:
    """Start the rehearsal, run `pulumi up`, and show what runs where."""
    file = StackFile.find(stack)
    session = _session()
    timings: dict[str, float] = {}
    with _timed(timings, "start of the rehearsal"):
        _start(session, file)
    target = Stack(session, file)
    with _timed(timings, "the stack is made ready"):
        target.prepare()
        target.recover(console.print)
    with _timed(timings, "pulumi up"):
        _run(target, "up", "--yes", "--skip-preview")
    with _timed(timings, "what runs where"):
        _show(session, target)
    (session.home.root / "timings.json").write_text(json.dumps(timings))
    console.print(
        f"\nUp after {sum(timings.values()):.0f} s. Next:\n"
        "  make status    servers, slices and pods\n"
        "  make outputs   addresses and numbers\n"
        "  make preview   what a change of the stack file would do\n"
        "  make down      remove everything\n"
        '  eval "$(python -m rehearsal env)"   kubectl, gcloud and pulumi on the rehearsal',
        highlight=False,
        soft_wrap=True,
    )


@contextmanager
def _timed(timings: dict[str, float], step: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    timings[step] = time.monotonic() - began


@app.command()
def preview(stack: StackName, diff: Annotated[bool, typer.Option(help="Show every property.")] = True) -> None:
    """Show what `up` would change, and which property makes it replace something."""
    file = StackFile.find(stack)
    session = _session()
    _start(session, file)
    target = Stack(session, file)
    target.prepare()
    _run(target, "preview", *(["--diff"] if diff else []))


@app.command()
def refresh(stack: StackName) -> None:
    """Compare the stack's state with what the rehearsed cloud holds."""
    _run(_existing(stack), "refresh", "--yes")


@app.command()
def status(stack: StackName) -> None:
    """Show the servers of the rehearsal and where each pod runs."""
    target = _existing(stack)
    session = _session()
    for process in session.processes.all():
        state = "[green]running[/]" if process.alive else "[red]dead; make up starts it again[/]"
        console.print(f"{process.name:48} {state}")
    _show(session, target)


@app.command()
def outputs(stack: StackName) -> None:
    """Show the stack's outputs."""
    _run(_existing(stack), "stack output")


@app.command()
def down(stack: StackName) -> None:
    """Destroy the stack, end every process and remove the rehearsal's folder."""
    file = StackFile.find(stack)
    session = _session()
    if session.running:
        if protection := protected(file):
            console.print(f"{file.name} is protected ({protection}): its rehearsal is discarded without a destroy.")
        else:
            _start(session, file)
            target = Stack(session, file)
            target.prepare()
            target.recover(console.print)
            _run(target, "destroy", "--yes", "--skip-preview", "--remove")
    session.stop()
    console.print("The rehearsal is gone.")


@app.command()
def env() -> None:
    """Print the variables that point Pulumi, gcloud and kubectl at the rehearsal."""
    session = _session()
    variables = session.environment()
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")


def _session() -> Session:
    return Session(Home.default(), Tools.locate())


def _start(session: Session, file: StackFile) -> None:
    """Build what is not built, which takes long the first time, and start what does not run."""
    session.build(needs(file))
    with console.status("starting the rehearsal"):
        session.start(console.print)


def _existing(stack: str) -> Stack:
    file = StackFile.find(stack)
    session = _session()
    target = Stack(session, file)
    target.prepare()
    return target


def _run(target: Stack, command: str, *arguments: str) -> None:
    code = target.run(*command.split(), *arguments)
    if code != 0:
        raise typer.Exit(code)


def _show(session: Session, target: Stack) -> None:
    outputs = target.outputs()
    if not outputs:
        console.print(f"Nothing of {target.name} is deployed. Deploy it: make up STACK={target.name}")
        return
    if "jobSet" not in outputs:
        view.show_director(console, outputs)
        return
    gcp_project = target.read("config", "get", "gcp:project", "--stack", target.name).strip()
    for cluster in view.clusters(session, gcp_project):
        if cluster["name"] == outputs["clusterName"]:
            view.write_kubeconfig(session, cluster, session.home.root / "kubeconfig")
            namespace, _, job_set = outputs["jobSet"].partition("/")
            view.show(console, outputs, view.pods(view.api(session, cluster), namespace, job_set))


def main() -> None:
    try:
        app()
    except RehearsalError as error:
        Console(stderr=True).print(f"[red]error:[/] {error}", highlight=False, markup=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
