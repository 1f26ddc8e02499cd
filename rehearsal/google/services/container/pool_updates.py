"""Updates of node pools: PUT, size, management, autoscaling."""

from __future__ import annotations

from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import condition_not_met, invalid, unimplemented
from rehearsal.google.services.container import node_pools, operations, tpu_rules
from rehearsal.google.services.container.node_pools import POOLS
from rehearsal.google.services.container.pool_rules import check_autoscaling, check_room
from rehearsal.google.services.container.records import ClusterRecord, PoolRecord
from rehearsal.google.services.container.service import SERVICE, Place, pool_of
from rehearsal.google.services.container.versions import number, resolve
from rehearsal.google.tpus import tpu_machine

Json = dict[str, Any]

REPLACED = (
    "accelerators",
    "confidentialNodes",
    "containerdConfig",
    "diskSizeGb",
    "diskType",
    "fastSocket",
    "flexStart",
    "gcfsConfig",
    "gvnic",
    "imageType",
    "linuxNodeConfig",
    "loggingConfig",
    "machineType",
    "maxRunDuration",
    "resourceManagerTags",
    "storagePools",
    "windowsNodeConfig",
    "workloadMetadataConfig",
)
"""Fields of the request that replace the field of that name in the node configuration."""

WRAPPED = {"labels": "labels", "tags": "tags", "taints": "taints", "resourceLabels": "labels"}
"""Fields of the request that carry their list or map in a member."""

OF_POOL = {
    "upgradeSettings": "upgradeSettings",
    "nodeDrainConfig": "nodeDrainConfig",
    "queuedProvisioning": "queuedProvisioning",
}
IDENTITY = ("name", "projectId", "zone", "clusterId", "nodePoolId", "etag")


def _begin(cloud: Cloud, call: Call) -> tuple[Place, ClusterRecord, PoolRecord]:
    place, cluster, record = pool_of(cloud, call)
    operations.refuse_while_busy(cloud, cluster, record.pool["name"])
    return place, cluster, record


def _end(cloud: Cloud, place: Place, cluster: ClusterRecord, record: PoolRecord, kind: str) -> Json:
    record.pool["status"] = "RECONCILING"
    node_pools.store(cloud, record)
    return operations.start(cloud, place, kind, "apply_pool", cluster.name, record.pool["name"])


@SERVICE.handles(POOLS + "update")
def update(cloud: Cloud, call: Call) -> Json:
    place, cluster, record = _begin(cloud, call)
    wanted = {name: value for name, value in call.body.items() if name not in IDENTITY}
    if not wanted:
        raise invalid("At least one of the fields to update must be specified.")
    if call.body.get("etag", record.pool["etag"]) != record.pool["etag"]:
        raise condition_not_met("The etag of the node pool is not the current one.")
    pool, config = record.pool, record.pool["config"]
    _check_machine(pool, wanted.get("machineType", ""))
    for field, value in wanted.items():
        if field == "nodeVersion":
            _set_version(cluster, pool, value)
        elif field == "locations":
            change_locations(cloud, place, record, value)
        elif field == "nodeNetworkConfig":
            pool["networkConfig"] = {**pool["networkConfig"], **value}
        elif field == "kubeletConfig":
            config["kubeletConfig"] = {**config.get("kubeletConfig", {}), **value}
        elif field in OF_POOL:
            pool[OF_POOL[field]] = value
        elif field in WRAPPED:
            config[field] = value.get(WRAPPED[field], [])
        elif field in REPLACED:
            config[field] = value
        elif field != "bootDisk":
            raise unimplemented(f"The rehearsal does not update a node pool by {field}.")
    _keep_own(config, wanted)
    return _end(cloud, place, cluster, record, "UPGRADE_NODES")


def _check_machine(pool: Json, wanted: str) -> None:
    if not wanted:
        return
    if not places.machine_exists(wanted):
        raise invalid(f'Machine type with name "{wanted}" does not exist.')
    old, new = tpu_machine(pool["config"]["machineType"]), tpu_machine(wanted)
    if (old or new) and wanted != pool["config"]["machineType"]:
        raise invalid("The machine type of a TPU node pool cannot be changed.")


def _set_version(cluster: ClusterRecord, pool: Json, wanted: str) -> None:
    master = cluster.cluster["currentMasterVersion"]
    version = master if wanted in ("-", "") else resolve(wanted)
    if number(version) > number(master):
        raise invalid(f'Node version "{version}" must not be newer than the control plane, which has "{master}".')
    pool["version"] = version


def _keep_own(config: Json, wanted: Json) -> None:
    """What GKE keeps whatever the caller replaces: the boot disk in both its forms, the TPU taint."""
    disk = {**config.get("bootDisk", {}), **wanted.get("bootDisk", {})}
    if "diskType" in wanted or "diskSizeGb" in wanted:
        disk |= {"diskType": config["diskType"], "sizeGb": str(config["diskSizeGb"])}
    config |= {"bootDisk": disk, "diskType": disk["diskType"], "diskSizeGb": int(disk["sizeGb"])}
    machine = tpu_machine(config["machineType"])
    if machine and not any(taint.get("key") == tpu_rules.TAINT["key"] for taint in config.get("taints", [])):
        config["taints"] = [*config.get("taints", []), dict(tpu_rules.TAINT)]


def change_locations(cloud: Cloud, place: Place, record: PoolRecord, locations: list[str]) -> None:
    """Move a pool to other zones, with the node count per zone it has."""
    machine = tpu_machine(record.pool["config"]["machineType"])
    for zone in locations:
        if not places.is_zone(zone) or places.region_of(zone) != place.region:
            raise invalid(f'Location "{zone}" is not a zone of region "{place.region}".')
    if machine and tpu_rules.vms_of(record.pool, machine) > 1 and len(locations) != 1:
        raise invalid(f"A multi-host TPU node pool lies in exactly one zone, not in {', '.join(locations)}.")
    count = max(record.sizes.values(), default=0)
    check_room(cloud, record.project, record.pool, count * len(locations))
    record.pool["locations"] = locations
    record.sizes = {zone: record.sizes.get(zone, count) for zone in locations}


@SERVICE.handles(POOLS + "setSize")
def set_size(cloud: Cloud, call: Call) -> Json:
    """Nodes per zone. GKE answers the new number as initialNodeCount from then on."""
    place, cluster, record = _begin(cloud, call)
    count: int = call.body.get("nodeCount", 0)
    if count < 0:
        raise invalid(f"Node count {count} must not be negative.")
    if machine := tpu_machine(record.pool["config"]["machineType"]):
        tpu_rules.check_resize(record.pool, machine, count)
    check_room(cloud, record.project, record.pool, count * len(record.sizes))
    record.sizes = dict.fromkeys(record.sizes, count)
    record.pool["initialNodeCount"] = count
    return _end(cloud, place, cluster, record, "SET_NODE_POOL_SIZE")


@SERVICE.handles(POOLS + "setManagement")
def set_management(cloud: Cloud, call: Call) -> Json:
    place, cluster, record = _begin(cloud, call)
    management = call.body.get("management", {})
    channel = cluster.cluster.get("releaseChannel", {}).get("channel", "UNSPECIFIED")
    flexible = record.pool["config"].get("flexStart")
    kept = management.get("autoUpgrade") and (management.get("autoRepair") or flexible)
    if channel != "UNSPECIFIED" and not kept:
        raise invalid(f"Auto_upgrade and auto_repair cannot be false when release_channel {channel} is set.")
    record.pool["management"] = management
    return _end(cloud, place, cluster, record, "SET_NODE_POOL_MANAGEMENT")


@SERVICE.handles(POOLS + "setAutoscaling")
def set_autoscaling(cloud: Cloud, call: Call) -> Json:
    place, cluster, record = _begin(cloud, call)
    record.pool["autoscaling"] = call.body.get("autoscaling", {})
    refuse_bad_autoscaling(record.pool)
    check_autoscaling(record.pool)
    return _end(cloud, place, cluster, record, "UPDATE_CLUSTER")


def refuse_bad_autoscaling(pool: Json) -> None:
    """Raises GoogleError where the limits do not fit the slice that a pool is."""
    machine = tpu_machine(pool["config"]["machineType"])
    topology = pool.get("placementPolicy", {}).get("tpuTopology", "")
    if machine and topology:
        tpu_rules.check_autoscaling(pool["autoscaling"], topology, machine.vms[topology])
