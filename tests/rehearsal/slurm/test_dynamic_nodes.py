"""Nodes that are made when a slice asks for them, in a second cluster beside the first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rehearsal.processes import Processes
from rehearsal.slurm.cluster import SlurmCluster
from rehearsal.slurm.description import NodeSet
from tests.rehearsal.slurm.conftest import CPU, PARTITIONS
from tests.rehearsal.slurm.site import Site
from tests.unit.slurm.example import service

TPU = NodeSet("tpu", static=0, dynamic=2, cpus=180, memory=720_000, tpu="v6e", slices=(2,))


@pytest.fixture
def site(cluster: SlurmCluster, google: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("second")
    second = SlurmCluster(home / "slurm" / "second", Processes(home / "processes"))
    second.apply("second", (CPU, TPU), PARTITIONS)
    site = Site(second, service(max_slices=1, tpu_nodes=2), google)
    site.set_up()
    yield site
    second.delete()


@pytest.mark.extended
def test_tpu_nodes_come_with_the_service_and_two_clusters_do_not_meet(site: Site, cluster: SlurmCluster) -> None:
    assert site.cluster.states()["second-tpu-0"] == "idle~"
    job = site.start()
    site.wait(lambda: len(site.servers()) == 4, "all four servers run", job)
    assert sorted(site.cluster.nodes.running()) == ["second-cpu-0", "second-tpu-0", "second-tpu-1"]
    assert set(cluster.states().values()) == {"idle"}
    site.cluster.run("scancel", job.id)
    site.wait(lambda: not site.servers(), "everything ends", job)
    # Nobody has to power them down.
    site.wait(lambda: site.cluster.nodes.running() == ["second-cpu-0"], "the TPU nodes go", job)
