"""Each value that the stack derives for the job scripts, changed in turn: the rehearsed service says what is wrong.

`pytest -m extended` tries all but the few that are tried always. With UPDATE_GOLDEN=1 what is said goes into
docs/mutations.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pathways import scratch
from pathways.slurm import render
from rehearsal.client import ENVIRONMENT
from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT
from rehearsal.processes import wait_for
from rehearsal.slurm import service
from tests.rehearsal import mutation_page
from tests.rehearsal.slurm.conftest import grant
from tests.rehearsal.slurm.mutants import Mutant, mutants
from tests.rehearsal.slurm.site import Site
from tests.unit.slurm import example

TITLE = "Slurm"
SERVICE = example.service(min_slices=2)
SCRIPTS = render(SERVICE)
ALL = mutants(SCRIPTS)
SAMPLE = (
    "settings.sh GCS_BUCKET",
    "start_pathways.sh start_resource_manager --instance_count",
    "start_pathways.sh JAX_PLATFORMS",
    "run_worker.sh TPU_HOST_BOUNDS",
    "run_worker_slice.sh --partition",
)
_LIBTPU = "Read inside the real server and by libtpu only; both values are legal."
_DEFAULT = "The cluster's own configuration says the same: Slurm queues jobs again, and gives out TPU nodes whole."
_TASKS = "Slurm itself lowers the nodes to the number of tasks, which is one."
_SRUN = "srun has the number of tasks from the job, and leaves aside what does not fit to it."
_LOG = "Seen in a log after a restart only; test_lost_slices.py reads that log."
# Why nobody notices, by where the change is. Anything else must be noticed.
SURVIVORS = {
    "settings.sh TPU_NODES": "An upper bound of what a user may ask for; Slurm itself lets more wait for nodes.",
    "settings.sh HEAD_PORTS": "Looked at before the start, for another service on the node; the servers find out too.",
    "start_pathways.sh --nodes": _TASKS,
    "start_pathways.sh --requeue": _DEFAULT,
    "start_pathways.sh --open-mode": _LOG,
    "start_pathways.sh submit_workers --job-name": "Used to find the array again when the service itself is restarted.",
    "run_worker_slice.sh --exclusive": _DEFAULT,
    "run_worker_slice.sh --requeue": _DEFAULT,
    "run_worker_slice.sh --open-mode": _LOG,
    "run_client.sh --nodes": _TASKS,
    "run_maxtext.sh --nodes": _TASKS,
    "run_worker_slice.sh srun --nodes": _SRUN,
    "run_worker_slice.sh srun --ntasks-per-node": _SRUN,
    "run_worker.sh MEGASCALE_GRPC_ENABLE_XOR_TRACER": _LIBTPU,
    "run_worker.sh TPU_MIN_LOG_LEVEL": _LIBTPU,
    "run_worker.sh TF_CPP_MIN_LOG_LEVEL": _LIBTPU,
    "run_worker.sh --server_port": "A worker tells the resource manager where it listens; the firewall's two ports are"
    " compared with the scripts' in tests/unit.",
}
_TIMES = re.compile(r"\b(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d ")
# Job ids and the like.
_NUMBERS = re.compile(r"(?<![\w:.=,-])\d{1,3}(?![\w:.=,])|(?<=logs/)\d+|(?<=pathways-)\d+|(?<=workers-)\d+")
# What is said of a good start, too.
_USUAL = re.compile(
    r"Pathways service job N on |(resource_manager|proxy) listens on 127[.N\d]+:2900[01]$|array job \w+: "
    r"|\d of 2 slices run|N of N slices run|stopping|stopped|ready: clients find the proxy by ~/pathways/cluster.env$"
)
PATIENCE_SECONDS = 60


def _case(mutant: Mutant) -> Any:
    marks = [] if mutant.where in SAMPLE else [pytest.mark.extended]
    return pytest.param(mutant, marks=marks, id=f"{mutant.where} {mutant.change}".replace("`", ""))


@pytest.fixture(scope="module", autouse=True)
def _jax() -> None:
    ENVIRONMENT.ensure()


@pytest.fixture
def intact(site: Site, google: str) -> Iterator[Site]:
    """A site on which nothing of the former change is left, now or afterwards."""
    yield site
    site.install(render(site.service))
    site.forget()
    site.set_up()
    grant(google, *scratch.ROLES)


def trouble(site: Site, google: str, mutant: Mutant | None) -> str:
    """What a user of the scripts with this change is told; empty where all goes well."""
    site.forget()
    site.install(mutant.of(SCRIPTS) if mutant else SCRIPTS)
    grant(google, *(mutant.roles if mutant else scratch.ROLES))
    quick = "env POLL_SECONDS=1 LISTEN_SECONDS=25 MOST_CRASHES=1 bash scripts/start_pathways.sh"
    outputs = {**site.outputs, "startCommand": quick}
    said: list[str] = []
    try:
        service.ensure(site.cluster, outputs, said.append, patience=PATIENCE_SECONDS)
        service.check(site.cluster, outputs, said.append, patience=40)
        if mutant and mutant.file in ("run_client.sh", "run_maxtext.sh"):
            command = ["scripts/run_maxtext.sh", "steps=1"]
            _client_job(site, command if mutant.file in command[0] else ["scripts/run_client.sh", "true"])
        _stop(site)
    except RehearsalError as error:
        return readable(str(error), site)
    return ""


def _client_job(site: Site, command: list[str]) -> None:
    """Run a client in a job of its own. Raises RehearsalError where it does not end well."""
    done = site.cluster.run("sbatch", "--parsable", "--output=client.log", *command)
    if done.returncode != 0:
        raise RehearsalError(done.stderr.strip())
    job = done.stdout.strip()
    state = (
        "squeue",
        "--noheader",
        f"--jobs={job}",
        "--states=all",
        "--format=%T (%R), asks for %D nodes, %C CPUs, %m",
    )
    try:
        wait_for(lambda: site.cluster.run(*state).stdout.startswith(("COMP", "FAIL")), "the client ends", timeout=30)
    except RehearsalError as error:
        raise RehearsalError(f"{error} It is {site.cluster.run(*state).stdout.strip()}") from error
    if not site.cluster.run(*state).stdout.startswith("COMP"):
        raise RehearsalError((site.home / "client.log").read_text().strip())


def _stop(site: Site) -> None:
    """End the service. Raises RehearsalError where it leaves its address."""
    [running] = [job for job in service.jobs(site.cluster) if job.name == service.JOB]
    site.cluster.run("scancel", running.id)
    site.wait(lambda: not site.slices() and not site.servers(), "the service ends")
    if site.address_file.exists():
        raise RehearsalError(f"the ended service left {site.address_file}:\n{site.address_file.read_text()}")


def readable(text: str, site: Site) -> str:
    """A message without what differs from run to run."""
    text = _TIMES.sub("", text).replace(str(site.home), "~").replace(f"{CHECKOUT}/", "")
    text = re.sub(r"127\.\d+\.(\d+\.\d+)", r"127.N.\1", text)
    return _NUMBERS.sub("N", text)


def telling(message: str, mutant: Mutant) -> str:
    """The line of a message that names the culprit; empty where none does. Lines of a good start do not count."""
    lines = [line.strip() for line in message.splitlines() if not _USUAL.match(line.strip())]
    naming = [line for line in lines if mutant.named(line)]
    return next((line for line in naming if "error" in line.lower()), naming[0] if naming else "")


@pytest.mark.parametrize("mutant", [_case(mutant) for mutant in ALL])
def test_a_changed_value_is_named_or_explained(intact: Site, google: str, mutant: Mutant) -> None:
    message = trouble(intact, google, mutant)
    told = telling(message, mutant)
    if os.environ.get("UPDATE_GOLDEN"):
        _write({mutant.key: told or f"{mutation_page.NOT_NAMED}{' '.join(message.split()) or 'nothing'}"})
    if mutant.where in SURVIVORS:
        assert message == "", "this is noticed, and needs no explanation any more"
    else:
        assert told, message or "nothing is noticed"


@pytest.mark.extended
def test_without_a_change_all_goes_well(intact: Site, google: str) -> None:
    assert trouble(intact, google, None) == ""


def _write(new: mutation_page.Table) -> None:
    """Put what was said of some mutants onto the page, which keeps what was said of the others."""
    known = mutation_page.tables(TITLE).get("", {}) | dict(new)
    told = {mutant.key: known.get(mutant.key, "") for mutant in ALL}
    told |= {mutant.key: mutation_page.NOTHING + SURVIVORS[mutant.where] for mutant in ALL if mutant.where in SURVIVORS}
    mutation_page.write(TITLE, f"{mutation_page.score({'': told})} {_INTRODUCTION}", {"": told})


_INTRODUCTION = """The scripts are those of two slices of v6e 2x4, on a real Slurm with the servers' stand-ins; a run
ends with a JAX program that computes on all slices, and with `scancel`."""
