"""What Cluster Director demands of a cluster.

Source: descriptions in the API's discovery document. It states the rules; the wording of refusals is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rehearsal.google import places, tpus
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import bad_fields
from rehearsal.google.schema import snake
from rehearsal.google.services.hypercomputecluster.service import Json

CLUSTER_ID = re.compile(r"[a-z][a-z0-9]{0,9}")
NODE_SET_ID = re.compile(r"[a-z][a-z0-9]{0,14}")
RESOURCE_ID = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
FILESYSTEM = re.compile(r"[A-Za-z0-9]{1,8}")
NETWORK = re.compile(r"projects/[^/]+/global/networks/[^/]+")
SUBNETWORK = re.compile(r"projects/[^/]+/regions/[^/]+/subnetworks/[^/]+")
RESERVATION = re.compile(r"projects/[^/]+/zones/[^/]+/reservations/[^/]+")
INSTANCE = re.compile(r"projects/[^/]+/locations/[^/]+/instances/[^/]+")
LONGEST_DESCRIPTION = 2048
LARGEST_SCRIPT = 256 * 1024
SMALLEST_BOOT_DISK_GB = 40
FILESTORE_GB = range(1024, 102400 + 1)
LUSTRE_GB = range(18000, 7632000 + 1)
THROUGHPUTS = ("125", "250", "500", "1000")
LOGIN_SERIES = "n2-"
"""Login nodes of clusters with TPUs are of the N2 series."""

Faults = Iterator[tuple[str, str]]
"""Pairs of a field's path and what is wrong with it."""


def check(cloud: Cloud, cluster: Json, region: str) -> None:
    """Raises GoogleError listing everything that is wrong with a cluster."""
    faults = [
        *_plain(cluster),
        *_network(cloud, cluster),
        *_compute(cluster),
        *_storage(cloud, cluster),
        *_orchestrator(cluster),
        *_zones(cluster, region),
    ]
    if faults:
        raise bad_fields(faults)


def check_id(id: str) -> None:
    """Raises GoogleError for an id that a cluster cannot have."""
    if not CLUSTER_ID.fullmatch(id):
        text = f"Invalid cluster id '{id}': a lower-case letter, then up to 9 lower-case letters and digits."
        raise bad_fields([("cluster_id", text)])


def check_update(old: Json, new: Json) -> None:
    """Raises GoogleError where an update changes what is immutable: configurations, boot disks and the network."""
    faults = []
    for field in ("networkResources", "computeResources", "storageResources"):
        for id, before in old.get(field, {}).items():
            after = new.get(field, {}).get(id)
            if after is not None and after.get("config") != before.get("config"):
                faults.append(_immutable(f"{snake(field)}[{id}].config", "give the changed resource another id"))
    if set(old.get("networkResources", {})) != set(new.get("networkResources", {})):
        faults.append(_immutable("network_resources", "the network of a cluster stays"))
    before, after = _slurm(old), _slurm(new)
    if before and after:
        disks = [login.get("loginNodes", {}).get("bootDisk") for login in (before, after)]
        if disks[0] != disks[1]:
            faults.append(_immutable("orchestrator.slurm.login_nodes.boot_disk", "create the cluster anew"))
        if before["loginNodes"]["zone"] != after["loginNodes"]["zone"]:
            faults.append(_immutable("orchestrator.slurm.login_nodes.zone", "create the cluster anew"))
        known = {each["id"]: each for each in before.get("nodeSets", [])}
        for index, node_set in enumerate(after.get("nodeSets", [])):
            if node_set["id"] in known and _disk(node_set) != _disk(known[node_set["id"]]):
                path = f"orchestrator.slurm.node_sets[{index}].compute_instance.boot_disk"
                faults.append(_immutable(path, "give the changed node set another id"))
    if faults:
        raise bad_fields(faults)


def _plain(cluster: Json) -> Faults:
    if len(cluster.get("description", "")) > LONGEST_DESCRIPTION:
        yield "description", f"description has more than {LONGEST_DESCRIPTION} characters."


def _resources(cluster: Json, field: str) -> Faults:
    """What the three maps of resources have in common: ids, and one way for each to come about."""
    for id, resource in cluster.get(field, {}).items():
        path = f"{snake(field)}[{id}]"
        if not RESOURCE_ID.fullmatch(id):
            yield (
                path,
                f"Invalid id '{id}': lower-case letters, digits and hyphens, at most 63, starting with a letter.",
            )
        if len(resource.get("config", {})) != 1:
            stated = ", ".join(resource.get("config", {})) or "none"
            yield f"{path}.config", f"{path}.config must state exactly one kind of resource, not {stated}."


def _network(cloud: Cloud, cluster: Json) -> Faults:
    yield from _resources(cluster, "networkResources")
    if len(cluster.get("networkResources", {})) != 1:
        yield "network_resources", "network_resources must contain exactly one value."
    for path, kind, config in configs(cluster, "networkResources"):
        yield from _name(path, "network", config, NETWORK)
        if kind == "existingNetwork":
            yield from _name(path, "subnetwork", config, SUBNETWORK)
            for field in ("network", "subnetwork"):
                name = config.get(field, "")
                if name and cloud.store.get(f"compute/{name}") is None:
                    yield f"{path}.{field}", f"The resource '{name}' was not found."


def _compute(cluster: Json) -> Faults:
    yield from _resources(cluster, "computeResources")
    for path, kind, config in configs(cluster, "computeResources"):
        if kind == "newReservedInstances":
            yield from _name(path, "reservation", config, RESERVATION)
            continue
        yield from _required(path, config, "zone", "machineType")
        if kind == "newFlexStartInstances":
            yield from _required(path, config, "maxDuration")
        yield from _machine(path, config)


def _storage(cloud: Cloud, cluster: Json) -> Faults:
    yield from _resources(cluster, "storageResources")
    for path, kind, config in configs(cluster, "storageResources"):
        if kind.endswith("Bucket"):
            yield from _required(path, config, "bucket")
            bucket = config.get("bucket", "")
            if kind == "existingBucket" and bucket and cloud.store.get(f"storage/b/{bucket}") is None:
                yield f"{path}.bucket", f"The bucket '{bucket}' does not exist."
            if "autoclass" in config and "storageClass" in config:
                yield path, f"{path} states either autoclass or storage_class."
            continue
        yield from _name(path, "filestore" if kind.endswith("Filestore") else "lustre", config, INSTANCE)
        if kind == "newFilestore":
            yield from _filestore(path, config)
        elif kind == "newLustre":
            yield from _lustre(path, config)


def _filestore(path: str, config: Json) -> Faults:
    yield from _required(path, config, "tier")
    shares = config.get("fileShares", [])
    if len(shares) != 1:
        yield f"{path}.file_shares", f"Exactly one file share must be specified, not {len(shares)}."
    for share in shares:
        yield from _required(f"{path}.file_shares[0]", share, "capacityGb", "fileShare")
        if int(share.get("capacityGb", FILESTORE_GB[0])) not in FILESTORE_GB:
            yield f"{path}.file_shares[0].capacity_gb", "capacity_gb must be between 1024 and 102400."


def _lustre(path: str, config: Json) -> Faults:
    yield from _required(path, config, "capacityGb", "filesystem")
    if int(config.get("capacityGb", LUSTRE_GB[0])) not in LUSTRE_GB:
        yield f"{path}.capacity_gb", "capacity_gb must be between 18000 and 7632000."
    if not FILESYSTEM.fullmatch(config.get("filesystem", "a")):
        yield f"{path}.filesystem", "filesystem must have at most 8 characters, letters and digits only."
    if config.get("perUnitStorageThroughput", THROUGHPUTS[0]) not in THROUGHPUTS:
        yield f"{path}.per_unit_storage_throughput", f"must be one of {', '.join(THROUGHPUTS)}."


def _orchestrator(cluster: Json) -> Faults:
    slurm, base = _slurm(cluster), "orchestrator.slurm"
    if not slurm:
        return
    for field in ("prologBashScripts", "epilogBashScripts"):
        for index, script in enumerate(slurm.get(field, [])):
            if not script:
                yield f"{base}.{snake(field)}[{index}]", "Values must not be empty."
    yield from _login_nodes(cluster, slurm.get("loginNodes", {}), f"{base}.login_nodes")
    node_sets = slurm.get("nodeSets", [])
    yield from _unique(f"{base}.node_sets", node_sets)
    for index, node_set in enumerate(node_sets):
        yield from _node_set(cluster, node_set, f"{base}.node_sets[{index}]")
    yield from _partitions(slurm, base)


def _login_nodes(cluster: Json, login: Json, path: str) -> Faults:
    yield from _required(path, login, "count", "machineType", "zone")
    yield from _machine(path, login)
    machine = login.get("machineType", "")
    if machine and not machine.startswith(LOGIN_SERIES) and _has_tpus(cluster):
        yield f"{path}.machine_type", f"Login nodes of a cluster with TPUs are of the N2 series, not {machine}."
    yield from _node(cluster, login, login, path, path)


def _node_set(cluster: Json, node_set: Json, path: str) -> Faults:
    if not NODE_SET_ID.fullmatch(node_set.get("id", "")):
        text = "a lower-case letter, then up to 14 lower-case letters and digits."
        yield f"{path}.id", f"Invalid node set id '{node_set.get('id', '')}': {text}"
    if node_set.get("computeId") not in cluster.get("computeResources", {}):
        yield f"{path}.compute_id", f"'{node_set.get('computeId', '')}' is not a key of compute_resources."
    for field in ("staticNodeCount", "maxDynamicNodeCount"):
        if int(node_set.get(field, 0)) < 0:
            yield f"{path}.{snake(field)}", "must not be negative."
    yield from _node(cluster, node_set, node_set.get("computeInstance", {}), path, f"{path}.compute_instance")


def _node(cluster: Json, mounting: Json, machine: Json, path: str, machine_path: str) -> Faults:
    """What login nodes and node sets share: storage, a boot disk and a startup script."""
    for index, mount in enumerate(mounting.get("storageConfigs", [])):
        yield from _required(f"{path}.storage_configs[{index}]", mount, "id", "localMount")
        if mount.get("id") not in cluster.get("storageResources", {}):
            yield f"{path}.storage_configs[{index}].id", f"'{mount.get('id')}' is not a key of storage_resources."
    if "bootDisk" in machine:
        yield from _required(f"{machine_path}.boot_disk", machine["bootDisk"], "type", "sizeGb")
        if int(machine["bootDisk"].get("sizeGb", SMALLEST_BOOT_DISK_GB)) < SMALLEST_BOOT_DISK_GB:
            yield f"{machine_path}.boot_disk.size_gb", f"must be at least {SMALLEST_BOOT_DISK_GB} GB."
    if len(machine.get("startupScript", "").encode()) > LARGEST_SCRIPT:
        yield f"{machine_path}.startup_script", "is larger than 256 KB."


def _partitions(slurm: Json, base: str) -> Faults:
    partitions = slurm.get("partitions", [])
    yield from _unique(f"{base}.partitions", partitions)
    known = {node_set.get("id") for node_set in slurm.get("nodeSets", [])}
    for index, partition in enumerate(partitions):
        path = f"{base}.partitions[{index}]"
        if not RESOURCE_ID.fullmatch(partition.get("id", "")):
            yield f"{path}.id", f"Invalid partition id '{partition.get('id', '')}'."
        yield from _required(path, partition, "nodeSetIds")
        for id in partition.get("nodeSetIds", []):
            if id not in known:
                yield f"{path}.node_set_ids", f"'{id}' is not the id of a node set."
    default, ids = slurm.get("defaultPartition"), [partition.get("id") for partition in partitions]
    if default is None and len(ids) > 1:
        yield f"{base}.default_partition", "Required when there is more than one partition."
    elif default is not None and (len(ids) <= 1 or default not in ids):
        text = "must be the id of a partition, and is stated only when there is more than one"
        yield f"{base}.default_partition", f"'{default}': {text}."


def _zones(cluster: Json, region: str) -> Faults:
    """Every zone lies in the cluster's region, and all are the same."""
    stated = {path: config["zone"] for path, _, config in configs(cluster, "computeResources") if config.get("zone")}
    for path, _, config in configs(cluster, "computeResources"):
        if RESERVATION.fullmatch(config.get("reservation", "")):
            stated[path] = config["reservation"].split("/")[3]
    if zone := _slurm(cluster).get("loginNodes", {}).get("zone"):
        stated["orchestrator.slurm.login_nodes"] = zone
    for path, zone in stated.items():
        if not places.is_zone(zone) or places.region_of(zone) != region:
            yield f"{path}.zone", f"'{zone}' is not a zone of the cluster's region {region}."
    if len(set(stated.values())) > 1:
        yield "zone", f"All resources of a cluster are in one zone, not in {', '.join(sorted(set(stated.values())))}."


def configs(cluster: Json, field: str) -> Iterator[tuple[str, str, Json]]:
    """Path, kind and content of what each resource of a map is made of."""
    for id, resource in cluster.get(field, {}).items():
        for kind, config in resource.get("config", {}).items():
            yield f"{snake(field)}[{id}].config.{snake(kind)}", kind, config


def _machine(path: str, config: Json) -> Faults:
    machine = config.get("machineType")
    if machine and not places.machine_exists(machine):
        yield f"{path}.machine_type", f"Machine type '{machine}' does not exist."


def _has_tpus(cluster: Json) -> bool:
    machines = (config.get("machineType", "") for _, _, config in configs(cluster, "computeResources"))
    return any(tpus.tpu_machine(name) for name in machines)


def _required(path: str, message: Json, *fields: str) -> Faults:
    for field in fields:
        if not message.get(field):
            yield f"{path}.{snake(field)}", f"{path}.{snake(field)} is required."


def _name(path: str, field: str, config: Json, form: re.Pattern[str]) -> Faults:
    if not form.fullmatch(config.get(field, "")):
        yield f"{path}.{field}", f"'{config.get(field, '')}' is not of the form {form.pattern.replace('[^/]+', '*')}."


def _unique(path: str, entries: list[Json]) -> Faults:
    ids = [entry.get("id") for entry in entries]
    for id in sorted({str(id) for id in ids if ids.count(id) > 1}):
        yield path, f"The id '{id}' is used more than once."


def _slurm(cluster: Json) -> Json:
    slurm: Json = cluster.get("orchestrator", {}).get("slurm", {})
    return slurm


def _disk(node_set: Json) -> Json:
    disk: Json = node_set.get("computeInstance", {}).get("bootDisk", {})
    return disk


def _immutable(path: str, remedy: str) -> tuple[str, str]:
    return path, f"{path} is immutable: {remedy}."
