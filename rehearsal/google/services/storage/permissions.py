"""What the caller of a request may do with a bucket, by its policy and its project's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import yaml

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import denied
from rehearsal.google.policies import policy_of

Json = dict[str, Any]

_EVERYONE = ("allUsers", "allAuthenticatedUsers")


def bucket_policy(cloud: Cloud, bucket: Json) -> Json:
    """The bucket's own policy."""
    return policy_of(cloud, f"policy/b/{bucket['name']}", default_bindings(cloud, bucket))


def default_bindings(cloud: Cloud, bucket: Json) -> list[Json]:
    """What a new bucket grants to the basic roles of its project."""
    project = cloud.projects.get(bucket["projectNumber"]).id
    return [
        {
            "role": "roles/storage.legacyBucketOwner",
            "members": [f"projectEditor:{project}", f"projectOwner:{project}"],
        },
        {"role": "roles/storage.legacyBucketReader", "members": [f"projectViewer:{project}"]},
    ]


def granted(cloud: Cloud, call: Call, bucket: Json, wanted: list[str]) -> list[str]:
    """Those of the permissions that the caller has; the operator has them all."""
    if call.member is None:
        return wanted
    held = set(_held(cloud, call.member, bucket))
    return [permission for permission in wanted if permission in held]


def require(cloud: Cloud, call: Call, bucket: Json, permission: str) -> None:
    """Raises the 403 of a caller without the permission."""
    if not granted(cloud, call, bucket, [permission]):
        who = str(call.member).partition(":")[2]
        raise denied(
            f"{who} does not have {permission} access to the Google Cloud Storage bucket. "
            f"Permission '{permission}' denied on resource (or it may not exist)."
        )


def _held(cloud: Cloud, member: str, bucket: Json) -> Iterator[str]:
    project = cloud.projects.get(bucket["projectNumber"]).id
    on_project = policy_of(cloud, f"policy/projects/{project}").get("bindings", [])
    members = {member, *_EVERYONE}
    basic = {"roles/owner": "projectOwner", "roles/editor": "projectEditor", "roles/viewer": "projectViewer"}
    for binding in on_project:
        if binding["role"] in basic and members & set(binding["members"]):
            members.add(f"{basic[binding['role']]}:{project}")
    for binding in [*on_project, *bucket_policy(cloud, bucket).get("bindings", [])]:
        # Nobody evaluates conditions here; to grant what one restricts would hide a fault.
        if members & set(binding["members"]) and "condition" not in binding:
            yield from permissions_of(cloud, binding["role"])


def permissions_of(cloud: Cloud, role: str) -> list[str]:
    """What a custom role, or a predefined one of Cloud Storage, permits."""
    custom = cloud.store.get(f"iam/{role}")
    if custom is not None:
        return [] if custom.get("deleted") else list(custom.get("includedPermissions", []))
    return [f"storage.{each}" for each in _roles().get(role, [])]


@cache
def _roles() -> dict[str, list[str]]:
    path = resources.files("rehearsal.google.services.storage").joinpath("roles.yaml")
    found: dict[str, list[str]] = yaml.safe_load(path.read_text("utf-8"))
    return found
