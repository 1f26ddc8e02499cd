"""Rules on the accounts of nodes and on roles.

Source: GKE hardening guide (least privilege for nodes), IAM basic roles.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import Severity

from pathways import inventory
from policies.resources import Resource, Unknown, entries
from policies.rule import Config, resource_rule

TITLE = "Accounts and roles"

_SCOPES = ("projects", "folder", "organizations")
GRANTS = tuple(f"gcp:{scope}/iAM{kind}:IAM{kind}" for scope in _SCOPES for kind in ("Member", "Binding"))
POLICIES = tuple(f"gcp:{scope}/iAMPolicy:IAMPolicy" for scope in _SCOPES)
BASIC_ROLES = ("roles/owner", "roles/editor")
DEFAULT_ACCOUNT = "-compute@developer.gserviceaccount.com"


@resource_rule(
    "node-service-account",
    inventory.NODE_POOL,
    inventory.CLUSTER,
    inventory.INSTANCE,
    fix="Name an account of its own, with roles/container.defaultNodeServiceAccount",
)
def node_service_account(resource: Resource, _: Config) -> Iterator[str]:
    """Nodes do not run as the default Compute Engine account, which others in the project use and which may be editor."""
    for what, account in _accounts(resource):
        if isinstance(account, Unknown):
            continue
        if account in (None, "", "default") or str(account).endswith(DEFAULT_ACCOUNT):
            yield f"{what} would run as the default Compute Engine account"


@resource_rule(
    "no-basic-roles",
    *GRANTS,
    *POLICIES,
    fix="Grant predefined roles for what is needed",
    severity=Severity.CRITICAL,
)
def no_basic_roles(grant: Resource, _: Config) -> Iterator[str]:
    """Nobody is made owner or editor."""
    for role in _roles(grant):
        if role in BASIC_ROLES:
            who = grant.at("member") or grant.at("members") or "its members"
            yield f"{role} is granted to {who if isinstance(who, str) else 'several members'}"


@resource_rule(
    "storage-roles-on-buckets",
    *GRANTS,
    fix="Grant the role on the bucket (gcp.storage.BucketIAMMember)",
)
def storage_roles(grant: Resource, _: Config) -> Iterator[str]:
    """Roles on storage are granted on a bucket, not on every bucket of a project."""
    role = grant.at("role")
    if isinstance(role, str) and role.startswith("roles/storage.") and "Viewer" not in role:
        yield f"{role} would hold for all buckets"


def _accounts(resource: Resource) -> Iterator[tuple[str, Any]]:
    """What runs as which account; None where none is named."""
    if resource.type == inventory.INSTANCE:
        account = resource.at("serviceAccount")
        # An instance without an account can do nothing at all.
        if account is not None:
            yield resource.title, resource.at("serviceAccount.email")
        return
    if resource.type == inventory.NODE_POOL:
        yield f"pool {resource.title}", resource.at("nodeConfig.serviceAccount")
        return
    provisioning = resource.at("clusterAutoscaling.autoProvisioningDefaults")
    if resource.at("clusterAutoscaling.enabled") is True or isinstance(provisioning, Mapping):
        yield "auto-provisioned pools", resource.at("clusterAutoscaling.autoProvisioningDefaults.serviceAccount")
    if resource.at("enableAutopilot") is True:
        return
    # Also a default pool that is removed again lives for a minute, with the account's rights.
    if resource.at("initialNodeCount"):
        yield "the default pool", resource.at("nodeConfig.serviceAccount")
    for pool in entries(resource.at("nodePools")):
        yield f"pool {pool.get('name')}", (pool.get("nodeConfig") or {}).get("serviceAccount")


def _roles(grant: Resource) -> list[str]:
    role = grant.at("role")
    if isinstance(role, str):
        return [role]
    document = grant.at("policyData")
    try:
        bindings = json.loads(document).get("bindings", []) if isinstance(document, str) else []
    except (ValueError, AttributeError):
        return []
    return [str(binding.get("role")) for binding in entries(bindings)]
