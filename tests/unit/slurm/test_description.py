"""A rehearsed cluster's nodes, and the files that Slurm reads about them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rehearsal.errors import RehearsalError
from rehearsal.slurm import configuration
from rehearsal.slurm.description import Description, NodeSet, Partition, placed

CPU = NodeSet("cpu", static=1, dynamic=0, cpus=64, memory=256_000)
TPU = NodeSet("tpu", static=2, dynamic=4, cpus=180, memory=720_000, tpu="v6e", slices=(2, 4), place=1)
CLUSTER = Description("pw", 77, (CPU, TPU), (Partition("cpu", ("cpu",)), Partition("tpu", ("tpu",), True)), "cpu")


def test_nodes_are_named_as_cluster_director_names_them_and_have_addresses_of_their_own() -> None:
    nodes = list(CLUSTER.nodes())
    assert [node.name for node in nodes] == ["pw-cpu-0", *(f"pw-tpu-{index}" for index in range(6))]
    addresses = {node.address for node in nodes} | {CLUSTER.controller_address}
    assert len(addresses) == 8
    assert all(address.startswith("127.77.") for address in addresses)


def test_a_large_cluster_has_addresses_for_all_nodes() -> None:
    large = Description("pw", 77, (NodeSet("n", 0, 1000, 1, 1),), (), "")
    assert len({node.address for node in large.nodes()}) == 1000
    assert all(0 < int(part) < 255 for node in large.nodes() for part in node.address.split(".")[2:])


def test_a_description_survives_being_saved(tmp_path: Path) -> None:
    CLUSTER.save(tmp_path / "cluster.json")
    assert Description.load(tmp_path / "cluster.json") == CLUSTER


def test_slurm_is_told_what_runs_always_what_comes_on_demand_and_what_is_close_together(tmp_path: Path) -> None:
    configuration.write(tmp_path, CLUSTER)
    slurm = (tmp_path / "slurm.conf").read_text().splitlines()
    states = {line.split()[0]: line.split()[-1] for line in slurm if line.startswith("NodeName=")}
    assert states["NodeName=pw-tpu-1"] == "State=UNKNOWN"
    assert states["NodeName=pw-tpu-2"] == "State=CLOUD"
    [tpu] = [line for line in slurm if line.startswith("PartitionName=tpu")]
    assert "Nodes=pw-tpu-0,pw-tpu-1,pw-tpu-2,pw-tpu-3,pw-tpu-4,pw-tpu-5" in tpu
    assert "OverSubscribe=EXCLUSIVE" in tpu
    features = {line.split()[0]: re.findall(r"Features=(\S+)", line) for line in slurm if line.startswith("NodeName=")}
    assert features["NodeName=pw-tpu-3"] == ["v6e,tpu-2-1,tpu-4-0"]
    # Six nodes are three slices of two, and one of four.
    assert features["NodeName=pw-tpu-5"] == ["v6e,tpu-2-2"]
    assert features["NodeName=pw-cpu-0"] == []


def test_nodes_that_go_by_themselves_are_those_that_come_with_jobs(tmp_path: Path) -> None:
    configuration.write(tmp_path, CLUSTER)
    assert "SuspendExcNodes=pw-cpu-0,pw-tpu-0,pw-tpu-1\n" in (tmp_path / "slurm.conf").read_text()


def test_node_sets_that_stay_keep_their_addresses() -> None:
    before = placed([CPU, TPU])
    assert [each.place for each in before] == [0, 1]
    other = replace(CPU, name="cpu2")
    after = placed([other, replace(TPU, dynamic=40), CPU], before)
    assert {each.name: each.place for each in after} == {"cpu2": 2, "tpu": 1, "cpu": 0}
    # What went leaves its addresses to what comes.
    assert [each.place for each in placed([other, TPU], before)] == [0, 1]


def test_more_nodes_than_loopback_has_room_for_are_refused_with_a_way_out() -> None:
    with pytest.raises(RehearsalError, match="Rehearse the stack with fewer or smaller slices"):
        placed([replace(TPU, dynamic=5000)])


def test_daemons_listen_on_their_own_address_only(tmp_path: Path) -> None:
    configuration.write(tmp_path, CLUSTER)
    assert "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny" in (tmp_path / "slurm.conf").read_text()


def test_the_key_is_nobody_elses(tmp_path: Path) -> None:
    configuration.write(tmp_path, CLUSTER)
    assert (tmp_path / "munge" / "key").stat().st_mode & 0o077 == 0
