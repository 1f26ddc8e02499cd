"""The Pathways service on a real Slurm: it comes up as documented, says what is wrong, and stops cleanly."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from rehearsal.client import ENVIRONMENT
from rehearsal.slurm import service
from tests.rehearsal.slurm.site import Site, observer
from tests.unit.slurm.test_scripts import PAGE


def test_the_service_comes_up_with_the_pages_commands_on_every_node(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    site.wait(lambda: len(site.servers()) == 6, "all six servers run", job)
    head, port = job.address
    assert port == 29000
    values = {
        "tpuTPU_TYPE:TOPOLOGY": "tpuv6e:2x4",
        "MAX_SLICES": "2",
        "BUCKET_NAME": "example-scratch",
        "RM_IP": head,
    }
    for component, count in [("resource manager", 1), ("proxy", 1), ("worker", 4)]:
        text = PAGE[component]
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        assert [server.command for server in site.servers(component)] == [text.split()] * count
    assert {server.address for kind in ("resource manager", "proxy") for server in site.servers(kind)} == {head}


def test_every_worker_has_the_variables_of_its_place(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    site.wait(lambda: len(site.servers("worker")) == 4, "four workers run", job)
    addresses = {node.name: node.address for node in site.cluster.description.nodes()}
    blocks = {(addresses["pw-tpu-0"], addresses["pw-tpu-1"]), (addresses["pw-tpu-2"], addresses["pw-tpu-3"])}
    seen = set()
    for worker in site.servers("worker"):
        env = worker.environment
        hosts = tuple(env["TPU_WORKER_HOSTNAMES"].split(","))
        assert hosts in blocks, "a slice's VMs are of one block"
        assert hosts[int(env["TPU_WORKER_ID"])] == worker.address
        assert env["MEGASCALE_COORDINATOR_ADDRESS"] == job.address[0]
        assert env["MEGASCALE_NUM_SLICES"] == "2"
        assert (env["TPU_TOPOLOGY"], env["TPU_ACCELERATOR_TYPE"]) == ("2x4", "v6e-8")
        assert (env["TPU_HOST_BOUNDS"], env["TPU_CHIPS_PER_HOST_BOUNDS"]) == ("1,2,1", "2,2,1")
        seen.add((env["MEGASCALE_SLICE_ID"], hosts, env["TPU_WORKER_ID"]))
    assert len(seen) == 4
    assert {index for index, _, _ in seen} == {"0", "1"}


def test_the_resource_manager_says_when_slices_are_ready_and_tells_who_asks(site: Site) -> None:
    job = site.start(MIN_SLICES="2")
    log = job.logs / "resource_manager.log"
    site.wait(lambda: "*** 2/2 Pathways Slices Now Ready ***" in log.read_text(), "the slices are ready", job)
    assert "Pathways Server serving on [::]:29001" in log.read_text()
    assert "IFRT proxy server started with status OK" in (job.logs / "proxy.log").read_text()
    with observer(job) as slices:
        slices.sees({0, 1})


def test_cluster_env_is_all_that_a_shell_needs(site: Site) -> None:
    job = site.start()
    shown = site.cluster.run("bash", "-c", "source ~/pathways/cluster.env; env")
    variables = dict(line.split("=", 1) for line in shown.stdout.splitlines())
    assert variables["JAX_PLATFORMS"] == "proxy"
    assert variables["JAX_BACKEND_TARGET"] == f"grpc://{job.address[0]}:29000"
    assert list(site.pathways.glob("cluster.env.*")) == []


def test_a_client_waits_for_the_service_and_gets_its_address(site: Site) -> None:
    job = site.submit()
    done = site.cluster.run("bash", "scripts/run_client.sh", "printenv", "JAX_BACKEND_TARGET")
    assert done.stdout.splitlines()[-1] == f"grpc://{job.address[0]}:29000"
    assert f"waiting for Pathways service job {job.id}" in done.stdout


def test_a_client_without_a_service_is_told_how_to_start_one(site: Site) -> None:
    done = site.cluster.run("bash", "scripts/run_client.sh", "true")
    assert done.returncode == 1
    assert "you have no Pathways service" in done.stderr
    assert "start_pathways.sh" in done.stderr


def test_scancel_ends_everything_and_takes_the_address_away(site: Site) -> None:
    disk = Path(site.cluster.environment()["TMPDIR"])
    before = set(disk.iterdir())
    job = site.start(MIN_SLICES="2")
    site.wait(lambda: len(site.servers()) == 6, "all six servers run", job)
    site.cluster.run("scancel", job.id)
    site.wait(lambda: not site.servers() and not site.slices() and job.ended, "everything ends", job)
    assert not site.address_file.exists()
    assert job.log.endswith("stopped\n")
    assert set(disk.iterdir()) <= before, "containers are left"


def test_a_second_service_on_the_same_node_is_told_about_the_port(site: Site) -> None:
    site.start()
    folder = site.home / "second"
    folder.mkdir(exist_ok=True)
    if not (folder / "images").exists():
        (folder / "images").symlink_to(site.pathways / "images")
    second = site.submit(PATHWAYS_HOME=str(folder))
    second.said("port 29000 of pw-cpu-0 is in use")
    assert "to do: find it with squeue --nodelist=pw-cpu-0" in second.log


def test_a_second_service_of_the_same_user_is_told_about_the_first(site: Site) -> None:
    first = site.start()
    second = site.submit()
    second.said(f"your Pathways service job {first.id} runs already")
    assert site.address_file.exists()


def test_on_a_tpu_node_the_service_says_where_it_belongs(site: Site) -> None:
    done = site.cluster.run("sbatch", "--partition=tpu", "scripts/start_pathways.sh")
    job = done.stdout.split()[-1]
    log = site.home / f"pathways-{job}.log"
    site.wait(lambda: log.exists() and "submit it to the partition cpu" in log.read_text(), "it says so")


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


def test_a_dead_proxy_ends_the_service_with_its_last_words(site: Site) -> None:
    job = site.start()
    os.kill(site.servers("proxy")[0].pid, signal.SIGKILL)
    job.said("the proxy ended with code 137; its last lines are above")
    site.wait(lambda: job.ended and not site.slices(), "everything ends", job)
    assert "IFRT proxy server started with status OK" in job.log
    assert not site.address_file.exists()


def test_a_jax_program_computes_on_all_slices(site: Site) -> None:
    ENVIRONMENT.ensure()
    said: list[str] = []
    service.ensure(site.cluster, site.outputs, said.append)
    service.check(site.cluster, site.outputs, said.append)
    assert "right, over all 16 devices" in said[-1]
