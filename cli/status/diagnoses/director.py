"""Diagnoses of a stack on Cluster Director: its cluster, the service job and the slices' array."""

from __future__ import annotations

from collections.abc import Iterator

from cli.status.diagnoses.registry import Diagnosis, Match
from cli.status.slurm import Director

_WELL = ("RUNNING", "COMPLETING")


def _not_deployed(seen: Director) -> Iterator[Match]:
    for each in seen.silent:
        if not seen.state and "is not deployed" in each.reason:
            yield Match(each.reason)


def _no_service(seen: Director) -> Iterator[Match]:
    if seen.asked and seen.service is None:
        last = f"; the last one said: {seen.said[-1]}" if seen.said else ""
        yield Match(f"you have no job pathways in the queue{last}")


def _waiting(seen: Director) -> Iterator[Match]:
    if seen.service and seen.service.state not in _WELL:
        job = seen.service
        yield Match(f"job {job.id} is {job.state} ({job.reason})", {"job": job.id})


def _slices(seen: Director) -> Iterator[Match]:
    waiting = [task for task in seen.tasks if task.state not in _WELL]
    if waiting:
        first = waiting[0]
        said = f"{len(waiting)} of {seen.slices} slices wait, such as {first.id}: {first.state} ({first.reason})"
        yield Match(said, {"job": first.id})


def _gone(seen: Director) -> Iterator[Match]:
    if seen.service and seen.service.state in _WELL and seen.tasks and len(seen.tasks) < seen.slices:
        yield Match(f"the array has {len(seen.tasks)} of {seen.slices} slices left", {"job": seen.service.id})


def _no_address(seen: Director) -> Iterator[Match]:
    if seen.service and seen.service.state in _WELL and not seen.address:
        said = f"; it said: {seen.said[-1]}" if seen.said else ""
        yield Match(f"service job {seen.service.id} runs, and there is no {seen.address_file}{said}")


def _stale(seen: Director) -> Iterator[Match]:
    of = seen.address.get("PATHWAYS_JOB_ID", "")
    if seen.asked and of and (seen.service is None or seen.service.id != of):
        yield Match(f"{seen.address_file} is of job {of}, which does not run")


DIAGNOSES = (
    Diagnosis(
        "slurm-not-deployed",
        "Cluster Director has no cluster of the stack's name",
        "the stack was never deployed, was destroyed, or lies in another project or region",
        "pathways preflight -s {stack}, then pulumi up -s {stack}",
        _not_deployed,
    ),
    Diagnosis(
        "service-missing",
        "squeue shows no job pathways of yours",
        "the service was not started, or has ended",
        "on the login node: bash {scripts}/start_pathways.sh; the log of one that ended: tail ~/pathways-*.log",
        _no_service,
    ),
    Diagnosis(
        "service-waiting",
        "the service's job is not running",
        "no CPU node is free for the service, or somebody holds the job",
        "on the login node: scontrol show job {job}; sinfo --list-reasons",
        _waiting,
    ),
    Diagnosis(
        "slices-waiting",
        "a task of the slices' array is not running",
        "the slice's TPU VMs are being made, or there are none to be had at this moment",
        "on the login node: scontrol show job {job}; sinfo --list-reasons",
        _slices,
        hides=("address-missing",),
    ),
    Diagnosis(
        "slices-ended",
        "the array of a service that runs has fewer tasks than the stack has slices",
        "a slice's workers crashed five times in a row, or somebody cancelled the slice; the service goes on without it",
        "on the login node: tail ~/pathways/logs/{job}/slice-*.log; scancel {job} and start_pathways.sh bring all back",
        _gone,
    ),
    Diagnosis(
        "address-missing",
        "the service runs and has not written cluster.env",
        "fewer slices run than minSlices asks for, or resource manager and proxy are starting",
        "pathways logs -s {stack}",
        _no_address,
    ),
    Diagnosis(
        "address-stale",
        "cluster.env names a service job that does not run",
        "the service could not take it away, as when its node was lost",
        "on the login node: rm {address_file}; bash {scripts}/start_pathways.sh",
        _stale,
    ),
)
