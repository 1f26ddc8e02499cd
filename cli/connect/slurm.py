"""Clients of a stack on Cluster Director run on the cluster, where the firewall lets them through to the proxy."""

from __future__ import annotations

import shlex
import subprocess

from cli import progress
from cli.cloud import login
from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from pathways.director import plan as director
from pathways.director.plan import DirectorPlan


def connect(plan: DirectorPlan, program: list[str] | None, jupyter: bool) -> int:
    """Run a program, a shell or Jupyter's job on the login node; its exit code. Raises CloudError."""
    with progress.waiting(f"looking for the login node of {plan.settings.stack}"):
        cluster = login.find(Google(), plan)
    argv = login.interactive(plan, cluster, command(plan, program, jupyter))
    try:
        return subprocess.run(argv, check=False).returncode
    except OSError as error:
        raise CloudError("missing", f"{argv[0]} does not start: {error.strerror}", "install gcloud") from None


def command(plan: DirectorPlan, program: list[str] | None, jupyter: bool) -> str:
    """What a shell on the login node runs."""
    if jupyter:
        return f"sbatch {plan.scripts_folder}/run_jupyter.sh"
    return f"bash {plan.scripts_folder}/run_client.sh {shlex.join(program or ['bash', '-i'])}"


def print_env(plan: DirectorPlan) -> str:
    """The variables as the service wrote them, for a shell on the cluster. Raises CloudError where there is no service."""
    file = director.outputs(plan)["addressFile"]
    cluster = login.find(Google(), plan)
    said = login.run(plan, cluster, f"[ ! -f {file} ] || cat {file}")
    if not said.strip():
        raise CloudError(
            "missing", f"there is no {file} on the cluster", f"pathways status -s {plan.settings.stack} says why"
        )
    return "".join(f"{line}\n" for line in said.splitlines() if line.startswith("export "))
