"""A rehearsed cluster's nodes, and the files that Slurm reads about them."""

from __future__ import annotations

from pathlib import Path

from rehearsal.slurm import configuration
from rehearsal.slurm.description import Description, NodeSet, Partition

CPU = NodeSet("cpu", static=1, dynamic=0, cpus=64, memory=256_000)
TPU = NodeSet("tpu", static=2, dynamic=4, cpus=180, memory=720_000, block=2, tpu="v6e")
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
    topology = (tmp_path / "topology.conf").read_text().splitlines()
    assert "SwitchName=tpu-block-1 Nodes=pw-tpu-2,pw-tpu-3" in topology


def test_daemons_listen_on_their_own_address_only(tmp_path: Path) -> None:
    configuration.write(tmp_path, CLUSTER)
    assert "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny" in (tmp_path / "slurm.conf").read_text()


def test_the_key_is_nobody_elses(tmp_path: Path) -> None:
    configuration.write(tmp_path, CLUSTER)
    assert (tmp_path / "munge" / "key").stat().st_mode & 0o077 == 0
