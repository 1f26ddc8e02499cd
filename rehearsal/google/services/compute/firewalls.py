"""Firewall rules of VPC networks."""

from __future__ import annotations

from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.compute.resources import Collection
from rehearsal.google.services.compute.service import BASE, Scope, must_exist, reference

Json = dict[str, Any]

FILLED_IN: Json = {
    "direction": "INGRESS",
    "priority": 1000,
    "disabled": False,
    "logConfig": {"enable": False},
}
SOURCES = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
EXCLUSIVE = (
    ("sourceServiceAccounts", "sourceTags"),
    ("sourceServiceAccounts", "targetTags"),
    ("sourceTags", "targetServiceAccounts"),
    ("targetServiceAccounts", "targetTags"),
)


def _checked(cloud: Cloud, scope: Scope, rule: Json) -> Json:
    network = reference(cloud, scope.project, rule.get("network", "default"), "networks")
    must_exist(cloud, network, "resource.network")
    if bool(rule.get("allowed")) == bool(rule.get("denied")):
        raise invalid("Invalid value for field 'resource': a rule states either allowed or denied.", "invalid")
    if not 0 <= rule["priority"] <= 65535:
        raise invalid(f"Invalid value for field 'resource.priority': '{rule['priority']}'. 0 to 65535.", "invalid")
    for one, other in EXCLUSIVE:
        if rule.get(one) and rule.get(other):
            raise invalid(f"Invalid value for field 'resource': {one} and {other} exclude each other.", "invalid")
    if rule["direction"] == "EGRESS":
        stated = [name for name in SOURCES if rule.get(name)]
        if stated:
            raise invalid(
                f"Invalid value for field 'resource.{stated[0]}': an EGRESS rule has destinations.", "invalid"
            )
        return {"destinationRanges": ["0.0.0.0/0"], **rule, "network": BASE + network}
    if not any(rule.get(name) for name in SOURCES):
        rule = {**rule, "sourceRanges": ["0.0.0.0/0"]}
    return {**rule, "network": BASE + network}


def _insert(cloud: Cloud, scope: Scope, body: Json) -> Json:
    return _checked(cloud, scope, {**FILLED_IN, **body})


def _change(cloud: Cloud, scope: Scope, old: Json, new: Json) -> Json:
    if new["direction"] != old["direction"]:
        raise invalid("Invalid value for field 'resource.direction': it cannot be changed.", "invalid")
    return _checked(cloud, scope, new)


Collection("firewalls", "firewall", _insert, _change, ("patch", "update")).register()
