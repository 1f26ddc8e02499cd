"""The Pathways service of a rehearsed stack, started as a user would start it on the login node."""

from __future__ import annotations

import filecmp
import getpass
import re
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.client import expected
from rehearsal.errors import RehearsalError
from rehearsal.processes import wait_for
from rehearsal.slurm.cluster import SlurmCluster

Report = Callable[[str], None]

JOB = "pathways"
"""The name of the service's job, as its script states it."""
_PATIENCE_SECONDS = 240


@dataclass(frozen=True)
class Job:
    """A job or array task in Slurm's queue."""

    id: str
    name: str
    state: str
    nodes: str
    reason: str


def jobs(cluster: SlurmCluster) -> list[Job]:
    """The queue, array tasks one by one."""
    shown = _ask(cluster, "squeue", "--noheader", "--array", "--sort=i", "--format=%i|%j|%T|%N|%r")
    return [Job(*line.split("|")) for line in shown.splitlines()]


def address(cluster: SlurmCluster, outputs: Mapping[str, Any]) -> str:
    """The proxy's address, HOST:PORT, as clients find it; empty where none is let in."""
    path = _at_home(cluster, outputs["addressFile"])
    found = re.search(r"^export PATHWAYS_PROXY_ADDRESS=(\S+)$", path.read_text(), re.M) if path.exists() else None
    return found[1] if found else ""


def ensure(
    cluster: SlurmCluster, outputs: Mapping[str, Any], report: Report, patience: float = _PATIENCE_SECONDS
) -> None:
    """Set up and submit the service unless it is there, and wait until it and its slices run.

    Raises RehearsalError with what the scripts said, or `patience` seconds after the submission with the queue.
    """
    found = _service(cluster)
    if found:
        report(f"Pathways service job {found.id} is there already{_older_scripts(cluster, outputs, found)}")
    else:
        # MaxText is for the first program that a user is told to try.
        _do(cluster, f"{outputs['setupCommand']} maxtext", report)
        said = _do(cluster, outputs["startCommand"], report)
        if not (submitted := re.search(r"Submitted batch job (\d+)", said)):
            raise RehearsalError(f"{outputs['startCommand']} submitted no job: {said.strip()}")
        report(f"waiting for Pathways service job {submitted[1]} and its slices")
    try:
        wait_for(
            lambda: _up(cluster, outputs),
            "the Pathways service and its slices run",
            timeout=patience,
            interval=0.5,
        )
    except RehearsalError as error:
        shown = "%i %j: %T (%R), asks for %D nodes, %C CPUs, %m of memory per node"
        queue = _ask(cluster, "squeue", "--noheader", "--array", "--sort=i", f"--format={shown}").strip()
        raise RehearsalError(f"{error}\nThe queue:\n{queue}\nThe service's log ends:\n{_log(cluster)}") from error


def check(cluster: SlurmCluster, outputs: Mapping[str, Any], report: Report, patience: int = 60) -> None:
    """Let a JAX program compute on all slices, started as a user would, for whose devices it waits `patience` seconds.

    Raises RehearsalError with what the program said, and the service.
    """
    promised = _promised(cluster, outputs)
    argv = ["bash", f"{outputs['scripts']}/run_client.sh", *expected.command("python3", promised, patience)]
    report(f"{_prompt(cluster)} bash {outputs['scripts']}/run_client.sh python3 check.py")
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            cluster.on_login_node(*argv),
            env=cluster.environment(),
            cwd=cluster.folder / "home",
            text=True,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as client:
            # Nobody answers a client whose service has ended.
            threading.Thread(target=_end_with_service, args=(cluster, client), daemon=True).start()
            for line in client.stdout or ():
                report(f"  {line.rstrip()}")
        errors.seek(0)
        said = errors.read()
    if client.returncode != 0:
        state = "" if _service(cluster) else "The Pathways service has ended. "
        raise expected.failure(f"{said.strip()}\n{state}The service's log ends:\n{_log(cluster)}{_of_slices(cluster)}")


def _promised(cluster: SlurmCluster, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a client should find: what the outputs say, or the older scripts with which the service was started."""
    found = _service(cluster)
    if found is None or not _older_scripts(cluster, outputs, found):
        return outputs
    show = 'source "$1"; echo "$MAX_SLICES" "$INSTANCE_TYPE_PREFIX:$SLICE_SHAPE"'
    slices, instance_type = _ask(
        cluster, "bash", "-c", show, "bash", str(_kept(cluster, found) / "settings.sh")
    ).split()
    return {**outputs, "slices": slices, "instanceType": instance_type}


def _kept(cluster: SlurmCluster, job: Job) -> Path:
    """Where a service has the scripts with which it was started."""
    return cluster.folder / "home" / JOB / "logs" / job.id / "scripts"


def _end_with_service(cluster: SlurmCluster, client: subprocess.Popen[str]) -> None:
    while client.poll() is None:
        if _service(cluster) is None:
            client.terminate()
            return
        time.sleep(1)


def _older_scripts(cluster: SlurmCluster, outputs: Mapping[str, Any], job: Job) -> str:
    """What to do about a service that goes on with scripts that have changed since; empty where it need not."""
    mounted = cluster.mounted(outputs["scripts"])
    kept = _kept(cluster, job)
    if mounted is None or not kept.exists():
        return ""
    names = [path.name for path in kept.iterdir()]
    _, changed, missing = filecmp.cmpfiles(mounted, kept, names, shallow=False)
    if not changed and not missing:
        return ""
    return f", with the scripts that it was started with; for the new ones: scancel {job.id}, then {outputs['startCommand']}"


def _service(cluster: SlurmCluster) -> Job | None:
    return next((job for job in jobs(cluster) if job.name == JOB), None)


def _up(cluster: SlurmCluster, outputs: Mapping[str, Any]) -> bool:
    """Raises RehearsalError when the service has ended."""
    queue = jobs(cluster)
    service = [job for job in queue if job.name == JOB]
    if not service:
        raise RehearsalError("The Pathways service ended before it was ready.")
    slices = [job for job in queue if job.name.startswith(f"{JOB}-workers-")]
    return bool(address(cluster, outputs) and slices) and all(job.state == "RUNNING" for job in [*service, *slices])


def _log(cluster: SlurmCluster) -> str:
    """The end of the newest service's log."""
    logs = sorted((cluster.folder / "home").glob(f"{JOB}-*.log"), key=lambda path: path.stat().st_mtime)
    return logs[-1].read_text().strip()[-2000:] if logs else "(there is none)"


def _of_slices(cluster: SlurmCluster) -> str:
    """The last lines of the slices that said something last; of many, two will do."""
    logs = sorted((cluster.folder / "home" / JOB).glob("logs/*/slice-*.log"), key=lambda path: path.stat().st_mtime)
    last = {path: "\n".join(path.read_text().splitlines()[-3:]) for path in logs[-2:]}
    return "".join(f"\nThe log {path.name} ends:\n{text}" for path, text in last.items())


def _do(cluster: SlurmCluster, command: str, report: Report) -> str:
    """Run a user's command on the login node; what it printed."""
    report(f"{_prompt(cluster)} {command}")
    done = cluster.run(*shlex.split(command))
    if done.returncode != 0:
        raise RehearsalError(f"{command} failed:\n{(done.stdout + done.stderr).strip()}")
    return done.stdout


def _prompt(cluster: SlurmCluster) -> str:
    return f"{getpass.getuser()}@{cluster.description.login()}$"


def _ask(cluster: SlurmCluster, *argv: str) -> str:
    done = cluster.run(*argv)
    if done.returncode != 0:
        raise RehearsalError(f"Slurm does not answer: {done.stderr.strip()}. Start it again: make up")
    return done.stdout


def _at_home(cluster: SlurmCluster, path: str) -> Path:
    return cluster.folder / "home" / path.removeprefix("~/")
