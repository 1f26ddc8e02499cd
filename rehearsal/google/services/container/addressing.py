"""Where a cluster lies in a network: the subnetwork and the ranges of its pods and services."""

from __future__ import annotations

import hashlib
from ipaddress import IPv4Network
from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid, unimplemented
from rehearsal.google.services.compute.service import reference
from rehearsal.google.services.compute.subnetworks import (
    cidr_of,
    ranges_in_network,
    ranges_of,
    replace_ranges,
)
from rehearsal.google.services.container.records import ClusterRecord
from rehearsal.google.services.container.service import Place

Json = dict[str, Any]

MANAGED_SERVICES = "34.118.224.0/20"
"""Services of a cluster that states no range: Google's own, used by every such cluster."""
POD_PREFIX = 14
SERVICE_PREFIX = 20


def place_cluster(cloud: Cloud, place: Place, record: ClusterRecord) -> None:
    """Resolve a new cluster's network, subnetwork and ranges, and make the ranges that it does not name.

    Raises GoogleError where one of them does not exist.
    """
    cluster = record.cluster
    policy: Json = cluster.setdefault("ipAllocationPolicy", {})
    if policy.get("useRoutes") or (policy and policy.get("useIpAliases") is False):
        raise unimplemented("Routes-based clusters are not rehearsed. Set ipAllocationPolicy.useIpAliases to true.")
    network = _network(cloud, place, cluster.get("network") or "default")
    path, subnet = _subnetwork(cloud, place, network, cluster.get("subnetwork", ""))
    cluster["network"], cluster["subnetwork"] = network.rsplit("/", 1)[-1], path.rsplit("/", 1)[-1]
    cluster.setdefault("networkConfig", {}).update({"network": network, "subnetwork": path})

    pods = _range(policy, "cluster", "Pod", subnet, cluster)
    services = _range(policy, "services", "Services", subnet, cluster)
    if policy.get("clusterSecondaryRangeName") and pods == services:
        raise invalid("Pod secondary range and services secondary range must be different.")
    made: list[Json] = []
    taken = [cidr for _, cidr in ranges_in_network(cloud, network, place.project.id)]
    digest = hashlib.sha256(record.name.encode()).hexdigest()[:8]
    if pods is None:
        block = (
            policy.get("clusterIpv4CidrBlock") or policy.get("clusterIpv4Cidr") or cluster.get("clusterIpv4Cidr", "")
        )
        pods = _allocate(block, POD_PREFIX, taken)
        policy["clusterSecondaryRangeName"] = f"gke-{cluster['name']}-pods-{digest}"
        made.append({"rangeName": policy["clusterSecondaryRangeName"], "ipCidrRange": str(pods)})
    if services is None:
        block = policy.get("servicesIpv4CidrBlock") or policy.get("servicesIpv4Cidr", "")
        if block:
            services = _allocate(block, SERVICE_PREFIX, [*taken, pods])
            policy["servicesSecondaryRangeName"] = f"gke-{cluster['name']}-services-{digest}"
            made.append({"rangeName": policy["servicesSecondaryRangeName"], "ipCidrRange": str(services)})
        else:
            services = IPv4Network(MANAGED_SERVICES)
    if made:
        replace_ranges(cloud, path, [*subnet.get("secondaryIpRanges", []), *made])
        record.made_ranges = [entry["rangeName"] for entry in made]
    policy |= {
        "useIpAliases": True,
        "clusterIpv4Cidr": str(pods),
        "clusterIpv4CidrBlock": str(pods),
        "servicesIpv4Cidr": str(services),
        "servicesIpv4CidrBlock": str(services),
    }
    policy.setdefault("stackType", "IPV4")
    policy.setdefault("podCidrOverprovisionConfig", {})
    cluster |= {"clusterIpv4Cidr": str(pods), "servicesIpv4Cidr": str(services)}


def remove_made_ranges(cloud: Cloud, record: ClusterRecord) -> None:
    """Give back the secondary ranges that were made for a cluster."""
    path = record.cluster["networkConfig"]["subnetwork"]
    subnet = cloud.store.get(f"compute/{path}")
    if subnet and record.made_ranges:
        kept = [r for r in subnet.get("secondaryIpRanges", []) if r["rangeName"] not in record.made_ranges]
        replace_ranges(cloud, path, kept)


def _network(cloud: Cloud, place: Place, text: str) -> str:
    path = reference(cloud, place.project, text, "networks")
    if cloud.store.get(f"compute/{path}") is None:
        parts = path.split("/")
        raise invalid(f'Project "{parts[1]}" has no network named "{parts[-1]}".')
    return path


def _subnetwork(cloud: Cloud, place: Place, network: str, text: str) -> tuple[str, Json]:
    if not text:
        auto = cloud.store.get(f"compute/{network}") or {}
        if not auto.get("autoCreateSubnetworks"):
            name = network.rsplit("/", 1)[-1]
            raise invalid(f'Network "{name}" is in custom subnet mode: a subnetwork must be specified.')
        text = network.rsplit("/", 1)[-1]
    path = reference(cloud, place.project, text, "subnetworks", place.region)
    parts = path.split("/")
    if parts[3] != place.region:
        raise invalid(f'Subnetwork "{path}" is in region "{parts[3]}", the cluster in region "{place.region}".')
    subnet = cloud.store.get(f"compute/{path}")
    if subnet is None:
        raise invalid(f'Subnetwork "{parts[-1]}" does not exist in region "{place.region}".')
    if not subnet["network"].endswith("/" + network):
        raise invalid(f'Subnetwork "{parts[-1]}" is not in network "{network.rsplit("/", 1)[-1]}".')
    return path, subnet


def _range(policy: Json, which: str, title: str, subnet: Json, cluster: Json) -> IPv4Network | None:
    """The secondary range that the cluster names, None where it names none."""
    name = policy.get(f"{which}SecondaryRangeName")
    if not name:
        return None
    if policy.get(f"{which}Ipv4CidrBlock") or policy.get(f"{which}Ipv4Cidr"):
        raise invalid(f"{title} range: state either a secondary range name or a CIDR block, not both.")
    ranges = ranges_of(subnet)
    if name not in ranges:
        raise invalid(
            f'{title} secondary range "{name}" does not exist in network "{cluster["network"]}", '
            f'subnetwork "{cluster["subnetwork"]}".'
        )
    return ranges[name]


def _allocate(block: str, prefix: int, taken: list[IPv4Network]) -> IPv4Network:
    """The range of a CIDR block, of a size such as /17, or of the default size."""
    if block and not block.startswith("/"):
        wanted = cidr_of(block, "ipAllocationPolicy")
        for other in taken:
            if wanted.overlaps(other):
                raise invalid(f"Requested CIDR {wanted} overlaps with {other}, which is in use in the network.")
        return wanted
    size = int(block.removeprefix("/")) if block else prefix
    for candidate in IPv4Network("10.0.0.0/8").subnets(new_prefix=size):
        if not any(candidate.overlaps(other) for other in taken):
            return candidate
    raise invalid(f"No free range of /{size} is left in the network.")
