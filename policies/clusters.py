"""Rules on clusters and their nodes.

Source: GKE hardening guide; Cluster Director documentation (login nodes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pathways import inventory
from policies.resources import UNKNOWN, Resource, Unknown, entries
from policies.rule import Config, resource_rule

TITLE = "Clusters and nodes"

LEGACY = "disable-legacy-endpoints"


@resource_rule(
    "private-nodes",
    inventory.CLUSTER,
    inventory.NODE_POOL,
    inventory.CLUSTER_DIRECTOR,
    inventory.INSTANCE,
    fix="Set privateClusterConfig.enablePrivateNodes: true and give the network a NAT",
)
def private_nodes(resource: Resource, _: Config) -> Iterator[str]:
    """Nodes have no public address."""
    if resource.type == inventory.CLUSTER:
        stated = [
            resource.at("privateClusterConfig.enablePrivateNodes"),
            resource.at("networkConfig.defaultEnablePrivateNodes"),
        ]
        if True not in stated and UNKNOWN not in stated:
            yield f"the nodes of cluster {resource.title} would have public addresses"
    elif resource.type == inventory.NODE_POOL:
        if resource.at("networkConfig.enablePrivateNodes") is False:
            yield f"the nodes of pool {resource.title} would have public addresses"
    elif resource.type == inventory.CLUSTER_DIRECTOR:
        if resource.at("orchestrator.slurm.loginNodes.enablePublicIps") is True:
            yield f"the login nodes of {resource.at('clusterId')} would have public addresses"
    elif any("accessConfigs" in interface for interface in entries(resource.at("networkInterfaces"))):
        yield f"instance {resource.title} would have a public address"


@resource_rule(
    "cluster-deletion-protection",
    inventory.CLUSTER,
    inventory.CLUSTER_DIRECTOR,
    fix="Set deletionProtection: true (Cluster Director: deletionPolicy: PREVENT), or the resource option protect",
    level="advisory",
)
def deletion_protection(cluster: Resource, _: Config) -> Iterator[str]:
    """A cluster cannot be deleted by a change of the program alone. For production."""
    if cluster.protected:
        return
    if cluster.type == inventory.CLUSTER and cluster.at("deletionProtection") is False:
        yield f"cluster {cluster.title} has deletion protection off"
    kept = cluster.at("deletionPolicy") in ("PREVENT", "ABANDON", UNKNOWN)
    if cluster.type == inventory.CLUSTER_DIRECTOR and not kept:
        yield f"cluster {cluster.at('clusterId')} may be deleted"


@resource_rule(
    "workload-identity",
    inventory.CLUSTER,
    fix="Set workloadIdentityConfig.workloadPool: PROJECT.svc.id.goog",
)
def workload_identity(cluster: Resource, _: Config) -> Iterator[str]:
    """Pods act as accounts of their own, through workload identity."""
    # Autopilot clusters have it always.
    if cluster.at("enableAutopilot") is not True and not cluster.at("workloadIdentityConfig.workloadPool"):
        yield f"cluster {cluster.title} has no workload pool"


def _with_legacy_off(resource: Resource, _: Config) -> Mapping[str, Any] | None:
    config = resource.properties.get("nodeConfig")
    if resource.type != inventory.NODE_POOL or not isinstance(config, Mapping):
        return None
    metadata = config.get("metadata")
    if not isinstance(metadata, Mapping) or metadata.get(LEGACY) == "true":
        return None
    # Nothing that is unknown or secret is in the way: such a pool is left to the validation.
    if _has_unknown(config):
        return None
    return {"nodeConfig": {**config, "metadata": {**metadata, LEGACY: "true"}}}


@resource_rule(
    "legacy-endpoints",
    inventory.NODE_POOL,
    inventory.CLUSTER,
    fix=f'Set nodeConfig.metadata["{LEGACY}"]: "true"; leave metadata out altogether, and GKE sets it',
    remedy=_with_legacy_off,
)
def legacy_endpoints(resource: Resource, _: Config) -> Iterator[str]:
    """Nodes do not serve the metadata of old, which hands out credentials to anyone who can make a node fetch an address."""
    metadata = resource.at("nodeConfig.metadata")
    if isinstance(metadata, Mapping) and metadata.get(LEGACY) not in ("true", UNKNOWN):
        yield f"{resource.title} states metadata without {LEGACY}"


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_unknown, value.values()))
    if isinstance(value, list):
        return any(map(_has_unknown, value))
    return isinstance(value, Unknown)
