"""What a change costs those who work on the stack: slices, running Pathways, data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cli.report.model import Change, Preview, Resource
from pathways import inventory, labels, workloads
from pathways.geometry import count

Kind = Literal["slices", "restart", "data", "cluster", "refused"]

# Resources whose deletion takes somebody's data along, and what that data is; {name} is the resource's.
_DATA: Mapping[str, str] = {
    "gcp:compute/disk:Disk": "the disk's contents",
    "gcp:compute/regionDisk:RegionDisk": "the disk's contents",
    "gcp:filestore/instance:Instance": "every file on the Filestore instance",
    "gcp:lustre/instance:Instance": "every file on the Lustre instance",
    "gcp:parallelstore/instance:Instance": "every file on the Parallelstore instance",
    "gcp:artifactregistry/repository:Repository": "every image in the repository",
    "gcp:secretmanager/secret:Secret": "every version of the secret",
    "gcp:kms/cryptoKey:CryptoKey": "whatever only this key decrypts",
    "kubernetes:core/v1:PersistentVolumeClaim": "the volume's contents, unless its reclaim policy keeps them",
    "kubernetes:core/v1:PersistentVolume": "the volume's contents, unless its reclaim policy keeps them",
    "kubernetes:core/v1:Namespace": "everything in the namespace {name}",
}
# A Cluster Director storage entry that makes something new, and what is in it.
_STORAGE: Mapping[str, str] = {"newBucket": "bucket", "newFilestore": "filestore", "newLustre": "lustre"}
# Node pool properties whose change makes GKE recreate the nodes, although the pool stays.
_RECREATES_NODES = (
    "version",
    "nodeConfig.bootDisk",
    "nodeConfig.diskSizeGb",
    "nodeConfig.diskType",
    "nodeConfig.imageType",
    "nodeConfig.kubeletConfig",
    "nodeConfig.linuxNodeConfig",
    "nodeConfig.machineType",
)


@dataclass(frozen=True)
class Consequence:
    """One thing that is lost. `slices` are those that are away, for good or until their VMs are back."""

    kind: Kind
    text: str
    slices: int = 0


@dataclass(frozen=True)
class Context:
    """What of the whole stack matters to a single change: pools on which a Pathways head runs, and whether any does."""

    head_pools: frozenset[str]
    pathways: bool


def context(preview: Preview) -> Context:
    """The context before the change, since that is what can be lost."""
    standing = [*preview.unchanged, *(change.old for change in preview.changes if change.old)]
    pools, runs = set(), False
    for resource in standing:
        if not resource.type.startswith("kubernetes:"):
            continue
        for container in workloads.containers(resource.type, resource.inputs):
            runs = runs or container.role != "client"
            if container.role in ("resource_manager", "proxy"):
                pools.add(str(container.pod.node_selector.get(labels.NODE_POOL, "")))
    # A preview that leaves unchanged resources out cannot show Pathways where its JobSet does not change.
    return Context(frozenset(pools - {""}), runs or not preview.complete)


def of(change: Change, around: Context) -> tuple[Consequence, ...]:
    """What one change costs; nothing for most."""
    if change.old is None:
        return ()
    if change.op in ("replace", "delete"):
        return tuple(_removed(change.old, change.new, around))
    return tuple(_updated(change, around))


def _removed(old: Resource, new: Resource | None, around: Context) -> Iterable[Consequence]:
    if old.type == inventory.NODE_POOL:
        yield from _pool_removed(old, new, around)
    elif old.type == inventory.CLUSTER:
        yield Consequence("cluster", "the whole cluster goes: every node pool, every workload, every volume claim")
    elif old.type == inventory.CLUSTER_DIRECTOR:
        slices = sum(each.slices or 0 for each in inventory.machines(old.type, old.inputs))
        yield Consequence("cluster", "all nodes go, and every job on them ends", slices)
        for name in _own_storage(old):
            yield Consequence("data", f"data lost: {name}, which the cluster made")
    elif old.type == "gcp:storage/bucket:Bucket":
        name = old.outputs.get("name") or old.inputs.get("name") or old.name
        if old.inputs.get("forceDestroy") is True:
            yield Consequence("data", f"data lost: every object in gs://{name}")
        else:
            text = f"Google refuses to delete gs://{name} while it holds an object (forceDestroy is off)"
            yield Consequence("refused", text)
    elif old.type in _DATA:
        yield Consequence("data", f"data lost: {_DATA[old.type].format(name=old.name)}")
    elif _is_pathways(old):
        yield _restart("restarts" if new else "stops for good")


def _pool_removed(old: Resource, new: Resource | None, around: Context) -> Iterable[Consequence]:
    for machines in inventory.machines(old.type, {**old.inputs, **_known(old.outputs)}):
        if machines.tpu:
            slices = machines.slices or 0
            coming = sum(each.vms for each in inventory.machines(new.type, new.inputs)) if new else 0
            until = f"until its {count(coming, 'new VM')} run" if coming else "for good"
            yield Consequence("slices", f"{count(slices, 'slice')} lost {until}", slices)
            if around.pathways:
                yield _restart("loses it: work on this slice ends")
            return
    name = str(old.outputs.get("name") or old.inputs.get("name") or old.name)
    if name in around.head_pools:
        yield _restart("restarts" if new else "stops for good: its head has no nodes")


def _updated(change: Change, around: Context) -> Iterable[Consequence]:
    old, new = change.old, change.new
    assert old is not None and new is not None
    paths = [each.path for each in change.properties]
    if _is_pathways(old) and any(path.startswith(("spec.template", "spec.replicatedJobs")) for path in paths):
        yield _restart("restarts")
    if old.type == inventory.NODE_POOL:
        before = inventory.node_pool(old.inputs)
        if before and before.tpu and any(path.startswith(_RECREATES_NODES) for path in paths):
            slices = before.slices or 0
            yield Consequence("slices", f"{count(slices, 'slice')} away while GKE recreates the nodes", slices)
            if around.pathways:
                yield _restart("loses it meanwhile: work on this slice ends")
        if before and before.tpu and any(path.startswith("placementPolicy") for path in paths):
            yield Consequence("refused", "nothing is sent to Google for this change: the slice keeps its shape")
    if old.type == inventory.CLUSTER_DIRECTOR:
        yield from _director_updated(old, new)


def _director_updated(old: Resource, new: Resource) -> Iterable[Consequence]:
    """The API holds every entry's config for immutable, so an entry changes by a new id only."""
    for key in ("computeResources", "storageResources", "networkResources"):
        before, after = _by_id(old.inputs.get(key)), _by_id(new.inputs.get(key))
        for id_ in before.keys() & after.keys():
            if before[id_].get("config") != after[id_].get("config"):
                text = f"Google refuses to change the config of {key} {id_}; give the changed entry a new id"
                yield Consequence("refused", text)
        for id_ in sorted(before.keys() - after.keys()):
            if key == "computeResources":
                yield Consequence("cluster", f"the nodes of compute resource {id_} go, and the jobs on them end")
            elif key == "storageResources":
                for kind, what in _STORAGE.items():
                    if kind in (before[id_].get("config") or {}):
                        yield Consequence("data", f"data lost: {what} {id_}, which the cluster made")
    sets_before = _by_id(inventory.at(old.inputs, "orchestrator.slurm.nodeSets"))
    sets_after = _by_id(inventory.at(new.inputs, "orchestrator.slurm.nodeSets"))
    slices = {each.name: each.slices or 0 for each in inventory.machines(old.type, old.inputs)}
    for id_ in sorted(sets_before.keys() - sets_after.keys()):
        text = f"node set {id_} goes, and the jobs on it end"
        yield Consequence("cluster", text, slices.get(id_, 0))


def _restart(how: str) -> Consequence:
    return Consequence("restart", f"running Pathways {how}; clients lose their session and what they hold in HBM")


def _is_pathways(resource: Resource) -> bool:
    found = workloads.containers(resource.type, resource.inputs)
    return any(container.role != "client" for container in found)


def _own_storage(old: Resource) -> list[str]:
    entries = _by_id(old.inputs.get("storageResources"))
    return [
        f"{what} {id_}"
        for id_, entry in entries.items()
        for kind, what in _STORAGE.items()
        if kind in (entry.get("config") or {})
    ]


def _by_id(entries: Any) -> dict[str, Mapping[str, Any]]:
    return {str(entry.get("id")): entry for entry in entries or [] if isinstance(entry, Mapping)}


def _known(outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: outputs[key] for key in ("name", "location", "nodeLocations") if outputs.get(key)}
