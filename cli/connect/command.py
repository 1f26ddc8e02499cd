"""The command: the way to the proxy, the variables, and a program that uses both."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import clients, stacks
from cli.cloud.errors import CloudError, told
from cli.connect.python import VARIABLE
from pathways import endpoints
from pathways.director.plan import DirectorPlan


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
    client: Annotated[
        str | None,
        typer.Option("--client", metavar="NAME", help="Mode service: the client's name; default: yours and a number."),
    ] = None,
    slices: clients.SlicesOption = None,
    venv: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", envvar=VARIABLE, help="A virtual environment with the stack's JAX; default: one is made."
        ),
    ] = None,
) -> None:
    """Connect a JAX client to a stack's proxy: open the way, set the variables, start a program.

    The program runs in a virtual environment with the JAX version that the images are for; on Cluster Director on the
    login node, in that of setup_env.sh. A proxy serves one client at a time; in mode service each client gets one of its
    own, which goes when the program ends.
    """
    plan, _ = stacks.load(stack)
    shared = plan.settings.workload.mode == "service"
    if (client or slices) and not shared:
        option = "--client" if client else "--slices"
        raise typer.BadParameter(f"{stack} is not in mode service: all of it is its one client's.", param_hint=option)
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
            from cli.connect import gke

            run = gke.Run(tuple(program or ()), jupyter, hold, venv)
            if print_env:
                code = gke.print_env(plan, port, forward)
            elif shared:
                whose = clients.chosen(plan, client or clients.name_of_own(plan), slices)
                code = gke.with_own_proxy(plan, whose, port, run)
            else:
                code = gke.connect(plan, port, forward, run)
    raise typer.Exit(code)
