"""The Cluster Director cluster: every argument of the resource, from the settings.

Keys are those of Pulumi's Python SDK. Numbers are text where the API has 64-bit integers.
Source: discovery document of hypercomputecluster v1; pulumi_gcp's schema of the resource.
"""

from __future__ import annotations

from typing import Any

from pathways import node_pools
from pathways.director import ids
from pathways.inventory import SLICE_LABEL
from pathways.settings import BootDisk, Capacity, Home, Nodes, Settings
from pathways.topology import SliceShape

Arguments = dict[str, Any]

HOME_MOUNT = "/home"
# Where every node sees the scratch bucket, in which the scripts lie.
SCRIPTS_MOUNT = "/mnt/pathways"


def arguments(settings: Settings, shape: SliceShape, scratch_bucket: str) -> Arguments:
    """Arguments of `gcp.hypercomputecluster.Cluster`."""
    director = settings.director
    cpu, tpu = _compute(settings, shape)
    home, scripts = _storage(settings, scratch_bucket)
    mounts = [{"id": home["id"], "local_mount": HOME_MOUNT}, {"id": scripts["id"], "local_mount": SCRIPTS_MOUNT}]
    labels = dict(settings.labels)
    cpu_set = _node_set("cpu", cpu, director.cpu_nodes, settings.head.node_count, mounts, labels)
    labels_of_slices = {**labels, SLICE_LABEL: str(shape.topology)}
    tpu_set = _node_set("tpu", tpu, director.tpu_nodes, settings.slices.count * shape.vms, mounts, labels_of_slices)
    return {
        "cluster_id": ids.cluster_id(settings),
        "location": settings.region,
        "description": f"Pathways, stack {settings.stack}",
        "labels": dict(settings.labels),
        "deletion_policy": "PREVENT" if director.deletion_protection else "DELETE",
        "network_resources": [_network(settings)],
        "compute_resources": [cpu, tpu],
        "storage_resources": [home, scripts],
        "orchestrator": {
            "slurm": {
                "login_nodes": _login_nodes(settings, mounts),
                "node_sets": [cpu_set, tpu_set],
                "partitions": [
                    {"id": ids.CPU_PARTITION, "node_set_ids": [cpu_set["id"]]},
                    {"id": ids.TPU_PARTITION, "node_set_ids": [tpu_set["id"]]},
                ],
                "default_partition": ids.CPU_PARTITION,
                **_filled(
                    prolog_bash_scripts=list(director.prolog_scripts), epilog_bash_scripts=list(director.epilog_scripts)
                ),
            }
        },
    }


def compute_config(capacity: Capacity, zone: str, machine_type: str, project: str) -> Arguments:
    """How VMs are obtained. A reservation brings zone and machine type with it."""
    where = {"zone": zone, "machine_type": machine_type}
    match capacity.type:
        case "spot":
            return {"new_spot_instances": {**where, "termination_action": "DELETE"}}
        case "reservation":
            owner = capacity.reservation_project or project
            path = f"projects/{owner}/zones/{zone}/reservations/{capacity.reservation}"
            return {"new_reserved_instances": {"reservation": path}}
        case "flexStart":
            hours = capacity.max_run_hours or node_pools.LONGEST_FLEX_START_HOURS
            return {"new_flex_start_instances": {**where, "max_duration": f"{hours * 3600}s"}}
        case _:
            return {"new_on_demand_instances": where}


def _network(settings: Settings) -> Arguments:
    network = ids.network(settings)
    config: Arguments = (
        {"existing_network": {"network": network, "subnetwork": ids.subnetwork(settings)}}
        if settings.network.existing
        else {"new_network": {"network": network}}
    )
    return {"id": ids.resource_id("net", config), "config": config}


def _compute(settings: Settings, shape: SliceShape) -> tuple[Arguments, Arguments]:
    """The CPU VMs of the service and of clients, and the TPU VMs, all in one zone as the API wants it."""
    zone, project = settings.slices.zone, settings.project
    configs = {
        "cpu": compute_config(Capacity(), zone, settings.head.machine_type, project),
        "tpu": compute_config(settings.slices.capacity, zone, shape.machine_type.name, project),
    }
    cpu, tpu = ({"id": ids.resource_id(stem, config), "config": config} for stem, config in configs.items())
    return cpu, tpu


def _storage(settings: Settings, scratch_bucket: str) -> tuple[Arguments, Arguments]:
    configs = {"home": _home(settings), "scripts": {"existing_bucket": {"bucket": scratch_bucket}}}
    home, scripts = ({"id": ids.resource_id(stem, config), "config": config} for stem, config in configs.items())
    return home, scripts


def _home(settings: Settings) -> Arguments:
    home = settings.director.home
    if home.type == "bucket":
        return _home_bucket(home, ids.home_bucket(settings))
    location = settings.region if home.tier == "REGIONAL" and home.type == "filestore" else settings.slices.zone
    name = home.existing or f"projects/{settings.project}/locations/{location}/instances/{settings.name}-home"
    if home.existing:
        return {f"existing_{home.type}": {home.type: name}}
    if home.type == "filestore":
        share = {"capacity_gb": str(home.capacity_gb), "file_share": "home"}
        return {"new_filestore": {"filestore": name, "tier": home.tier, "file_shares": [share]}}
    throughput = str(home.throughput) if home.throughput else None
    return {
        "new_lustre": {
            "lustre": name,
            "filesystem": "home",
            "capacity_gb": str(home.capacity_gb),
            **_filled(per_unit_storage_throughput=throughput),
        }
    }


def _home_bucket(home: Home, name: str) -> Arguments:
    if home.existing:
        return {"existing_bucket": {"bucket": name}}
    # Folders are moved as one operation with a hierarchical namespace, and home folders are full of them.
    config = {"bucket": name, "hierarchical_namespace": {"enabled": True}}
    return {"new_bucket": {**config, **_filled(storage_class=home.storage_class)}}


def _login_nodes(settings: Settings, mounts: list[Arguments]) -> Arguments:
    login = settings.director.login_nodes
    return {
        "count": str(login.count),
        "machine_type": login.machine_type,
        "zone": settings.slices.zone,
        "boot_disk": _disk(login.boot_disk),
        "enable_os_login": login.os_login,
        "enable_public_ips": login.public_ips,
        "storage_configs": mounts,
        **_filled(labels=dict(settings.labels), startup_script=login.startup_script),
    }


def _node_set(
    stem: str, compute: Arguments, nodes: Nodes, count: int, mounts: list[Arguments], labels: dict[str, str]
) -> Arguments:
    """`count` nodes that run always or come with jobs. What cannot be changed on a node is part of the set's id."""
    disk = _disk(nodes.boot_disk)
    return {
        "id": ids.node_set_id(stem, {"compute": compute["config"], "boot_disk": disk}),
        "compute_id": compute["id"],
        ("static_node_count" if nodes.static else "max_dynamic_node_count"): str(count),
        "storage_configs": mounts,
        "compute_instance": {
            "boot_disk": disk,
            **_filled(labels=labels, startup_script=nodes.startup_script),
        },
    }


def _disk(disk: BootDisk) -> Arguments:
    return {"type": disk.type, "size_gb": str(disk.size_gb)}


def _filled(**values: Any) -> Arguments:
    """Those that say something: an empty list or map would come back from the API as nothing, and differ."""
    return {key: value for key, value in values.items() if value}
