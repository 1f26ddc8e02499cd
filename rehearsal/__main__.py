"""`python -m rehearsal`: rehearse a stack on this machine."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rehearsal import faults, pods, view
from rehearsal.client import ENVIRONMENT
from rehearsal.errors import RehearsalError
from rehearsal.home import Home
from rehearsal.kubernetes import trouble
from rehearsal.project import StackFile, needs, on_director, protected, tpu_vms
from rehearsal.pulumi import Stack
from rehearsal.session import Session
from rehearsal.slurm import install, service
from rehearsal.slurm import view as slurm_view
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.tools import Tools

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
# A pipe or a file has no width, and nothing is to be cut there.
console = Console() if Console().is_terminal else Console(width=160)
DEFAULT_STACK = "gke-v6e"
"""What make takes where nobody names a stack."""
StackName = Annotated[str, typer.Argument(metavar="STACK", help="A stack in stacks/, or the path of a stack file.")]


# Up to this size a machine holds a process for every container.
MOST_VMS_WITH_PODS = 64
RunPods = Annotated[
    bool | None,
    typer.Option(help=f"Run the pods' containers as processes; by default for up to {MOST_VMS_WITH_PODS} TPU VMs."),
]


@app.command()
def up(stack: StackName, run_pods: RunPods = None) -> None:
    """Start the rehearsal, run `pulumi up`, and show what runs where."""
    file = StackFile.find(stack)
    session = _session()
    session.home.create()
    session.home.choose(run_pods=tpu_vms(file) <= MOST_VMS_WITH_PODS if run_pods is None else run_pods)
    timings: dict[str, float] = {}
    with _timed(timings, "start of the rehearsal"):
        _start(session, file)
    target = Stack(session, file)
    with _timed(timings, "the stack is made ready"):
        target.prepare()
        target.recover(console.print)
    with _timed(timings, "pulumi up"):
        watch = pods.Watch(session, target.config("gcp:project")) if session.home.run_pods else None
        _run(target, "up", "--yes", "--skip-preview", watch=watch)
    if on_director(file):
        with _timed(timings, "the Pathways service"):
            _serve(session, target)
    with _timed(timings, "what runs where"):
        outputs = _show(session, target)
    if on_director(file):
        with _timed(timings, "client check"):
            console.print("\nclient check: a JAX program on the login node")
            service.check(_slurm(session, target, outputs), outputs, _say)
    elif "jobSet" in outputs:
        with _timed(timings, "client check"):
            _check(session, file, target, outputs)
    (session.home.root / "timings.json").write_text(json.dumps(timings))
    chosen = "" if stack == DEFAULT_STACK else f" STACK={stack}"
    console.print(f"\nUp after {sum(timings.values()):.0f} s. Next:", highlight=False)
    _list(
        *((f"make {command}{chosen}", what) for command, what in _NEXT.items()),
        ('eval "$(python -m rehearsal env)"', "kubectl, gcloud and pulumi on the rehearsal"),
    )
    if on_director(file):
        console.print("On the login node, as its user:")
        _list(*slurm_view.next_steps(stack, outputs))


def _list(*steps: tuple[str, str]) -> None:
    """Print commands and what they do."""
    width = max(len(step) for step, _ in steps) + 2
    for step, what in steps:
        console.print(f"  {step:{width}}{what}", highlight=False, soft_wrap=True)


_NEXT = {
    "status": "servers and what runs where",
    "outputs": "addresses and numbers",
    "preview": "what a change of the stack file would do",
    "down": "remove everything",
}


def _serve(session: Session, target: Stack) -> None:
    """Start the Pathways service on Slurm, as a user would."""
    outputs = target.outputs()
    with console.status("starting the Pathways service"):
        service.ensure(_slurm(session, target, outputs), outputs, _say)


def _say(line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _check(session: Session, file: StackFile, target: Stack, outputs: dict[str, Any]) -> None:
    """Try the stack with a real JAX client, where its pods run."""
    project = target.config("gcp:project")
    for cluster in view.clusters(session, project):
        if cluster["name"] == outputs["clusterName"] and pods.runs(session, project, cluster):
            console.print()
            pods.check(session, file, cluster, project, outputs, _say)


def _slurm(session: Session, target: Stack, outputs: dict[str, Any]) -> SlurmCluster:
    """The Slurm of the stack's cluster. Raises RehearsalError where there is none."""
    project, region = (target.config(f"gcp:{key}") for key in ("project", "region"))
    name = f"projects/{project}/locations/{region}/clusters/{outputs.get('clusterName', '')}"
    found = session.slurm.find(name)
    if not found.exists:
        raise RehearsalError(f"No Slurm runs for {target.name}. Deploy it: make up STACK={target.name}")
    return found


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


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def login(
    stack: StackName,
    command: Annotated[list[str] | None, typer.Argument(help="A command to run instead of a shell.")] = None,
) -> None:
    """Log in to the login node of a Slurm cluster, or run a command there."""
    target = _existing(stack)
    cluster = _slurm(_session(), target, target.outputs())
    os.chdir(cluster.folder / "home")
    argv = cluster.on_login_node(*(command or ["bash", "--norc", "-i"]))
    os.execve(argv[0], argv, {**cluster.environment(), "TERM": os.environ.get("TERM", "dumb"), "PS1": r"\u@\h:\w\$ "})


@app.command()
def env() -> None:
    """Print the variables that point Pulumi, gcloud and kubectl at the rehearsal."""
    session = _session()
    variables = session.environment()
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")


@app.command()
def fault(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which one; without a name, all are listed.")
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Switch it off again.")] = False,
) -> None:
    """Let something go wrong in the rehearsed cloud: a stock-out, a missing permission, nodes that are not ready."""
    session = _session()
    table = Table("fault", "", "what happens", box=None, pad_edge=False, header_style="bold")
    for each in faults.switch(session, name, on=not off) if name else faults.all(session):
        table.add_row(each["name"], "[red]on[/]" if each["on"] else "", each["what"])
    console.print(table)


def _session() -> Session:
    return Session(Home.default(), Tools.locate())


def _start(session: Session, file: StackFile) -> None:
    """Build what is not built, which takes long the first time, and start what does not run."""
    session.build(needs(file))
    if on_director(file):
        install.ensure(console.print)
    if on_director(file) or session.home.run_pods:
        ENVIRONMENT.ensure()
    with console.status("starting the rehearsal"):
        session.start(console.print)


def _existing(stack: str) -> Stack:
    file = StackFile.find(stack)
    session = _session()
    target = Stack(session, file)
    target.prepare()
    return target


def _run(target: Stack, command: str, *arguments: str, watch: Callable[[], None] | None = None) -> None:
    code = target.run(*command.split(), *arguments, watch=watch)
    if code != 0:
        raise typer.Exit(code)


def _show(session: Session, target: Stack) -> dict[str, Any]:
    """Print what runs where; the stack's outputs."""
    outputs = target.outputs()
    if not outputs:
        console.print(f"Nothing of {target.name} is deployed. Deploy it: make up STACK={target.name}")
        return outputs
    if "jobSet" not in outputs:
        view.show_director(console, outputs)
        slurm_view.show(console, _slurm(session, target, outputs), outputs)
        return outputs
    for cluster in view.clusters(session, target.config("gcp:project")):
        if cluster["name"] == outputs["clusterName"]:
            view.write_kubeconfig(session, cluster, session.home.root / "kubeconfig")
            namespace, _, job_set = outputs["jobSet"].partition("/")
            with view.api(session, cluster) as api:
                view.show(console, outputs, view.pods(api, namespace, job_set), trouble.refused(api, namespace))
    return outputs


def main() -> None:
    try:
        app()
    except RehearsalError as error:
        Console(stderr=True).print(f"[red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
