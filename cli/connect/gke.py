"""The way to a proxy on GKE, and what runs at the end of it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import typer

from cli import progress, stacks
from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.cloud.stack import find
from cli.connect import own_proxy, way
from cli.connect.python import PLUGIN, environment
from pathways.plan import Plan
from pathways.proxy_job import Client


@dataclass(frozen=True)
class Run:
    """What runs at the end of the way: a program, or without one a shell, JupyterLab, or with `hold` nothing.

    `venv` is the virtual environment for it; None has one made.
    """

    program: tuple[str, ...] = ()
    jupyter: bool = False
    hold: bool = False
    venv: Path | None = None


def print_env(plan: Plan, port: int, forward: bool) -> int:
    """Print the variables for a shell: those of the load balancer, or of the port that another command keeps open."""
    way.refuse(plan)
    stack = plan.settings.stack
    if forward or plan.proxy_service is None:
        _print(way.variables("127.0.0.1", port))
        stacks.say(f"They lead to the port that pathways connect -s {stack} --hold --port {port} keeps open.")
    else:
        with progress.waiting(f"looking for the proxy of {stack}"):
            address = way.balancer(find(Google(), plan))
        _print(way.variables(address))
    return 0


def connect(plan: Plan, port: int, forward: bool, run: Run) -> int:
    """Run a client at the stack's proxy; its exit code. With `forward` through a port although there is a balancer."""
    way.refuse(plan)
    balanced = plan.proxy_service is not None and not forward
    with progress.waiting(f"looking for the proxy of {plan.settings.stack}"):
        deployed = find(Google(), plan)
        found = way.balancer(deployed) if balanced else way.head_pod(deployed)
    if balanced:
        return _start(plan, way.variables(found), run)
    with way.open_way(deployed, found, port) as variables:
        return _start(plan, variables, run)


def with_own_proxy(plan: Plan, client: Client, port: int, run: Run) -> int:
    """Run a client of a shared service at a proxy that is there for it alone; its exit code."""
    with progress.waiting(f"looking for the service of {plan.settings.stack}"):
        deployed = find(Google(), plan)
        way.head_pod(deployed)
    # Made first, as the proxy holds its slices from its beginning.
    folder = None if run.hold else environment(plan.settings.runtime.jax, run.venv, run.jupyter)
    with own_proxy.brought(deployed, client) as pod, way.open_way(deployed, pod, port) as variables:
        return _start(plan, variables, run, folder)


def _start(plan: Plan, variables: dict[str, str], run: Run, folder: Path | None = None) -> int:
    """Run the program to its end; its exit code. `folder` is the bin folder of its environment, if that is known."""
    if run.hold:
        _print(variables)
        stacks.say(f"The way to the proxy of {plan.settings.stack} is open until Ctrl-C.")
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return 0
    folder = folder or environment(plan.settings.runtime.jax, run.venv, run.jupyter)
    argv = list(run.program) or (["jupyter", "lab"] if run.jupyter else [os.environ.get("SHELL", "/bin/sh")])
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
