"""A server with a wrong flag, variable or port ends, and says which one it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearsal.standins.pathways import Pathways


@pytest.fixture
def pathways(tmp_path: Path) -> Iterator[Pathways]:
    servers = Pathways(tmp_path, "tpuv6e:2x4", slices=2)
    yield servers
    servers.stop_all()


def test_an_unknown_flag_ends_a_server(pathways: Pathways) -> None:
    pathways.start_proxy("--elastic_slices=1")
    code, line = pathways.ended("proxy")
    assert code == 1
    assert line.startswith("ERROR: Unknown command line flag 'elastic_slices'. Did you mean: num_elastic_slices")


def test_an_instance_type_that_does_not_exist_ends_the_resource_manager(pathways: Pathways) -> None:
    pathways.instance_type = "tpuv6e:3x4"
    pathways.start_head(elastic=0)
    assert pathways.ended("resource-manager") == (1, "unsupported instance type tpuv6e:3x4")


def test_a_worker_of_another_count_or_topology_ends_with_the_resource_managers_words(pathways: Pathways) -> None:
    pathways.start_head(elastic=0)
    pathways.start_worker(0, 0, MEGASCALE_NUM_SLICES="3")
    pathways.start_worker(0, 1, TPU_TOPOLOGY="4x4")
    code, line = pathways.ended("worker-0-0")
    assert (code, line.partition(": ")[2]) == (1, "it has MEGASCALE_NUM_SLICES=3, expected 2 (--instance_count)")
    code, line = pathways.ended("worker-0-1")
    assert (code, line.partition(": ")[2]) == (1, "it has TPU_TOPOLOGY=4x4, tpuv6e:2x4 has 2x4")


def test_a_port_that_is_taken_ends_a_server(pathways: Pathways) -> None:
    pathways.start_head(elastic=0)
    pathways.said("resource-manager", "Pathways Server serving on [::]:29001")
    pathways.said("proxy", "IFRT proxy server started with status OK")
    first = pathways.running.pop("proxy")
    for port in (29001, 29000):
        pathways.start_proxy(port=port)
        code, line = pathways.ended("proxy")
        assert code == 1
        assert f":{port}" in line or f"{port})" in line
    pathways.running["proxy"] = first
