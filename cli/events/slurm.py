"""What happened to a Pathways service on Slurm: its jobs by accounting, nodes by their reasons, and what its log says.

Source: Slurm (sacct, squeue, sinfo); start_pathways.sh.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from cli.cloud import login
from cli.cloud.google import Json
from cli.events.command import Event
from cli.logs import slurm
from cli.logs.lines import Line
from cli.logs.reading import Wanted
from cli.status.diagnoses.logs import ALL_SLICES
from cli.status.slurm import MARK, SERVICE_JOB, WORKERS
from pathways.director.plan import DirectorPlan

# With every run of a job that was requeued. Where the cluster keeps no accounts, Slurm itself knows its jobs for minutes.
SACCT = ("sacct", "--allocations", "--duplicates", "--noheader", "--parsable2", "--starttime=now-2days")
SACCT_FORMAT = "--format=JobID,JobName,State,Start,End,NodeList"
SQUEUE = ("squeue", "--me", "--array", "--states=all", "--noheader", "--format=%i|%j|%T|%S|%e|%N")
SINFO = ("sinfo", "--list-reasons", "--noheader", "--format=%H|%N|%u|%E")
_RUNS = ("RUNNING", "PENDING", "SUSPENDED", "CONFIGURING", "COMPLETING", "RESIZING")
_ORDERLY = ("COMPLETED", "CANCELLED")
_TAIL = 500
_SLICE = re.compile(r"\bslice (\d+)\b")
_ALARM = re.compile(r"(warning|error):|slice \d+ (lost|is held)|not powered down")


def read(plan: DirectorPlan, cluster: Json) -> list[Event]:
    """What happened, in order of time; `cluster` as the API has it. Raises CloudError."""
    return parse(login.run(plan, cluster, _script()), datetime.now(UTC).year)


def _script() -> str:
    """Prints the jobs, the nodes with a reason, and the ends of the newest service's logs."""
    logs = slurm.script(Wanted(components=("resource-manager",), tail=_TAIL))
    jobs = f"{shlex.join([*SACCT, SACCT_FORMAT])} 2>/dev/null || {shlex.join(SQUEUE)} || exit 1"
    return f"{jobs}; echo {MARK}; {shlex.join(SINFO)}; echo {MARK}; {logs}"


def parse(printed: str, year: int) -> list[Event]:
    """Events in order of time. Slurm's times have no zone: Google makes the cluster's machines with UTC."""
    jobs, nodes, logs = printed.split(f"{MARK}\n", 2)
    found = [*_jobs(jobs.splitlines()), *_nodes(nodes.splitlines()), *_said(slurm.parse(logs, year))]
    return sorted(found, key=lambda each: (each.time, each.about))


def _jobs(lines: Iterable[str]) -> Iterator[Event]:
    """Beginning and end of the service's jobs and of each run of its slices."""
    for id_, name, state, start, end, nodes in (line.split("|") for line in lines if line.count("|") == 5):
        if name != SERVICE_JOB and not name.startswith(WORKERS):
            continue
        task = id_.partition("_")[2]
        index = int(task) if task.isdigit() else None
        about = f"job {id_} {name}"
        if began := _time(start):
            if state != "PENDING":
                yield Event(began, index, about, "STARTED", f"on {nodes}", 1, False)
            # Of a run that goes on, squeue tells when it must end.
            if (ended := _time(end)) and state not in _RUNS:
                word = state.split()[0]
                yield Event(ended, index, about, word, f"on {nodes}", 1, word not in _ORDERLY)


def _nodes(lines: Iterable[str]) -> Iterator[Event]:
    for time, nodes, user, reason in (line.split("|", 3) for line in lines if line.count("|") >= 3):
        yield Event(_time(time), None, f"nodes {nodes}", "NodeReason", f"{reason}, says {user}", 1, True)


def _said(lines: Iterable[Line]) -> Iterator[Event]:
    """What the service's script says is all about events; of the resource manager, only when slices are ready."""
    for line in lines:
        service = line.component == slurm.SERVICE
        if line.time and (service or ALL_SLICES in line.text):
            found, alarm = _SLICE.search(line.text), bool(_ALARM.search(line.text))
            index = int(found.group(1)) if found else None
            who = line.pod if service else line.component
            yield Event(line.time, index, who, "Service" if service else "Ready", line.text, 1, alarm)


def _time(written: str) -> str:
    """RFC 3339; empty for N/A, Unknown and None."""
    return f"{written}Z" if written[:1].isdigit() else ""
