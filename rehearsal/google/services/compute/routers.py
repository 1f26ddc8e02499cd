"""Cloud routers with their NAT gateways."""

from __future__ import annotations

from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.compute.resources import Collection
from rehearsal.google.services.compute.service import BASE, Scope, must_exist, reference

Json = dict[str, Any]

NAT_FILLED_IN: Json = {
    "type": "PUBLIC",
    "autoNetworkTier": "PREMIUM",
    "endpointTypes": ["ENDPOINT_TYPE_VM"],
    "enableEndpointIndependentMapping": False,
    "enableDynamicPortAllocation": False,
}
PRIVATE_ASNS = (range(64512, 65535), range(4200000000, 4294967295), (16550,))


def _checked(cloud: Cloud, scope: Scope, router: Json) -> Json:
    if "network" not in router:
        raise invalid("Required field 'resource.network' not specified.", "required")
    network = reference(cloud, scope.project, router["network"], "networks")
    must_exist(cloud, network, "resource.network")
    checked = {**router, "network": BASE + network}
    asn = router.get("bgp", {}).get("asn")
    if asn is not None and not any(asn in allowed for allowed in PRIVATE_ASNS):
        raise invalid(
            f"Invalid value for field 'resource.bgp.asn': '{asn}'. Must be a private ASN or 16550.", "invalid"
        )
    if "bgp" in router:
        checked["bgp"] = {"advertiseMode": "DEFAULT", "keepaliveInterval": 20, **router["bgp"]}
    if router.get("nats"):
        checked["nats"] = [_nat(cloud, scope, nat, index) for index, nat in enumerate(router["nats"])]
        names = [nat["name"] for nat in checked["nats"]]
        if len(set(names)) != len(names):
            raise invalid(
                f"Invalid value for field 'resource.nats': names must be unique: {', '.join(names)}.",
                "invalid",
            )
    else:
        checked.pop("nats", None)
    return checked


def _nat(cloud: Cloud, scope: Scope, nat: Json, index: int) -> Json:
    field = f"resource.nats[{index}]"
    for required in ("name", "sourceSubnetworkIpRangesToNat"):
        if not nat.get(required):
            raise invalid(f"Required field '{field}.{required}' not specified.", "required")
    option = nat.get("natIpAllocateOption")
    if nat.get("type", "PUBLIC") == "PUBLIC" and option is None:
        raise invalid(f"Required field '{field}.natIpAllocateOption' not specified.", "required")
    if (option == "MANUAL_ONLY") != bool(nat.get("natIps")) and nat.get("type", "PUBLIC") == "PUBLIC":
        raise invalid(
            f"Invalid value for field '{field}.natIps': addresses go with MANUAL_ONLY and with nothing else.",
            "invalid",
        )
    listed = nat.get("subnetworks", [])
    if (nat["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS") != bool(listed):
        raise invalid(
            f"Invalid value for field '{field}.subnetworks': a list goes with LIST_OF_SUBNETWORKS only.",
            "invalid",
        )
    subnets = []
    for subnet in listed:
        path = reference(cloud, scope.project, subnet.get("name", ""), "subnetworks", scope.location)
        must_exist(cloud, path, f"{field}.subnetworks.name")
        subnets.append({**subnet, "name": BASE + path})
    filled = {**NAT_FILLED_IN, **nat}
    if subnets:
        filled["subnetworks"] = subnets
    for address in nat.get("natIps", []):
        must_exist(cloud, reference(cloud, scope.project, address, "addresses", scope.location), f"{field}.natIps")
    return filled


def _insert(cloud: Cloud, scope: Scope, body: Json) -> Json:
    return _checked(cloud, scope, {"encryptedInterconnectRouter": False, **body})


def _change(cloud: Cloud, scope: Scope, old: Json, new: Json) -> Json:
    checked = _checked(cloud, scope, new)
    if checked["network"] != old["network"]:
        raise invalid(
            "Invalid value for field 'resource.network': the network of a router cannot be changed.",
            "invalid",
        )
    return checked


Collection("routers", "router", _insert, _change, ("patch", "update", "aggregatedList")).register()
