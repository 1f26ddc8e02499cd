"""One real Slurm for all tests of this folder: a CPU node and room for two slices of v6e 2x4."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pathways import scratch
from rehearsal.processes import Processes
from rehearsal.slurm import install
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.slurm.description import NodeSet, Partition
from rehearsal.slurm.runtime import cluster_account
from tests.rehearsal.slurm.site import Site
from tests.unit.google.running import PROJECT, REGION, Double, RecordingRuntime, serve
from tests.unit.slurm.example import service

CPU = NodeSet("cpu", static=1, dynamic=0, cpus=64, memory=256_000)
TPU = NodeSet("tpu", static=4, dynamic=0, cpus=180, memory=720_000, tpu="v6e", slices=(2, 4))
PARTITIONS = (Partition("cpu", ("cpu",)), Partition("tpu", ("tpu",), exclusive=True))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    if os.geteuid() != 0 and install.missing():
        pytest.skip(f"Slurm is not installed, and only root can: {', '.join(install.missing())}")
    home = tmp_path_factory.mktemp("a rehearsal")
    made = SlurmCluster(home / "slurm" / "pw", Processes(home / "processes"))
    made.apply("pw", (CPU, TPU), PARTITIONS)
    yield made
    made.delete()


def grant(google: str, *roles: str) -> None:
    """Let the nodes have these roles on the bucket, and no others."""
    member = f"serviceAccount:{cluster_account(PROJECT)}"
    policy = {"bindings": [{"role": role, "members": [member]} for role in roles]}
    Double(google, RecordingRuntime()).call("PUT", f"/storage/storage/v1/b/{service().bucket}/iam", policy)


@pytest.fixture(scope="session")
def google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Google Cloud double that has the services' bucket."""
    with serve(tmp_path_factory.mktemp("google"), RecordingRuntime()) as (_, url):
        bucket = {"name": service().bucket, "location": REGION}
        Double(url, RecordingRuntime()).call("POST", f"/storage/storage/v1/b?project={PROJECT}", bucket)
        grant(url, *scratch.ROLES)
        yield url


@pytest.fixture(scope="session")
def prepared(cluster: SlurmCluster, google: str) -> Site:
    site = Site(cluster, service(), google)
    site.set_up()
    return site


@pytest.fixture
def site(prepared: Site) -> Iterator[Site]:
    yield prepared
    prepared.clean()
