"""Reserved addresses, regional and global."""

from __future__ import annotations

import hashlib
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import condition_not_met, invalid
from rehearsal.google.services.compute.resources import Collection
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

EXTERNAL = IPv4Network("203.0.113.0/24")
"""Documentation addresses: nobody is reached by mistake."""


def _fingerprint(labels: Json) -> str:
    return hashlib.sha256(repr(sorted(labels.items())).encode()).hexdigest()[:11] + "="


def _free(cloud: Cloud, project: str, hosts: IPv4Network) -> str:
    stored = cloud.store.list(f"compute/projects/{project}/").items()
    taken = {item.get("address") for key, item in stored if "/addresses/" in key}
    for offset in range(2, hosts.num_addresses - 2):
        address = str(hosts.network_address + offset)
        if address not in taken:
            return address
    raise invalid(f"IP space of '{hosts}' is exhausted.", "ipSpaceExhausted")


def _insert(cloud: Cloud, scope: Scope, body: Json) -> Json:
    filled: Json = {
        "addressType": "EXTERNAL",
        "ipVersion": "IPV4",
        "status": "RESERVED",
        "labels": {},
        **body,
    }
    if filled["addressType"] == "INTERNAL" and scope.path != "global":
        name = body.get("subnetwork")
        if not name:
            raise invalid("Required field 'resource.subnetwork' not specified.", "required")
        path = reference(cloud, scope.project, name, "subnetworks", scope.location)
        hosts = IPv4Network(must_exist(cloud, path, "resource.subnetwork")["ipCidrRange"])
        filled |= {"subnetwork": BASE + path, "purpose": body.get("purpose", "GCE_ENDPOINT")}
        if "address" in body and IPv4Address(body["address"]) not in hosts:
            text = f"Invalid value for field 'resource.address': '{body['address']}'. It is not in {hosts}."
            raise invalid(text, "invalid")
    else:
        hosts = EXTERNAL
        filled.setdefault("networkTier", "PREMIUM")
    filled.setdefault("address", _free(cloud, scope.project.id, hosts))
    filled["labelFingerprint"] = _fingerprint(filled["labels"])
    return filled


Collection("addresses", "address", _insert, verbs=("aggregatedList",)).register()
Collection("globalAddresses", "address", _insert).register()


@SERVICE.handles("compute.addresses.setLabels", "compute.globalAddresses.setLabels")
def set_labels(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    path = scope.resource("addresses", call.path["resource"])
    address = load(cloud, path)
    if call.body.get("labelFingerprint") != address["labelFingerprint"]:
        raise condition_not_met("Labels fingerprint either invalid or resource labels have changed.")
    labels = call.body.get("labels", {})
    cloud.store.put(f"compute/{path}", {**address, "labels": labels, "labelFingerprint": _fingerprint(labels)})
    return operation(cloud, scope, "setLabels", address)
