"""A cluster of the API becomes the Slurm cluster that it describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rehearsal.errors import RehearsalError
from rehearsal.slurm import director
from rehearsal.slurm.description import ANY_TPU, Partition

Json = dict[str, Any]
ZONE = "us-east5-b"


def cluster() -> Json:
    """A cluster as the API has it once its storage is there: numbers are text."""
    mounts = [{"id": "home", "localMount": "/home"}, {"id": "scripts", "localMount": "/mnt/pathways"}]
    return {
        "name": "projects/p/locations/us-east5/clusters/pw",
        "computeResources": {
            "cpu": {"config": {"newOnDemandInstances": {"zone": ZONE, "machineType": "n2-standard-64"}}},
            "tpu": {"config": {"newSpotInstances": {"zone": ZONE, "machineType": "ct6e-standard-4t"}}},
        },
        "storageResources": {
            "home": {"config": {}, "bucket": {"bucket": "homes"}},
            "scripts": {"config": {}, "bucket": {"bucket": "scratch"}},
        },
        "orchestrator": {
            "slurm": {
                "loginNodes": {"count": "2", "storageConfigs": mounts},
                "nodeSets": [
                    {"id": "cpu1", "computeId": "cpu", "staticNodeCount": "1", "storageConfigs": mounts},
                    {"id": "tpu1", "computeId": "tpu", "maxDynamicNodeCount": "4", "storageConfigs": mounts},
                ],
                "partitions": [{"id": "cpu", "nodeSetIds": ["cpu1"]}, {"id": "tpu", "nodeSetIds": ["tpu1"]}],
                "defaultPartition": "cpu",
            }
        },
    }


def wanted(described: Json) -> director.Wanted:
    return director.wanted(described, lambda bucket: Path("/buckets", bucket))


def test_node_sets_have_the_size_of_their_machines_and_run_always_or_come_with_jobs() -> None:
    cpu, tpu = wanted(cluster()).node_sets
    assert (cpu.name, cpu.static, cpu.dynamic, cpu.cpus, cpu.memory, cpu.tpu) == ("cpu1", 1, 0, 64, 262144, None)
    assert (tpu.name, tpu.static, tpu.dynamic, tpu.cpus, tpu.memory, tpu.tpu) == ("tpu1", 0, 4, 180, 737280, "v6e")
    assert (cpu.slices, tpu.slices) == ((), (2, 4)), "slices of v6e that four VMs can form"


def test_partitions_of_tpus_give_out_whole_nodes() -> None:
    found = wanted(cluster())
    assert found.partitions == (Partition("cpu", ("cpu1",)), Partition("tpu", ("tpu1",), exclusive=True))
    assert (found.name, found.default_partition, found.logins) == ("pw", "cpu", 2)


def test_nodes_see_buckets_but_for_the_home_folders() -> None:
    assert wanted(cluster()).mounts == {"/mnt/pathways": "/buckets/scratch"}


def test_reserved_tpus_may_be_of_any_generation() -> None:
    described = cluster()
    reservation = {"newReservedInstances": {"reservation": f"projects/p/zones/{ZONE}/reservations/r"}}
    described["computeResources"]["tpu"]["config"] = reservation
    tpu = wanted(described).node_sets[1]
    assert tpu.tpu == ANY_TPU and {2, 4} <= set(tpu.slices)
    assert tpu.cpus and tpu.memory


def test_a_cluster_without_partitions_is_refused() -> None:
    described = cluster()
    described["orchestrator"]["slurm"]["partitions"] = []
    with pytest.raises(RehearsalError, match="has no partitions"):
        wanted(described)
