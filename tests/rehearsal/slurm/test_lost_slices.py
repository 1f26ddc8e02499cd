"""Slices are lost and come back: same index, whole slice powered down, and the proxy never moves."""

from __future__ import annotations

import os
import random
import signal
import time

from tests.rehearsal.slurm.site import Site, observer

# Raised by whoever wants to see many.
PREEMPTIONS = int(os.environ.get("PREEMPTIONS", "2"))


def test_a_lost_slice_is_powered_down_whole_and_comes_back_with_its_index(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    site.wait(lambda: len(site.servers("worker")) == 4, "four workers run", job)
    nodes = site.slices()[0][2]
    with observer(job) as slices:
        slices.sees({0, 1})
        site.cluster.lose(site.cluster.run("scontrol", "show", "hostnames", nodes).stdout.split()[1])
        slices.sees({1})
        job.said(f"{nodes}: powered down")
        slices.sees({0, 1})
    assert site.slices()[0][:2] == ("RUNNING", 1)
    assert site.slices()[1][:2] == ("RUNNING", 0)


def test_many_preemptions_leave_the_service_as_it_was(site: Site) -> None:
    job = site.start(MIN_SLICES="1")
    site.wait(lambda: len(site.servers("worker")) == 4, "four workers run", job)
    address, heads = job.address, {server.pid for server in site.servers() if server.kind != "worker"}
    chance = random.Random(PREEMPTIONS)
    with observer(job) as slices:
        slices.sees({0, 1})
        for _ in range(PREEMPTIONS):
            site.wait(lambda: bool(tpu_nodes(site)), "there is a node to lose", job)
            site.cluster.lose(chance.choice(tpu_nodes(site)))
            # Now and then the next one follows before Slurm has made up for this one, or has even noticed.
            if chance.random() < 0.5:
                site.wait(lambda: all_workers_run(site), "every slice runs again", job)
            else:
                time.sleep(chance.uniform(0, 20))
        site.wait(lambda: all_workers_run(site), "every slice runs again", job)
        slices.sees({0, 1})
    assert sorted(site.slices()) == [0, 1]
    assert job.address == address
    assert {server.pid for server in site.servers() if server.kind != "worker"} == heads


def tpu_nodes(site: Site) -> list[str]:
    """The TPU nodes that run."""
    return [name for name in site.cluster.nodes.running() if "-tpu-" in name]


def all_workers_run(site: Site) -> bool:
    """Whether every node is up and has its worker, which a slice that Slurm takes for running may still lack."""
    up = set(site.cluster.states().values()) <= {"allocated", "mixed"}
    return up and site.all_run() and len(site.servers("worker")) == 4


def test_a_worker_that_ends_takes_its_slice_back_into_the_queue(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    site.wait(lambda: len(site.servers("worker")) == 4, "four workers run", job)
    victim = site.servers("worker")[0]
    index = int(victim.environment["MEGASCALE_SLICE_ID"])
    os.kill(victim.pid, signal.SIGKILL)
    site.wait(lambda: site.slices()[index][1] == 1, "the slice is queued again", job)
    site.wait(lambda: site.all_run() and len(site.servers("worker")) == 4, "the slice runs again", job)
    assert "ended with code 137: back into the queue" in (job.logs / f"slice-{index}.log").read_text()


def test_without_sudo_nothing_is_powered_down_and_that_is_said(site: Site) -> None:
    (site.cluster.folder / "no-sudo").touch()
    job = site.start(MIN_SLICES="2")
    assert "warning: no passwordless sudo on pw-cpu-0" in job.log
    assert "roles/compute.osAdminLogin" in job.log
    site.cluster.lose("pw-tpu-0")
    job.said("not powered down, for want of passwordless sudo")
    assert site.cluster.states()["pw-tpu-1"] in ("idle", "completing")


def test_a_service_whose_node_is_lost_starts_anew_with_new_workers(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    first = set(site.slices())
    assert first == {0, 1}
    site.cluster.lose("pw-cpu-0")
    site.cluster.nodes.boot(next(iter(site.cluster.description.nodes())))
    site.wait(lambda: job.log.count("ready: clients find the proxy") == 2, "the service is ready again", job)
    site.wait(lambda: len(site.servers()) == 6 and len(site.slices()) == 2, "only the new servers run", job)
