"""Slices are lost and come back: same index, whole slice powered down, and the proxy never moves."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehearsal.client import ENVIRONMENT
from tests.rehearsal.slurm.site import Site, observer

# Of 50 that follow one another, none may go wrong; by default there is time for a few.
PREEMPTIONS = [2, pytest.param(50, marks=pytest.mark.extended)]


@pytest.mark.parametrize("preemptions", PREEMPTIONS)
def test_preemptions_leave_the_service_and_its_client_as_they_were(site: Site, preemptions: int) -> None:
    ENVIRONMENT.ensure()
    job = site.start(MIN_SLICES="1")
    site.wait(lambda: len(site.servers("worker")) == 4, "four workers run", job)
    address, heads = job.address, {server.pid for server in site.servers() if server.kind != "worker"}
    chance = random.Random(preemptions)
    with observer(job) as slices, trainer(site) as training:
        slices.sees({0, 1})
        training.goes_on({0, 1})
        nodes = site.slices()[0][2]
        site.cluster.lose(site.cluster.run("scontrol", "show", "hostnames", nodes).stdout.split()[1])
        slices.sees({1})
        training.goes_on({1})
        job.said(f"{nodes}: powered down")
        slices.sees({0, 1})
        assert site.slices()[0][:2] == ("RUNNING", 1)
        assert site.slices()[1][:2] == ("RUNNING", 0)
        for _ in range(preemptions - 1):
            site.wait(lambda: bool(tpu_nodes(site)), "there is a node to lose", job)
            site.cluster.lose(chance.choice(tpu_nodes(site)))
            # Now and then the next one follows before Slurm has made up for this one, or has even noticed.
            if chance.random() < 0.5:
                site.wait(lambda: all_workers_run(site), "every slice runs again", job)
            else:
                time.sleep(chance.uniform(0, 20))
        site.wait(lambda: all_workers_run(site), "every slice runs again", job)
        slices.sees({0, 1})
        training.goes_on({0, 1})
    assert sorted(site.slices()) == [0, 1]
    assert {nodes for _, _, nodes in site.slices().values()} == {"pw-tpu-[0-1]", "pw-tpu-[2-3]"}
    assert job.address == address
    assert {server.pid for server in site.servers() if server.kind != "worker"} == heads


@dataclass
class Training:
    """A JAX program that was connected once, and computes ever since."""

    site: Site
    process: subprocess.Popen[bytes]
    log: Path

    def goes_on(self, slices: set[int]) -> None:
        """Waits for two more steps on exactly these slices; the program must not have ended meanwhile."""
        shown = f"slices: {', '.join(map(str, sorted(slices)))}"

        def steps() -> int:
            before, found, after = self.log.read_text().rpartition("slices: ")
            return after.count("completed step") if found and f"slices: {after.splitlines()[0]}" == shown else 0

        began: list[int] = []

        def two_more() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            began.append(steps())
            return steps() >= began[0] + 2

        self.site.wait(two_more, f"two more steps with {shown}")


@contextmanager
def trainer(site: Site) -> Iterator[Training]:
    """A training job on the login node, for as long as it takes."""
    log = site.home / "training.log"
    argv = site.cluster.on_login_node("bash", "scripts/run_maxtext.sh", "steps=1000000")
    with (
        log.open("wb") as output,
        subprocess.Popen(
            argv, env=site.cluster.environment(), cwd=site.home, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield Training(site, process, log)
        finally:
            process.kill()


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


@pytest.mark.extended
def test_without_sudo_nothing_is_powered_down_and_that_is_said(site: Site) -> None:
    (site.cluster.folder / "no-sudo").touch()
    job = site.start(MIN_SLICES="2")
    site.cluster.lose("pw-tpu-0")
    job.said("not powered down, for want of passwordless sudo")
    assert site.cluster.states()["pw-tpu-1"] in ("idle", "completing")


@pytest.mark.extended
def test_a_service_whose_node_is_lost_starts_anew_with_new_workers(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    first = set(site.slices())
    assert first == {0, 1}
    site.cluster.lose("pw-cpu-0")
    site.cluster.nodes.boot(next(iter(site.cluster.description.nodes())))
    site.wait(lambda: job.log.count("ready: clients find the proxy") == 2, "the service is ready again", job)
    site.wait(lambda: len(site.servers()) == 6 and len(site.slices()) == 2, "only the new servers run", job)
