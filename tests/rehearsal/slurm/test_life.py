"""A Pathways service from its submission to its end: waiting for slices and clients, dying, and stopping cleanly."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.rehearsal.slurm.site import Site, observer


def test_a_client_without_a_service_is_told_how_to_start_one(site: Site) -> None:
    done = site.cluster.run("bash", "scripts/run_client.sh", "true")
    assert done.returncode == 1
    assert "you have no Pathways service" in done.stderr
    assert "start_pathways.sh" in done.stderr


def test_a_client_waits_for_the_service_which_scancel_ends_without_a_trace(site: Site) -> None:
    disk = Path(site.cluster.environment()["TMPDIR"])
    before = set(disk.iterdir())
    job = site.submit(MIN_SLICES="2")
    done = site.cluster.run("bash", "scripts/run_client.sh", "printenv", "JAX_BACKEND_TARGET")
    assert done.stdout.splitlines()[-1] == f"grpc://{job.address[0]}:29000"
    assert f"waiting for Pathways service job {job.id}" in done.stdout
    site.wait(lambda: len(site.servers()) == 6, "all six servers run", job)
    site.cluster.run("scancel", job.id)
    site.wait(lambda: not site.servers() and not site.slices() and job.ended, "everything ends", job)
    assert not site.address_file.exists()
    assert job.log.endswith("stopped\n")
    assert set(disk.iterdir()) <= before, "containers are left"


def test_fewer_slices_than_min_are_waited_for_and_said(site: Site) -> None:
    for node in ("pw-tpu-2", "pw-tpu-3"):
        site.cluster.run("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
    job = site.submit(MIN_SLICES="2")
    job.said("1 of 2 slices run, waiting for MIN_SLICES=2: ")
    assert not site.address_file.exists()
    site.cluster.run("scontrol", "update", "nodename=pw-tpu-[2-3]", "state=resume")
    site.wait(site.address_file.exists, "cluster.env is written", job)


def test_min_slices_are_enough_to_start(site: Site) -> None:
    site.cluster.run("scontrol", "update", "nodename=pw-tpu-[0-1]", "state=drain", "reason=test")
    job = site.start(MIN_SLICES="1")
    with observer(job) as slices:
        slices.sees({0} if site.slices()[0][0] == "RUNNING" else {1})


def test_without_sudo_the_service_warns_and_says_which_role_is_missing(site: Site) -> None:
    (site.cluster.folder / "no-sudo").touch()
    job = site.start()
    assert "warning: no passwordless sudo on pw-cpu-0" in job.log
    assert "to do: ask for the role roles/compute.osAdminLogin" in job.log


def test_a_dead_proxy_ends_the_service_with_its_last_words(site: Site) -> None:
    job = site.start()
    os.kill(site.servers("proxy")[0].pid, signal.SIGKILL)
    job.said("the proxy ended with code 137; its last lines are above")
    site.wait(lambda: job.ended and not site.slices(), "everything ends", job)
    assert "IFRT proxy server started with status OK" in job.log
    assert not site.address_file.exists()


def test_on_a_tpu_node_the_service_says_where_it_belongs(site: Site) -> None:
    done = site.cluster.run("sbatch", "--partition=tpu", "scripts/start_pathways.sh")
    log = site.home / f"pathways-{done.stdout.split()[-1]}.log"
    site.wait(lambda: log.exists() and "submit it to the partition cpu" in log.read_text(), "it says so")
