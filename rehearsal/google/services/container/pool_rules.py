"""What GKE checks of any new node pool, and what it fills in."""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from typing import Any

from rehearsal.google import places
from rehearsal.google.cloud import Cloud
from rehearsal.google.documents import get_path, merge
from rehearsal.google.errors import invalid
from rehearsal.google.policies import service_account_exists
from rehearsal.google.services.compute.service import reference
from rehearsal.google.services.container import tpu_rules
from rehearsal.google.services.container.defaults import default
from rehearsal.google.services.container.records import ClusterRecord, PoolRecord, pools_in_project
from rehearsal.google.services.container.service import Place
from rehearsal.google.services.container.versions import number, resolve
from rehearsal.google.tpus import dranet_gke, tpu_machine

Json = dict[str, Any]

NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
RESERVATION_KEY = "compute.googleapis.com/reservation-name"


def check_name(kind: str, name: str) -> None:
    """Names of clusters and of node pools."""
    if not NAME.fullmatch(name) or len(name) > 40:
        raise invalid(
            f'Invalid value for field "{kind}.name": "{name}". It has at most 40 characters, '
            "lowercase letters, digits "
            "and hyphens, starts with a letter and ends with a letter or a digit."
        )


def complete(cloud: Cloud, place: Place, cluster: ClusterRecord, pool: Json) -> tuple[Json, str]:
    """A new pool with what GKE fills in, and its policy's relative name. Raises what GKE refuses."""
    check_name("node_pool", pool.get("name", ""))
    given = pool.get("config", {})
    surge = {"strategy": "SURGE", **pool["upgradeSettings"]} if "upgradeSettings" in pool else None
    pool = merge(default("node_pool"), pool)
    pool["upgradeSettings"] = surge or pool["upgradeSettings"]
    config: Json = pool["config"]
    if not places.machine_exists(config["machineType"]):
        raise invalid(f'Machine type with name "{config["machineType"]}" does not exist.')
    _check_account(cloud, config["serviceAccount"])
    _settle_locations(place, cluster, pool)
    _settle_version(cluster, pool)
    _settle_management(cluster, pool)
    check_autoscaling(pool)
    _check_capacity(pool)
    policy = _policy(cloud, place, pool)
    machine = tpu_machine(config["machineType"])
    if pool.get("placementPolicy", {}).get("tpuTopology") and machine is None:
        raise invalid(f'Machine type "{config["machineType"]}" has no TPUs: a TPU topology cannot be set.')
    if pool.get("placementPolicy", {}).get("type") == "COMPACT":
        if len(pool["locations"]) != 1:
            raise invalid("Compact placement requires the node pool to lie in exactly one zone.")
        if pool["upgradeSettings"].get("strategy") == "BLUE_GREEN":
            raise invalid("Blue-green upgrades are not supported with compact placement.")
    _fill_config(cluster, config, given)
    if machine:
        tpu_rules.check(cloud, pool, machine, policy, pool["version"])
        tpu_rules.fill_in(config, machine, multi_host=tpu_rules.vms_of(pool, machine) > 1)
        pool.setdefault("queuedProvisioning", {})
    _settle_network(cloud, place, cluster, pool)
    _check_accelerator_network(cluster, pool)
    return pool, policy


def _check_accelerator_network(cluster: ClusterRecord, pool: Json) -> None:
    """An accelerator network profile is DRANET's, which has demands of its own."""
    if get_path(pool, "networkConfig.acceleratorNetworkProfile", "") != "auto":
        return
    if get_path(cluster.cluster, "networkConfig.datapathProvider", "") != "ADVANCED_DATAPATH":
        raise invalid("Accelerator network profile requires a cluster with Dataplane V2.")
    if number(pool["version"]) < number(dranet_gke()):
        raise invalid(f"Accelerator network profile requires GKE {dranet_gke()} or later, not {pool['version']}.")


def _check_account(cloud: Cloud, email: str) -> None:
    if email != "default" and not service_account_exists(cloud, email):
        raise invalid(f'Service account "{email}" does not exist.')


def _settle_locations(place: Place, cluster: ClusterRecord, pool: Json) -> None:
    locations = pool.setdefault("locations", list(cluster.cluster["locations"]))
    for zone in locations:
        if not places.is_zone(zone) or places.region_of(zone) != place.region:
            raise invalid(f'Location "{zone}" of node pool "{pool["name"]}" is not a zone of region "{place.region}".')


def _settle_version(cluster: ClusterRecord, pool: Json) -> None:
    master = cluster.cluster["currentMasterVersion"]
    pool["version"] = resolve(pool["version"]) if pool.get("version", "-") != "-" else master
    if number(pool["version"]) > number(master):
        raise invalid(
            f'Node version "{pool["version"]}" must not be newer than the control plane, which has "{master}".'
        )


def _settle_management(cluster: ClusterRecord, pool: Json) -> None:
    management = pool.setdefault("management", {"autoRepair": True, "autoUpgrade": True})
    channel = get_path(cluster.cluster, "releaseChannel.channel", "UNSPECIFIED")
    flexible = pool["config"].get("flexStart") or "queuedProvisioning" in pool
    if channel != "UNSPECIFIED" and not (management.get("autoUpgrade") and (management.get("autoRepair") or flexible)):
        raise invalid(f"Auto_upgrade and auto_repair cannot be false when release_channel {channel} is set.")


def check_autoscaling(pool: Json) -> None:
    """The limits of a pool's autoscaling; fills in the location policy."""
    scaling: Json = pool.get("autoscaling", {})
    if not scaling.get("enabled"):
        return
    per_zone = scaling.get("minNodeCount") or scaling.get("maxNodeCount")
    total = scaling.get("totalMinNodeCount") or scaling.get("totalMaxNodeCount")
    if per_zone and total:
        raise invalid("Autoscaling limits are stated per zone or in total, not both.")
    if not per_zone and not total:
        raise invalid("Autoscaling requires a maximum node count greater than zero.")
    for prefix in ("", "total"):
        low, high = (scaling.get(_lower_first(f"{prefix}{end}NodeCount"), 0) for end in ("Min", "Max"))
        if low > high:
            raise invalid(f"Minimum node count {low} is greater than maximum node count {high}.")
    spot = pool["config"].get("spot") or pool["config"].get("preemptible")
    scaling.setdefault("locationPolicy", "ANY" if spot else "BALANCED")


def _lower_first(name: str) -> str:
    return name[0].lower() + name[1:]


def _check_capacity(pool: Json) -> None:
    """What excludes what among reservation, spot, flex start and queued provisioning."""
    config = pool["config"]
    affinity = config.get("reservationAffinity", {})
    consume = affinity.get("consumeReservationType", "")
    spot, flex = config.get("spot"), config.get("flexStart")
    queued = pool.get("queuedProvisioning", {}).get("enabled")
    if consume == "SPECIFIC_RESERVATION" and not (affinity.get("key") == RESERVATION_KEY and affinity.get("values")):
        raise invalid(f"SPECIFIC_RESERVATION requires key {RESERVATION_KEY} and the reservation's name in values.")
    if consume != "SPECIFIC_RESERVATION" and affinity.get("values"):
        raise invalid("Reservation values can only be set with SPECIFIC_RESERVATION.")
    if spot and config.get("preemptible"):
        raise invalid("A node pool cannot be both spot and preemptible.")
    if spot and consume not in ("", "NO_RESERVATION"):
        raise invalid("Spot VMs cannot consume a reservation.")
    if flex and spot:
        raise invalid("Flex start and spot exclude each other.")
    if (flex or queued) and consume != "NO_RESERVATION":
        raise invalid("Flex start and queued provisioning require reservation affinity NO_RESERVATION.")
    if flex and pool["management"].get("autoRepair"):
        raise invalid("Auto_repair must be false for flex start node pools.")
    if (flex or queued) and not pool["autoscaling"].get("enabled"):
        raise invalid("Flex start and queued provisioning require autoscaling.")
    if (flex or queued) and (pool.get("initialNodeCount") or pool["autoscaling"].get("minNodeCount")):
        raise invalid("Flex start and queued provisioning require node counts to begin at 0.")


def _policy(cloud: Cloud, place: Place, pool: Json) -> str:
    """The relative name of the resource policy that a pool names, "" for none."""
    text = pool.get("placementPolicy", {}).get("policyName", "")
    if not text:
        return ""
    name = reference(cloud, place.project, text, "resourcePolicies", place.region)
    region = name.split("/")[3]
    if region != place.region:
        raise invalid(f'Resource policy "{text}" is in region "{region}", the node pool in region "{place.region}".')
    if cloud.store.get(f"compute/{name}") is None:
        raise invalid(
            f'Resource policy "{text}" was not found in region "{place.region}" of project "{place.project.id}".'
        )
    return name


def _fill_config(cluster: ClusterRecord, config: Json, given: Json) -> None:
    if not config.get("oauthScopes"):
        config["oauthScopes"] = default("oauth_scopes")
    disk = config.get("bootDisk", {})
    if "diskType" not in given and config["machineType"].startswith(tuple(default("hyperdisk_machines"))):
        config["diskType"] = "hyperdisk-balanced"
    config["diskType"] = disk.get("diskType") or config["diskType"]
    config["diskSizeGb"] = int(disk.get("sizeGb") or config["diskSizeGb"])
    if config["diskSizeGb"] < 10:
        raise invalid(f"Disk size {config['diskSizeGb']} GB is below the minimum of 10 GB.")
    config["bootDisk"] = {**disk, "diskType": config["diskType"], "sizeGb": str(config["diskSizeGb"])}
    consumes = get_path(config, "reservationAffinity.consumeReservationType")
    model = "on-demand"
    if config.get("flexStart"):
        model = "flex-start"
    elif config.get("spot"):
        model = "spot"
    elif consumes == "SPECIFIC_RESERVATION":
        model = "reservation"
    config["resourceLabels"] = {
        **config.get("resourceLabels", {}),
        "goog-gke-node-pool-provisioning-model": model,
    }
    mode = get_path(config, "workloadMetadataConfig.mode", "MODE_UNSPECIFIED")
    pool = get_path(cluster.cluster, "workloadIdentityConfig.workloadPool")
    if mode == "GKE_METADATA" and not pool:
        raise invalid("GKE_METADATA requires workload identity to be enabled on the cluster.")
    if pool and mode == "MODE_UNSPECIFIED":
        config["workloadMetadataConfig"] = {"mode": "GKE_METADATA"}


def _settle_network(cloud: Cloud, place: Place, cluster: ClusterRecord, pool: Json) -> None:
    """The pool's ranges, and whether they have room for its nodes."""
    limit = (
        get_path(pool, "maxPodsConstraint.maxPodsPerNode")
        or cluster.cluster["defaultMaxPodsConstraint"]["maxPodsPerNode"]
    )
    if not 8 <= int(limit) <= 256:
        raise invalid(f"Maximum pods per node must be 8 to 256, not {limit}.")
    pool["maxPodsConstraint"] = {"maxPodsPerNode": str(limit)}
    pool["podIpv4CidrSize"] = 32 - (2 * int(limit) - 1).bit_length()
    network = pool.setdefault("networkConfig", {})
    network.setdefault("subnetwork", cluster.cluster["networkConfig"]["subnetwork"])
    path = reference(cloud, place.project, network["subnetwork"], "subnetworks", place.region)
    subnet = cloud.store.get(f"compute/{path}")
    if subnet is None:
        raise invalid(f'Subnetwork "{network["subnetwork"]}" does not exist in region "{place.region}".')
    network["subnetwork"] = path
    policy = cluster.cluster["ipAllocationPolicy"]
    name = network.setdefault("podRange", policy["clusterSecondaryRangeName"])
    ranges = {entry["rangeName"]: entry["ipCidrRange"] for entry in subnet.get("secondaryIpRanges", [])}
    if name not in ranges:
        raise invalid(f'Pod secondary range "{name}" does not exist in subnetwork "{subnet["name"]}".')
    network["podIpv4CidrBlock"] = ranges[name]
    network.setdefault("enablePrivateNodes", cluster.cluster["networkConfig"].get("defaultEnablePrivateNodes", False))
    for extra in network.get("additionalNodeNetworkConfigs", []):
        _check_extra_network(cloud, place, cluster, extra)
    check_room(cloud, place.project.id, pool, pool.get("initialNodeCount", 0) * len(pool["locations"]))


def _check_extra_network(cloud: Cloud, place: Place, cluster: ClusterRecord, extra: Json) -> None:
    if not get_path(cluster.cluster, "networkConfig.enableMultiNetworking"):
        raise invalid("Additional node networks require multi-networking to be enabled on the cluster.")
    for field, collection in (("network", "networks"), ("subnetwork", "subnetworks")):
        region = place.region if field == "subnetwork" else ""
        name = reference(cloud, place.project, extra.get(field, ""), collection, region)
        if cloud.store.get(f"compute/{name}") is None:
            raise invalid(f'Additional node network: {field} "{extra.get(field, "")}" does not exist.')


def check_room(cloud: Cloud, project: str, pool: Json, nodes: int) -> None:
    """Raises GoogleError when subnetwork or pod range has too few addresses for `nodes` nodes of a pool."""
    path, pods = pool["networkConfig"]["subnetwork"], pool["networkConfig"]["podRange"]
    subnet = cloud.store.get(f"compute/{path}") or {}
    used_nodes, used_pods = nodes, nodes * 2 ** (32 - pool["podIpv4CidrSize"])
    for other in pools_in_project(cloud, project):
        if _same_pool(other, pool) or other.pool["networkConfig"]["subnetwork"] != path:
            continue
        count = sum(other.sizes.values())
        used_nodes += count
        if other.pool["networkConfig"]["podRange"] == pods:
            used_pods += count * 2 ** (32 - other.pool["podIpv4CidrSize"])
    if used_nodes > IPv4Network(subnet["ipCidrRange"]).num_addresses - 4:
        raise invalid(f"[IP_SPACE_EXHAUSTED]: IP space of '{path}' ({subnet['ipCidrRange']}) is exhausted.")
    block = pool["networkConfig"]["podIpv4CidrBlock"]
    if used_pods > IPv4Network(block).num_addresses:
        raise invalid(f"[IP_SPACE_EXHAUSTED]: Pod IP range \"{pods}\" ({block}) of '{path}' is exhausted.")


def _same_pool(record: PoolRecord, pool: Json) -> bool:
    return record.pool.get("selfLink") is not None and record.pool["selfLink"] == pool.get("selfLink")
