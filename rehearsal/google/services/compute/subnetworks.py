"""Subnetworks with their secondary ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, ip_network
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.compute.resources import Collection, refuse_in_use
from rehearsal.google.services.compute.service import (
    BASE,
    SERVICE,
    Scope,
    load,
    must_exist,
    operation,
    reference,
    scope_of,
)

Json = dict[str, Any]

FILLED_IN: Json = {
    "purpose": "PRIVATE",
    "stackType": "IPV4_ONLY",
    "privateIpGoogleAccess": False,
    "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
    "allowSubnetCidrRoutesOverlap": False,
    "enableFlowLogs": False,
}
FLOW_LOGS: Json = {
    "aggregationInterval": "INTERVAL_5_SEC",
    "flowSampling": 0.5,
    "metadata": "INCLUDE_ALL_METADATA",
}
RANGE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
AUTO_MODE = IPv4Network("10.128.0.0/9")


def auto_ranges(regions: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The subnetworks of an auto mode network: a /20 in each region."""
    return ((region, str(cidr)) for region, cidr in zip(regions, AUTO_MODE.subnets(new_prefix=20), strict=False))


def cidr_of(text: str, field: str) -> IPv4Network:
    """A range without host bits. Raises GoogleError naming the field."""
    try:
        network = ip_network(text)
    except ValueError as error:
        raise invalid(
            f"Invalid value for field '{field}': '{text}'. Must be a CIDR address range: {error}.", "invalid"
        ) from error
    if not isinstance(network, IPv4Network) or network.prefixlen > 29:
        raise invalid(
            f"Invalid value for field '{field}': '{text}'. Must be an IPv4 range of /29 or larger.", "invalid"
        )
    return network


def ranges_of(subnet: Json) -> dict[str, IPv4Network]:
    """The primary range under "" and the secondary ranges by name."""
    secondary = {r["rangeName"]: IPv4Network(r["ipCidrRange"]) for r in subnet.get("secondaryIpRanges", [])}
    return {"": IPv4Network(subnet["ipCidrRange"]), **secondary}


def ranges_in_network(cloud: Cloud, network: str, project: str) -> list[tuple[Json, IPv4Network]]:
    """Every range of every subnetwork in a network (by relative name)."""
    stored = cloud.store.list(f"compute/projects/{project}/regions/").items()
    subnets = [item for key, item in stored if "/subnetworks/" in key and item["network"] == BASE + network]
    return [(subnet, cidr) for subnet in subnets for cidr in ranges_of(subnet).values()]


def _checked(cloud: Cloud, scope: Scope, subnet: Json) -> Json:
    """The subnetwork with full links. Raises GoogleError where a range is malformed or taken."""
    network = reference(cloud, scope.project, subnet["network"], "networks")
    must_exist(cloud, network, "resource.network")
    own: list[IPv4Network] = [cidr_of(subnet["ipCidrRange"], "resource.ipCidrRange")]
    names: set[str] = set()
    for index, secondary in enumerate(subnet.get("secondaryIpRanges", [])):
        field = f"resource.secondaryIpRanges[{index}]"
        name = secondary.get("rangeName", "")
        if not RANGE_NAME.fullmatch(name) or name in names:
            raise invalid(f"Invalid value for field '{field}.rangeName': '{name}'. Names are unique labels.", "invalid")
        names.add(name)
        own.append(cidr_of(secondary.get("ipCidrRange", ""), f"{field}.ipCidrRange"))
    me = BASE + scope.resource("subnetworks", subnet["name"])
    taken = [
        (other["name"], cidr)
        for other, cidr in ranges_in_network(cloud, network, scope.project.id)
        if other["selfLink"] != me
    ]
    for index, cidr in enumerate(own):
        for name, other in [*taken, *((subnet["name"], earlier) for earlier in own[:index])]:
            if cidr.overlaps(other):
                raise invalid(
                    f"Invalid IPCidrRange: {cidr} conflicts with existing subnetwork '{name}' in region "
                    f"'{scope.location}'.",
                    "invalid",
                )
    gateway = str(own[0].network_address + 1)
    return {**subnet, "network": BASE + network, "gatewayAddress": gateway}


def _insert(cloud: Cloud, scope: Scope, body: Json) -> Json:
    logs = {"enable": False} if "logConfig" not in body else {**FLOW_LOGS, **body["logConfig"]}
    enabled = bool(logs.get("enable") or body.get("enableFlowLogs"))
    if enabled:
        logs = {**FLOW_LOGS, **logs, "enable": True}
    return _checked(cloud, scope, {**FILLED_IN, **body, "logConfig": logs, "enableFlowLogs": enabled})


def _change(cloud: Cloud, scope: Scope, old: Json, new: Json) -> Json:
    for field in ("ipCidrRange", "network", "region"):
        if field == "network":
            new["network"] = BASE + reference(cloud, scope.project, new["network"], "networks")
        if new.get(field) != old.get(field):
            text = f"Invalid value for field 'resource.{field}': '{new.get(field)}'. It is not patchable."
            raise invalid(text, "invalid")
    gone = ranges_of(old).keys() - ranges_of(new).keys()
    path = scope.resource("subnetworks", old["name"])
    for key, cluster in cloud.store.list(f"container/projects/{scope.project.id}/").items():
        policy = cluster.get("ipAllocationPolicy", {})
        named = {policy.get("clusterSecondaryRangeName"), policy.get("servicesSecondaryRangeName")}
        if gone & named and cluster.get("networkConfig", {}).get("subnetwork") == path:
            refuse_in_use("subnetwork", path, [key.removeprefix("container/")])
    new["enableFlowLogs"] = bool(new.get("logConfig", {}).get("enable"))
    return _checked(cloud, scope, new)


SUBNETWORKS = Collection("subnetworks", "subnetwork", _insert, _change, ("patch", "aggregatedList"), fingerprint=True)
SUBNETWORKS.register()


def replace_ranges(cloud: Cloud, path: str, secondary: list[Json]) -> None:
    """Set the secondary ranges of a subnetwork, as GKE does for a cluster that names none."""
    SUBNETWORKS.save(cloud, path, {**load(cloud, path), "secondaryIpRanges": secondary})


@SERVICE.handles("compute.subnetworks.expandIpCidrRange")
def expand_ip_cidr_range(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    path = scope.resource("subnetworks", call.path["subnetwork"])
    subnet = load(cloud, path)
    wider = cidr_of(call.body.get("ipCidrRange", ""), "ipCidrRange")
    if not ranges_of(subnet)[""].subnet_of(wider):
        raise invalid(
            f"Invalid value for field 'ipCidrRange': '{wider}'. It must contain {subnet['ipCidrRange']}.",
            "invalid",
        )
    SUBNETWORKS.save(cloud, path, _checked(cloud, scope, {**subnet, "ipCidrRange": str(wider)}))
    return operation(cloud, scope, "expandIpCidrRange", subnet)


@SERVICE.handles("compute.subnetworks.setPrivateIpGoogleAccess")
def set_private_ip_google_access(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    path = scope.resource("subnetworks", call.path["subnetwork"])
    subnet = load(cloud, path)
    value = call.body.get("privateIpGoogleAccess", False)
    SUBNETWORKS.save(cloud, path, {**subnet, "privateIpGoogleAccess": value})
    return operation(cloud, scope, "setPrivateIpGoogleAccess", subnet)
