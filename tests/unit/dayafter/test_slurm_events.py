"""Events of a service on Slurm, from what its commands and scripts print."""

from __future__ import annotations

from cli.events.command import Event
from cli.events.slurm import parse

# As sacct --parsable2 and sinfo --list-reasons write it: a slice lost its nodes, and runs again.
JOBS = """\
7|pathways|RUNNING|2027-01-01T00:00:05|Unknown|cpu-0
8_0|pathways-workers-7|NODE_FAIL|2027-01-01T00:01:00|2027-01-01T02:00:00|tpu-[0-1]
8_0|pathways-workers-7|RUNNING|2027-01-01T02:03:00|Unknown|tpu-[0-1]
8_1|pathways-workers-7|CANCELLED by 1000|2027-01-01T00:01:00|2027-01-01T03:00:00|tpu-[2-3]
8_2|pathways-workers-7|PENDING|Unknown|Unknown|None assigned
9|somebodys-job|RUNNING|2027-01-01T00:00:00|Unknown|cpu-1
sacct: noise
"""
NODES = "2027-01-01T02:00:01|tpu-[0-1]|slurm|lost as slice 0 of Pathways job 7|x\n"
LOGS = """\
==> /home/u/pathways/logs/7/resource_manager.log
I0101 00:01:30.000000 1 server.cc:1] Pathways Server serving on [::]:29001
I0101 00:02:00.000000 1 server.cc:1] *** 2/2 Pathways Slices Now Ready ***
==> /home/u/pathways-7.log
2027-01-01 00:02:01 ready: clients find the proxy by ~/pathways/cluster.env
2027-01-01 02:00:02 slice 0 lost tpu-[0-1]; Slurm starts it again
"""


def events(jobs: str = JOBS, nodes: str = NODES, logs: str = LOGS) -> list[Event]:
    return parse(f"{jobs}----\n{nodes}----\n{logs}", 2027)


def test_jobs_nodes_and_what_the_service_says_make_one_story() -> None:
    told = [(each.time[11:19], each.slice, each.reason, each.warning) for each in events()]
    assert told == [
        ("00:00:05", None, "STARTED", False),
        ("00:01:00", 0, "STARTED", False),
        ("00:01:00", 1, "STARTED", False),
        ("00:02:00", None, "Ready", False),
        ("00:02:01", None, "Service", False),
        ("02:00:00", 0, "NODE_FAIL", True),
        ("02:00:01", None, "NodeReason", True),
        ("02:00:02", 0, "Service", True),
        ("02:03:00", 0, "STARTED", False),
        ("03:00:00", 1, "CANCELLED", False),
    ]


def test_a_reason_of_a_node_is_whole_and_names_who_says_it() -> None:
    [reason] = [each for each in events() if each.reason == "NodeReason"]
    assert reason.about == "nodes tpu-[0-1]"
    assert reason.message == "lost as slice 0 of Pathways job 7|x, says slurm"


def test_a_cluster_on_which_nothing_runs_has_no_events() -> None:
    assert events("", "", "") == []


def test_a_limit_of_a_job_that_runs_is_no_end() -> None:
    squeue = "8_0|pathways-workers-7|RUNNING|2027-01-01T00:01:00|2028-01-01T00:01:00|tpu-[0-1]\n"
    assert [each.reason for each in events(squeue, "", "")] == ["STARTED"]
