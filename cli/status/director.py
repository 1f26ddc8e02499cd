"""A stack on Cluster Director: the cluster as Google's API tells it, and the jobs where Slurm can be asked.

Slurm and the users' files are on the cluster's own nodes. There, `squeue` and `~/pathways/cluster.env` are read;
elsewhere the command is named that shows them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli import progress
from cli.cloud.errors import CloudError
from cli.cloud.google import Google, Json
from cli.status.diagnoses.registry import Trouble
from cli.status.snapshot import Silent
from pathways.director.plan import DirectorPlan

SERVICE_JOB = "pathways"
ADDRESS_FILE = Path("~/pathways/cluster.env")
SQUEUE = ("squeue", "--me", "--array", "--noheader", "--format=%i|%j|%T|%r|%M|%N")
_SQUEUE_SECONDS = 15


@dataclass(frozen=True)
class Job:
    """A job or a task of an array job, as squeue tells of it."""

    id: str
    name: str
    state: str
    reason: str
    time: str
    nodes: str


@dataclass
class Director:
    """The cluster, the user's service job, its array of slices, and what cluster.env says."""

    stack: str
    cluster: str
    region: str
    slices: int
    state: str = ""
    login_nodes: list[str] = field(default_factory=list)
    service: Job | None = None
    tasks: list[Job] = field(default_factory=list)
    address: dict[str, str] = field(default_factory=dict)
    silent: list[Silent] = field(default_factory=list)


def show(google: Google, plan: DirectorPlan, as_json: bool) -> int:
    """Print it; the exit code, 1 where something is the matter. Raises CloudError."""
    with progress.waiting(f"looking at {plan.settings.stack}"):
        seen = observe(google, plan)
    troubles = diagnose(seen, plan)
    if as_json:
        typer.echo(json.dumps({"troubles": [asdict(each) for each in troubles], **asdict(seen)}, indent=2))
    else:
        _print(seen, troubles)
    return 1 if troubles else 0


def observe(google: Google, plan: DirectorPlan) -> Director:
    """The stack now. Raises CloudError where nobody can be asked."""
    settings = plan.settings
    seen = Director(settings.stack, str(plan.cluster["cluster_id"]), settings.region, settings.slices.count)
    path = f"projects/{settings.project}/locations/{settings.region}/clusters/{seen.cluster}"
    try:
        found = google.ask(
            "hypercomputecluster", "v1", lambda service: service.projects().locations().clusters().get(name=path)
        )
        seen.state = "RECONCILING" if found.get("reconciling") else "RUNNING"
        seen.login_nodes = _login_nodes(found)
    except CloudError as error:
        if error.kind in ("credentials", "network"):
            raise
        seen.silent.append(Silent("the cluster", error.reason, error.fix))
        return seen
    _slurm(seen, plan)
    return seen


def _login_nodes(cluster: Json) -> list[str]:
    login = cluster.get("orchestrator", {}).get("slurm", {}).get("loginNodes", {})
    return [str(each["instance"]).rpartition("/")[2] for each in login.get("instances", []) if each.get("instance")]


def _slurm(seen: Director, plan: DirectorPlan) -> None:
    """What can be had only on the cluster's nodes."""
    login = seen.login_nodes[0] if seen.login_nodes else "LOGIN_NODE"
    there = f"gcloud compute ssh {login} --tunnel-through-iap --zone {plan.settings.slices.zone} --"
    if shutil.which(SQUEUE[0]) is None:
        reason = "this machine is no node of the cluster: it has no squeue"
        seen.silent.append(Silent("the service job and its slices", reason, f"{there} {' '.join(SQUEUE[:2])}"))
    else:
        try:
            done = subprocess.run(SQUEUE, capture_output=True, text=True, timeout=_SQUEUE_SECONDS, check=True)
            jobs = [Job(*line.split("|")) for line in done.stdout.splitlines() if line.count("|") == 5]
            seen.service = next((job for job in jobs if job.name == SERVICE_JOB), None)
            seen.tasks = [job for job in jobs if job.name.startswith("pathways-workers-")]
        except (OSError, subprocess.SubprocessError) as error:
            said = str(getattr(error, "stderr", "") or error).strip()
            seen.silent.append(
                Silent("the service job and its slices", f"squeue: {said}", "see that slurmctld runs: sinfo")
            )
    file = ADDRESS_FILE.expanduser()
    if file.exists():
        seen.address = _variables(file.read_text())
    elif shutil.which(SQUEUE[0]) is None:
        seen.silent.append(
            Silent(str(ADDRESS_FILE), "it is in your home on the cluster", f"{there} cat {ADDRESS_FILE}")
        )


def _variables(text: str) -> dict[str, str]:
    """`export NAME=value` lines."""
    pairs = (line.removeprefix("export ").partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip("\"'") for name, equals, value in pairs if equals and not name.startswith("#")}


def diagnose(seen: Director, plan: DirectorPlan) -> list[Trouble]:
    """What is the matter, as far as it can be seen from here."""
    if not seen.state:
        reason = seen.silent[0].reason if seen.silent else f"there is no cluster {seen.cluster}"
        cause = "the stack was never deployed, was destroyed, or lies in another project or region"
        return [
            Trouble(
                "not-deployed", reason, cause, f"pathways preflight -s {seen.stack}, then pulumi up -s {seen.stack}"
            )
        ]
    if any(each.part.startswith("the service job") for each in seen.silent):
        return []
    start = f"bash {plan.scripts_folder}/start_pathways.sh"
    if seen.service is None:
        return [
            Trouble(
                "no-service", "you have no job pathways in the queue", "the service was not started, or ended", start
            )
        ]
    if seen.service.state != "RUNNING":
        said = f"job {seen.service.id} is {seen.service.state} ({seen.service.reason})"
        return [
            Trouble(
                "service-waiting", said, "no CPU node is free for the service", f"scontrol show job {seen.service.id}"
            )
        ]
    waiting = [task for task in seen.tasks if task.state != "RUNNING"]
    if waiting:
        said = f"{len(waiting)} of {len(seen.tasks)} slices wait, such as {waiting[0].id}: {waiting[0].state} ({waiting[0].reason})"
        cause = "the slice's TPU VMs are being made, or there are none to be had"
        return [Trouble("slices-waiting", said, cause, f"scontrol show job {waiting[0].id}; sinfo")]
    return []


def _print(seen: Director, troubles: list[Trouble]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    verdict = (f"{len(troubles)} trouble", "bold red") if troubles else ("well as far as it can be seen", "green")
    console.print(Text.assemble((seen.stack, "bold"), f": Slurm cluster {seen.cluster} in {seen.region}, ", verdict))
    for each in troubles:
        console.print(Text(f"{each.id}: {each.evidence}", "bold red"))
        console.print(Text(f"  probably: {each.cause}\n  next: {each.next}"))
    for node in seen.login_nodes:
        console.print(Text(f"login node  {node}"))
    if seen.service:
        table = Table(
            "Job", "Name", "State", "Reason", "Time", "Nodes", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False
        )
        for job in (seen.service, *seen.tasks):
            table.add_row(job.id, job.name, job.state, job.reason, job.time, job.nodes)
        console.print(table)
    for name, value in seen.address.items():
        console.print(Text(f"{name}={value}"))
    for silent in seen.silent:
        console.print(Text(f"could not be seen: {silent.part}: {silent.reason}", "yellow"))
        console.print(Text(f"  fix: {silent.fix}", "dim"))
