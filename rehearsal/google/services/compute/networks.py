"""VPC networks."""

from __future__ import annotations

from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.compute.resources import Collection
from rehearsal.google.services.compute.service import BASE, SERVICE, Scope, load, operation, scope_of
from rehearsal.google.services.compute.subnetworks import SUBNETWORKS, auto_ranges

Json = dict[str, Any]

FILLED_IN: Json = {
    "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
    "mtu": 1460,
}
ROUTING: Json = {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"}


def _insert(cloud: Cloud, scope: Scope, body: Json) -> Json:
    if "autoCreateSubnetworks" not in body:
        raise invalid(
            "Invalid value for field 'resource.autoCreateSubnetworks': ''. Legacy networks can no "
            "longer be created: "
            "state true (auto mode) or false (custom mode).",
            "invalid",
        )
    if not 1300 <= body.get("mtu", 1460) <= 8896:
        raise invalid(f"Invalid value for field 'resource.mtu': '{body['mtu']}'. It must be 1300 to 8896.", "invalid")
    link = {"selfLinkWithId": BASE + scope.resource("networks", body["name"])}
    return {**link, **FILLED_IN, **body, "routingConfig": {**ROUTING, **body.get("routingConfig", {})}}


def _after_insert(cloud: Cloud, scope: Scope, network: Json) -> None:
    """An auto mode network has a subnetwork in every region."""
    for region, cidr in auto_ranges(places.zones()) if network["autoCreateSubnetworks"] else ():
        subnet = {"name": network["name"], "network": network["selfLink"], "ipCidrRange": cidr}
        SUBNETWORKS.create(cloud, Scope(scope.project, f"regions/{region}"), subnet)


def _change(cloud: Cloud, scope: Scope, old: Json, new: Json) -> Json:
    for field in ("autoCreateSubnetworks", "description"):
        if new.get(field) != old.get(field):
            text = f"Invalid value for field 'resource.{field}': '{new.get(field)}'. It cannot be changed."
            raise invalid(text, "invalid")
    return new


def _present(cloud: Cloud, network: Json) -> Json:
    """A network with the subnetworks in it."""
    path = network["selfLink"].removeprefix(BASE)
    project = path.split("/")[1]
    stored = cloud.store.list(f"compute/projects/{project}/regions/").items()
    subnets = [item["selfLink"] for key, item in stored if "/subnetworks/" in key and item["network"] == BASE + path]
    return {**network, "subnetworks": subnets} if subnets else network


NETWORKS = Collection("networks", "network", _insert, _change, ("patch",), present=_present, after_insert=_after_insert)
NETWORKS.register()


@SERVICE.handles("compute.networks.switchToCustomMode")
def switch_to_custom_mode(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    path = scope.resource("networks", call.path["network"])
    network = load(cloud, path)
    NETWORKS.save(cloud, path, {**network, "autoCreateSubnetworks": False})
    return operation(cloud, scope, "switchToCustomMode", network)
