"""Commands on the login node of a Cluster Director cluster: by gcloud's ssh, or right here on one of its nodes.

PATHWAYS_LOGIN names a program that stands in for ssh, as in a rehearsal: it gets the cluster's name in Google's API
(projects/P/locations/L/clusters/C) and a command.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

from cli.cloud.errors import CloudError
from cli.cloud.google import Google, Json
from pathways.director.plan import DirectorPlan

VARIABLE = "PATHWAYS_LOGIN"
# A tunnel, a connection and Slurm's answer.
TIMEOUT_SECONDS = 60
#: gcloud makes it at its first ssh, and tells Google of it; which is no business of a command that only reads.
KEY = Path("~/.ssh/google_compute_engine")
# As ssh ends where it did not get through.
_SSH_FAILED = 255


def cluster_path(plan: DirectorPlan) -> str:
    """The cluster as Google's API names it."""
    settings = plan.settings
    return f"projects/{settings.project}/locations/{settings.region}/clusters/{plan.cluster['cluster_id']}"


def find(google: Google, plan: DirectorPlan) -> Json:
    """The cluster, as the API has it. Raises CloudError, also where it does not exist."""
    path = cluster_path(plan)
    google.authorize()
    try:
        return google.ask(
            "hypercomputecluster", "v1", lambda service: service.projects().locations().clusters().get(name=path)
        )
    except CloudError as error:
        if error.kind != "missing":
            raise
        stack = plan.settings.stack
        fix = f"pulumi up -s {stack}; pathways preflight -s {stack} asks first whether it can be"
        raise CloudError("missing", f"{stack} is not deployed: {error.reason}", fix) from None


def nodes(cluster: Json) -> list[str]:
    """Names of the login nodes' VMs."""
    login = cluster.get("orchestrator", {}).get("slurm", {}).get("loginNodes", {})
    return [str(each["instance"]).rpartition("/")[2] for each in login.get("instances", []) if each.get("instance")]


def ssh(plan: DirectorPlan, cluster: Json, command: str = "") -> list[str]:
    """The command line that runs `command` on the first login node, or a shell."""
    node = next(iter(nodes(cluster)), "LOGIN_NODE")
    where = ["--project", plan.settings.project, "--zone", plan.settings.slices.zone, "--tunnel-through-iap"]
    return ["gcloud", "compute", "ssh", node, *where, *(["--command", command] if command else [])]


def run(plan: DirectorPlan, cluster: Json, script: str) -> str:
    """What a shell script prints on the login node. Raises CloudError."""
    argv = _way(plan, cluster, script)
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CloudError(
            "timeout", f"the login node did not answer within {TIMEOUT_SECONDS} s", shlex.join(ssh(plan, cluster))
        ) from None
    except OSError as error:
        raise CloudError(
            "missing", f"{argv[0]} does not start: {error.strerror}", f"set {VARIABLE} to a program that is there"
        ) from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"code {done.returncode}").splitlines()[-1]
        if done.returncode == _SSH_FAILED:
            fix = f"see that you may log in: {shlex.join(ssh(plan, cluster))}; it takes roles/compute.osLogin and roles/iap.tunnelResourceAccessor"
            raise CloudError("network", f"there is no way to the login node: {said}", fix)
        raise CloudError("refused", f"the login node says: {said}", "see that slurmctld runs: sinfo")
    return done.stdout


def interactive(plan: DirectorPlan, cluster: Json, command: str) -> list[str]:
    """The command line that runs a shell command there with this terminal; at the first time gcloud makes a key."""
    if stand_in := os.environ.get(VARIABLE):
        return [*shlex.split(stand_in), cluster_path(plan), "bash", "-c", command]
    if _is_node(plan):
        return ["bash", "-c", command]
    return [*ssh(plan, cluster, command), "--", "-t"]


def _is_node(plan: DirectorPlan) -> bool:
    """Whether this machine is one of the cluster's."""
    return socket.gethostname().startswith(f"{plan.cluster['cluster_id']}-") and shutil.which("squeue") is not None


def _way(plan: DirectorPlan, cluster: Json, script: str) -> list[str]:
    if stand_in := os.environ.get(VARIABLE):
        return [*shlex.split(stand_in), cluster_path(plan), "bash", "-c", script]
    if _is_node(plan):
        return ["bash", "-c", script]
    by_hand = shlex.join(ssh(plan, cluster))
    if shutil.which("gcloud") is None:
        raise CloudError("missing", "there is no gcloud here, which leads to the login node", f"install it; {by_hand}")
    if not KEY.expanduser().exists():
        raise CloudError(
            "missing", "gcloud has no ssh key on this machine yet", f"log in once, which makes it: {by_hand}"
        )
    return [*ssh(plan, cluster, script), "--quiet", "--ssh-flag=-oBatchMode=yes", "--ssh-flag=-oConnectTimeout=20"]
