"""One real Slurm for all tests of this folder: a CPU node and room for two slices of v6e 2x4."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from rehearsal.processes import Processes
from rehearsal.slurm import install
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.slurm.description import NodeSet, Partition
from tests.rehearsal.slurm.site import Site
from tests.unit.slurm.example import service

CPU = NodeSet("cpu", static=1, dynamic=0, cpus=64, memory=256_000)
TPU = NodeSet("tpu", static=4, dynamic=0, cpus=180, memory=720_000, block=2, tpu="v6e")
PARTITIONS = (Partition("cpu", ("cpu",)), Partition("tpu", ("tpu",), exclusive=True))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    if os.geteuid() != 0 and install.missing():
        pytest.skip(f"Slurm is not installed, and only root can: {', '.join(install.missing())}")
    home = tmp_path_factory.mktemp("rehearsal")
    made = SlurmCluster(home / "slurm" / "pw", Processes(home / "processes"))
    made.create("pw", (CPU, TPU), PARTITIONS)
    yield made
    made.delete()


@pytest.fixture(scope="session")
def prepared(cluster: SlurmCluster) -> Site:
    site = Site(cluster, service())
    site.set_up()
    return site


@pytest.fixture
def site(prepared: Site) -> Iterator[Site]:
    yield prepared
    prepared.clean()
