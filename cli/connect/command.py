"""The command: the way to the proxy, the variables, and a program that uses both."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import progress, stacks
from cli.cloud.errors import CloudError, told
from cli.connect.python import VARIABLE
from pathways import endpoints
from pathways.director.plan import DirectorPlan

if TYPE_CHECKING:
    from cli.cloud.stack import Deployed
    from pathways.plan import Plan


def command(
    stack: stacks.StackOption,
    program: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="What to run, after --; default: a shell.")
    ] = None,
    jupyter: Annotated[bool, typer.Option("--jupyter", help="Start JupyterLab.")] = False,
    hold: Annotated[bool, typer.Option("--hold", help="Start nothing: keep the way open until Ctrl-C.")] = False,
    print_env: Annotated[
        bool, typer.Option("--print-env", help="Print the variables for a shell to evaluate, and end.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="Local port of the port-forward; 0: a free one.")
    ] = endpoints.PROXY_PORT,
    forward: Annotated[
        bool, typer.Option("--forward", help="Forward a port although there is a load balancer.")
    ] = False,
    venv: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", envvar=VARIABLE, help="A virtual environment with the stack's JAX; default: one is made."
        ),
    ] = None,
) -> None:
    """Connect a JAX client to a stack's proxy: open the way, set the variables, start a program.

    The program runs in a virtual environment with the JAX version that the images are for; on Cluster Director on the
    login node, in that of setup_env.sh. Pathways serves one client at a time.
    """
    plan, _ = stacks.load(stack)
    with told():
        if isinstance(plan, DirectorPlan):
            from cli.connect import slurm

            if print_env:
                typer.echo(slurm.print_env(plan), nl=False)
                return
            if hold:
                raise CloudError(
                    "refused", "no way is opened on Cluster Director: clients run there", "leave --hold out"
                )
            code = slurm.connect(plan, program, jupyter)
        else:
            code = _gke(plan, program, jupyter, hold, print_env, port, forward, venv)
    raise typer.Exit(code)


def _gke(
    plan: Plan,
    program: list[str] | None,
    jupyter: bool,
    hold: bool,
    print_env: bool,
    port: int,
    forward: bool,
    venv: Path | None,
) -> int:
    from cli.cloud.google import Google
    from cli.cloud.stack import find
    from cli.connect import way

    way.refuse(plan)
    stack = plan.settings.stack
    if print_env and (forward or plan.proxy_service is None):
        _print(way.variables("127.0.0.1", port))
        stacks.say(f"They lead to the port that pathways connect -s {stack} --hold --port {port} keeps open.")
        return 0
    with progress.waiting(f"looking for the proxy of {stack}"):
        deployed = find(Google(), plan)
        address = None if forward else way.balancer(deployed)
    if address is None:
        return _forwarded(deployed, port, program, jupyter, hold, venv)
    variables = way.variables(address)
    if print_env:
        _print(variables)
        return 0
    return _start(plan, variables, program, jupyter, hold, venv)


def _forwarded(
    deployed: Deployed, port: int, program: list[str] | None, jupyter: bool, hold: bool, venv: Path | None
) -> int:
    from cli.connect import way

    with way.open_way(deployed, port) as variables:
        return _start(deployed.plan, variables, program, jupyter, hold, venv)


def _start(
    plan: Plan, variables: dict[str, str], program: list[str] | None, jupyter: bool, hold: bool, venv: Path | None
) -> int:
    """Run the program to its end; its exit code."""
    if hold:
        _print(variables)
        stacks.say(f"The way to the proxy of {plan.settings.stack} is open until Ctrl-C.")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return 0
    from cli.connect.python import PLUGIN, environment

    folder = environment(plan.settings.runtime.jax, venv, jupyter)
    argv = program or (["jupyter", "lab"] if jupyter else [os.environ.get("SHELL", "/bin/sh")])
    stacks.say(f"{variables['JAX_BACKEND_TARGET']}, environment {folder.parent}: {shlex.join(argv)}")
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    modules = os.pathsep.join(filter(None, [str(PLUGIN), os.environ.get("PYTHONPATH", "")]))
    # Ctrl-C is for the program, which shares this terminal; the way stays open until it has ended.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        inherited = {**os.environ, **variables, "PATH": path, "PYTHONPATH": modules, "VIRTUAL_ENV": str(folder.parent)}
        return subprocess.run(argv, env=inherited, check=False, preexec_fn=_interruptible).returncode  # noqa: PLW1509
    except OSError as error:
        raise CloudError("missing", f"{argv[0]} does not start: {error.strerror}", "name a program on PATH") from None
    finally:
        signal.signal(signal.SIGINT, before)


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _print(variables: dict[str, str]) -> None:
    for name, value in variables.items():
        typer.echo(f"export {name}={shlex.quote(value)}")
