"""A stack on Cluster Director at one moment: the cluster by Google's API, the jobs by Slurm on the login node."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from cli.cloud import login
from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.status.snapshot import Silent
from pathways.director import plan as director
from pathways.director.plan import DirectorPlan

SERVICE_JOB = "pathways"
WORKERS = "pathways-workers-"
SQUEUE = ("squeue", "--me", "--array", "--noheader", "--format=%i|%j|%T|%r|%M|%N")
MARK = "----"
# Of the newest service's own log.
_LINES = 5


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
    """The cluster, the caller's service job, its array of slices, and what cluster.env says.

    `asked` is whether Slurm answered, `said` the last lines of the newest service's log. `state` is empty where the
    cluster was not seen.
    """

    stack: str
    cluster: str
    region: str
    slices: int
    scripts: str
    address_file: str
    state: str = ""
    login_nodes: list[str] = field(default_factory=list)
    asked: bool = False
    service: Job | None = None
    tasks: list[Job] = field(default_factory=list)
    address: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    silent: list[Silent] = field(default_factory=list)


def observe(google: Google, plan: DirectorPlan) -> Director:
    """The stack now. Raises CloudError where the cluster cannot be asked for; one that is not there is a finding."""
    settings, outputs = plan.settings, director.outputs(plan)
    seen = Director(
        settings.stack,
        str(plan.cluster["cluster_id"]),
        settings.region,
        settings.slices.count,
        plan.scripts_folder,
        outputs["addressFile"],
    )
    try:
        found = login.find(google, plan)
    except CloudError as error:
        if error.kind != "missing":
            raise
        seen.silent.append(Silent("the cluster", error.reason, error.fix))
        return seen
    seen.state = "RECONCILING" if found.get("reconciling") else "RUNNING"
    seen.login_nodes = login.nodes(found)
    try:
        _read(seen, login.run(plan, found, _script(seen.address_file)))
    except CloudError as error:
        seen.silent.append(Silent("the service job, its slices and cluster.env", error.reason, error.fix))
    return seen


def _script(address_file: str) -> str:
    """Prints the queue, cluster.env and the end of the newest service's log."""
    return (
        f"{shlex.join(SQUEUE)} || exit 1; echo {MARK}; cat {address_file} 2>/dev/null; echo {MARK}; "
        f'newest=$(ls -t ~/{SERVICE_JOB}-*.log 2>/dev/null | head -n 1); [ -z "$newest" ] || tail -n {_LINES} "$newest"'
    )


def _read(seen: Director, printed: str) -> None:
    queue, address, said = (part.strip().splitlines() for part in printed.split(f"{MARK}\n"))
    jobs = [Job(*line.split("|")) for line in queue if line.count("|") == 5]
    seen.asked = True
    seen.service = next((job for job in jobs if job.name == SERVICE_JOB), None)
    # A service that ended leaves tasks for half a minute.
    mine = f"{WORKERS}{seen.service.id}" if seen.service else WORKERS
    seen.tasks = [job for job in jobs if job.name.startswith(mine)]
    seen.address = _variables(address)
    seen.said = said


def _variables(lines: list[str]) -> dict[str, str]:
    """`export NAME=value` lines."""
    pairs = (line.removeprefix("export ").partition("=") for line in lines if line.startswith("export "))
    return {name.strip(): value.strip("\"'") for name, _, value in pairs}
