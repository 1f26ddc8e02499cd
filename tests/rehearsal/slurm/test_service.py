"""The Pathways service on a real Slurm, as documented: its commands, variables, logs, address, and who may use it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from rehearsal.client import ENVIRONMENT
from rehearsal.slurm import service
from tests.rehearsal.slurm.site import Job, Site, observer
from tests.unit.slurm.test_scripts import PAGE

Running = tuple[Site, Job]


@pytest.fixture(scope="module")
def running(prepared: Site) -> Iterator[Running]:
    """A service with both of its slices."""
    ENVIRONMENT.ensure()
    job = prepared.start(MIN_SLICES="2")
    prepared.wait(lambda: len(prepared.servers()) == 6, "all six servers run", job)
    yield prepared, job
    prepared.clean()


def test_the_service_runs_the_pages_commands_on_every_node(running: Running) -> None:
    site, job = running
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


def test_every_worker_has_the_variables_of_its_place(running: Running) -> None:
    site, job = running
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


def test_the_resource_manager_says_when_slices_are_ready_and_tells_who_asks(running: Running) -> None:
    site, job = running
    log = job.logs / "resource_manager.log"
    site.wait(lambda: "*** 2/2 Pathways Slices Now Ready ***" in log.read_text(), "the slices are ready", job)
    assert "Pathways Server serving on [::]:29001" in log.read_text()
    assert "IFRT proxy server started with status OK" in (job.logs / "proxy.log").read_text()
    with observer(job) as slices:
        slices.sees({0, 1})


def test_cluster_env_is_all_that_a_shell_needs(running: Running) -> None:
    site, job = running
    shown = site.cluster.run("bash", "-c", "source ~/pathways/cluster.env; env")
    variables = dict(line.split("=", 1) for line in shown.stdout.splitlines())
    assert variables["JAX_PLATFORMS"] == "proxy"
    assert variables["JAX_BACKEND_TARGET"] == f"grpc://{job.address[0]}:29000"
    assert variables["IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS"] == "true"
    assert list(site.pathways.glob("cluster.env.*")) == []


def test_a_jax_program_computes_on_all_slices(running: Running) -> None:
    site, _ = running
    said: list[str] = []
    service.ensure(site.cluster, site.outputs, said.append)
    assert "is there already" in said[-1]
    service.check(site.cluster, site.outputs, said.append)
    assert "right, over all 16 devices" in said[-1]


def test_jupyter_is_asked_for_and_then_runs_on_a_cpu_node(running: Running) -> None:
    site, job = running
    done = site.cluster.run("bash", "scripts/run_jupyter.sh")
    assert (done.returncode, done.stdout.count("there is no command")) == (1, 0)
    assert "there is no command jupyter" in done.stderr and "setup_env.sh PACKAGE" in done.stderr
    assert site.cluster.run("bash", "scripts/setup_env.sh", "jupyterlab").returncode == 0
    submitted = site.cluster.run("sbatch", "--parsable", "scripts/run_jupyter.sh").stdout.strip()
    log = site.home / f"jupyter-{submitted}.log"
    site.wait(lambda: log.exists() and "?token=" in log.read_text(), "Jupyter runs", job)
    assert "--tunnel-through-iap -- -L 8888:pw-cpu-0:8888" in log.read_text()
    [url] = re.findall(r"http://\S+", log.read_text())
    page = httpx.get(url.replace("pw-cpu-0", job.address[0]), trust_env=False).text
    assert f"JAX_BACKEND_TARGET=grpc://{job.address[0]}:29000" in page
    site.cluster.run("scancel", submitted)


def test_a_second_service_on_the_same_node_is_told_about_the_port(running: Running) -> None:
    site, _ = running
    folder = site.home / "second"
    folder.mkdir()
    (folder / "images").symlink_to(site.pathways / "images")
    second = site.submit(PATHWAYS_HOME=str(folder))
    second.said("port 29000 of pw-cpu-0 is in use")
    assert "to do: find it with squeue --nodelist=pw-cpu-0" in second.log


def test_a_second_service_of_the_same_user_is_told_about_the_first(running: Running) -> None:
    site, first = running
    second = site.submit()
    second.said(f"your Pathways service job {first.id} runs already")
    assert site.address_file.exists()
