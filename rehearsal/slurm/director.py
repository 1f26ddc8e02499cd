"""A cluster of Google's Cluster Director API, turned into a Slurm cluster of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathways import tpu
from pathways.catalogue import MachineType
from rehearsal.errors import RehearsalError
from rehearsal.google import places
from rehearsal.slurm.description import ANY_TPU, NodeSet, Partition

Json = dict[str, Any]

# Users of a rehearsal have their home in its folder: the real /home may hold the very checkout that runs.
HOME = "/home"


@dataclass(frozen=True)
class Wanted:
    """The arguments of SlurmCluster.apply."""

    name: str
    node_sets: tuple[NodeSet, ...]
    partitions: tuple[Partition, ...]
    default_partition: str | None
    logins: int
    mounts: Mapping[str, str]


def wanted(cluster: Json, folder_of: Callable[[str], Path]) -> Wanted:
    """What a cluster (API JSON) amounts to. `folder_of` gives the folder that stands for a bucket.

    Startup scripts, prologs and epilogs are not run: written for a machine of their own, they would change this one.
    """
    slurm = cluster["orchestrator"]["slurm"]
    node_sets = tuple(_node_set(cluster, each) for each in slurm.get("nodeSets", []))
    of_tpus = {each.name for each in node_sets if each.tpu}
    partitions = tuple(
        Partition(each["id"], tuple(each["nodeSetIds"]), exclusive=set(each["nodeSetIds"]) <= of_tpus)
        for each in slurm.get("partitions", [])
    )
    if not partitions:
        raise RehearsalError(f"The cluster {cluster['name']} has no partitions, without which Slurm cannot run.")
    return Wanted(
        name=cluster["name"].rpartition("/")[2],
        node_sets=node_sets,
        partitions=partitions,
        default_partition=slurm.get("defaultPartition"),
        logins=int(slurm["loginNodes"]["count"]),
        mounts=_mounts(cluster, slurm, folder_of),
    )


def _node_set(cluster: Json, node_set: Json) -> NodeSet:
    [config] = cluster["computeResources"][node_set["computeId"]]["config"].values()
    name = config.get("machineType")
    machine = tpu.catalogue().machine_types.get(name)
    count = {key: int(node_set.get(key, 0)) for key in ("staticNodeCount", "maxDynamicNodeCount")}
    vcpus, mib = _size(name)
    every = () if name else tuple(tpu.catalogue().machine_types.values())
    return NodeSet(
        name=node_set["id"],
        static=count["staticNodeCount"],
        dynamic=count["maxDynamicNodeCount"],
        cpus=vcpus,
        memory=mib,
        tpu=machine.generation if machine else None if name else ANY_TPU,
        slices=_slices((machine,) if machine else every, sum(count.values())),
    )


def _size(machine_type: str | None) -> tuple[int, int]:
    """vCPUs and MiB of a machine; of an unknown one, as in a reservation, those of the smallest TPU VM."""
    known = [places.machine_types().get(machine_type or ""), *_tpu_machines()]
    return next((each.vcpus, each.memory_mib) for each in known if each and each.vcpus and each.memory_mib)


def _tpu_machines() -> list[places.Machine]:
    found = [places.machine_types()[name] for name in tpu.catalogue().machine_types]
    return sorted(found, key=lambda machine: machine.vcpus)


def _slices(machines: tuple[MachineType, ...], nodes: int) -> tuple[int, ...]:
    """The numbers of VMs that slices of these machines have, so far as there are nodes for them; 1 needs no block."""
    vms = {machine.vms(topology) for machine in machines for topology in machine.topologies}
    return tuple(sorted(each for each in vms if 1 < each <= nodes))


def _mounts(cluster: Json, slurm: Json, folder_of: Callable[[str], Path]) -> dict[str, str]:
    """The storage that nodes see, by path; each node and login node sees all of it."""
    everywhere = [*slurm["loginNodes"].get("storageConfigs", [])]
    for node_set in slurm.get("nodeSets", []):
        everywhere += node_set.get("storageConfigs", [])
    found = {}
    for mount in everywhere:
        bucket = cluster["storageResources"][mount["id"]].get("bucket")
        # Filestore and Lustre instances exist in name only, so there is nothing to see but the home folders.
        if bucket and mount["localMount"] != HOME:
            found[mount["localMount"]] = str(folder_of(bucket["bucket"]))
    return found
