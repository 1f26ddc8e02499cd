"""IAM policies: reading, writing with an etag, and what may stand in them."""

from __future__ import annotations

import base64
import re
from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import GoogleError, invalid

Json = dict[str, Any]

MEMBER = re.compile(
    r"allUsers|allAuthenticatedUsers"
    r"|(user|group|serviceAccount|domain|projectOwner|projectEditor|projectViewer|principal|principalSet):.+"
    r"|deleted:(user|group|serviceAccount):.+"
)
PREDEFINED_ROLE = re.compile(r"roles/[a-zA-Z][\w.]*")
CUSTOM_ROLE = re.compile(r"(projects|organizations)/[^/]+/roles/[\w.]+")
USER_ACCOUNT = re.compile(r"(?P<id>[^@]+)@(?P<project>[^.@]+)\.iam\.gserviceaccount\.com")
POOL_MEMBER = re.compile(r"serviceAccount:(?P<pool>[^\[]+\.svc\.id\.goog)\[[^/\]]+/[^\]]+\]")
POOL_PRINCIPAL = re.compile(
    r"principal(Set)?://iam\.googleapis\.com/projects/\d+/locations/global/workloadIdentityPools/(?P<pool>[^/]+)/.+"
)


def policy_of(cloud: Cloud, key: str, default: list[Json] | None = None) -> Json:
    """The policy under a key as the API answers it; `default` are the bindings nobody has changed yet."""
    stored = cloud.store.get(key) or {"revision": 0, "bindings": default or []}
    conditional = any("condition" in binding for binding in stored["bindings"])
    policy: Json = {"version": 3 if conditional else 1, "etag": _etag(stored["revision"])}
    for name in ("bindings", "auditConfigs"):
        if stored.get(name):
            policy[name] = stored[name]
    return policy


def set_policy(
    cloud: Cloud,
    key: str,
    policy: Json,
    stale: GoogleError,
    default: list[Json] | None = None,
    update_mask: str = "",
) -> Json:
    """Replace a policy and answer the new one. Raises `stale` when the etag is not the current one."""
    current = policy_of(cloud, key, default)
    if policy.get("etag") and policy["etag"] != current["etag"]:
        raise stale
    bindings = policy.get("bindings", [])
    if any("condition" in binding for binding in bindings) and policy.get("version") != 3:
        raise invalid("A policy with conditional role bindings must have version 3.")
    for binding in bindings:
        _check_role(cloud, binding.get("role", ""))
        for member in binding.get("members", []):
            _check_member(cloud, member)
    audit = policy.get("auditConfigs")
    if update_mask and "auditConfigs" not in update_mask:
        audit = current.get("auditConfigs")
    revision = (cloud.store.get(key) or {"revision": 0})["revision"] + 1
    cloud.store.put(key, {"revision": revision, "bindings": _tidy(bindings), "auditConfigs": audit})
    return policy_of(cloud, key)


def _etag(revision: int) -> str:
    return base64.b64encode(b"\x07" + revision.to_bytes(8, "big")).decode()


def _tidy(bindings: list[Json]) -> list[Json]:
    """One binding per role and condition, members sorted and once each, as Google stores them."""
    merged: dict[tuple[str, str], Json] = {}
    for binding in bindings:
        key = (binding["role"], str(binding.get("condition")))
        entry = merged.setdefault(key, {**binding, "members": []})
        entry["members"] = sorted({*entry["members"], *binding.get("members", [])})
    return [merged[key] for key in sorted(merged) if merged[key]["members"]]


def _check_role(cloud: Cloud, role: str) -> None:
    if PREDEFINED_ROLE.fullmatch(role):
        return
    if not CUSTOM_ROLE.fullmatch(role):
        raise invalid(f'Role name must be in the format "roles/ROLE" or "projects/PROJECT/roles/ROLE", not "{role}".')
    stored = cloud.store.get(f"iam/{role}")
    if role.startswith("projects/") and (stored is None or stored.get("deleted")):
        raise invalid(f"Role ({role}) does not exist in the resource's hierarchy.")


def _check_member(cloud: Cloud, member: str) -> None:
    if not MEMBER.fullmatch(member):
        raise invalid(f"Invalid principal: {member}. It must be of the form TYPE:NAME, such as serviceAccount:EMAIL.")
    pool = POOL_MEMBER.fullmatch(member) or POOL_PRINCIPAL.fullmatch(member)
    if pool:
        name = pool["pool"]
        project = cloud.store.get(f"project/{name.removesuffix('.svc.id.goog')}")
        if name.endswith(".svc.id.goog") and not (project and project["workload_pool"]):
            raise invalid(
                f"Identity Pool does not exist ({name}). Please check that you specified a valid "
                "resource name as "
                "returned in the `name` attribute in the configuration API."
            )
        return
    account = USER_ACCOUNT.fullmatch(member.removeprefix("serviceAccount:"))
    if member.startswith("serviceAccount:") and account and not service_account_exists(cloud, account[0]):
        raise invalid(f"Service account {account[0]} does not exist.")


def service_account_exists(cloud: Cloud, email: str) -> bool:
    """Whether an account exists; Google's own accounts do, and so do those of projects never seen here."""
    account = USER_ACCOUNT.fullmatch(email)
    if account is None or cloud.store.get(f"project/{account['project']}") is None:
        return True
    return cloud.store.get(f"iam/projects/{account['project']}/serviceAccounts/{email}") is not None
