"""Node pools as arguments of `gcloud container node-pools create`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import pulumi

from components.node_pools import HeadPool, TpuSlices
from pathways.plan import Plan

POOL, POLICY = "gcp:container/nodePool:NodePool", "gcp:compute/resourcePolicy:ResourcePolicy"
CLUSTER, NODES = "stack", "nodes@example-ml.iam.gserviceaccount.com"
# Short names that gcloud gives to sets of scopes.
_SCOPES = {"https://www.googleapis.com/auth/cloud-platform": "cloud-platform"}


class _Registered(pulumi.runtime.Mocks):
    """Remembers what a program registers, and answers as if it existed."""

    def __init__(self) -> None:
        self.inputs: dict[str, Mapping[str, Any]] = {}
        self.policies: list[str] = []

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ == POOL:
            self.inputs[args.name] = args.inputs
        elif args.typ == POLICY:
            self.policies.append(args.inputs["name"])
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        return {}


def declared(plan: Plan) -> dict[str, dict[str, Any]]:
    """The first TPU pool and the head pool as the components declare them."""
    mocks = _Registered()
    pulumi.runtime.set_mocks(mocks, project="stack", stack="stack")

    @pulumi.runtime.test
    def declare() -> None:
        HeadPool("head", plan, CLUSTER, NODES)
        TpuSlices("slices", plan, CLUSTER, NODES, None)

    declare()
    assert len(mocks.inputs) == plan.settings.slices.count + 1
    common = {"cluster": CLUSTER, "project": plan.settings.project, "location": plan.settings.region}
    return {
        "tpu": common | _arguments(mocks.inputs[plan.tpu_pools[0].name]),
        "head": common | _arguments(mocks.inputs[plan.head_pool.name]),
    }


def parsed(command: str) -> dict[str, Any]:
    """The arguments of a printed command; flags without a value are true."""
    words = shlex.split(command)
    assert words[:5] == ["gcloud", "beta", "container", "node-pools", "create"], command
    found: dict[str, Any] = {"name": words[5]}
    rest = iter(words[6:])
    for word in rest:
        flag, equals, value = word.removeprefix("--").partition("=")
        if flag == "max-pods-per-node" and not equals:
            equals, value = "=", next(rest)
        found[flag] = value if equals else "true"
    found["scopes"] = _scopes(found["scopes"].split(","))
    return found


def _arguments(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that ask gcloud for the same pool."""
    config, scaling, placement = inputs["nodeConfig"], inputs.get("autoscaling"), inputs.get("placementPolicy") or {}
    affinity = config.get("reservationAffinity") or {}
    specific = affinity.get("consumeReservationType") == "SPECIFIC_RESERVATION"
    repair = (inputs.get("management") or {}).get("autoRepair", True)
    found = {
        "name": inputs["name"],
        "node-locations": ",".join(inputs["nodeLocations"]),
        "machine-type": config["machineType"],
        "num-nodes": inputs.get("nodeCount", 0 if scaling else None),
        "max-pods-per-node": inputs["maxPodsPerNode"],
        "scopes": _scopes(config["oauthScopes"]),
        "service-account": config["serviceAccount"],
        "workload-metadata": config["workloadMetadataConfig"]["mode"],
        "placement-type": placement.get("type") or None,
        "tpu-topology": placement.get("tpuTopology"),
        "placement-policy": placement.get("policyName"),
        "spot": config.get("spot") or None,
        "flex-start": config.get("flexStart"),
        "max-run-duration": config.get("maxRunDuration"),
        "enable-gvnic": (config.get("gvnic") or {}).get("enabled"),
        "reservation-affinity": "specific" if specific else "none" if affinity else None,
        "reservation": affinity["values"][0] if specific else None,
        "no-enable-autorepair": None if repair else True,
    }
    if scaling:
        found |= {
            "enable-autoscaling": True,
            "min-nodes": scaling["minNodeCount"] or None,
            "max-nodes": scaling["maxNodeCount"],
            "location-policy": scaling["locationPolicy"],
        }
    return {key: _text(value) for key, value in found.items() if value is not None}


def _text(value: Any) -> str:
    # Numbers have been through Pulumi's protocol, which knows no integers.
    return "true" if value is True else f"{value:g}" if isinstance(value, float) else str(value)


def _scopes(scopes: list[str]) -> str:
    return ",".join(_SCOPES.get(scope, scope) for scope in scopes)
