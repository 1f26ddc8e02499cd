"""What a caller may do in a project, by the roles that the project's policy grants."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

import yaml

from rehearsal.google.cloud import Cloud
from rehearsal.google.policies import policy_of
from rehearsal.google.services.storage import permissions as storage

Json = dict[str, Any]


def granted(cloud: Cloud, member: str | None, project: str, wanted: list[str]) -> list[str]:
    """Those of the permissions that a member has in a project; the operator, None, has them all."""
    if member is None:
        return wanted
    bindings = policy_of(cloud, f"policy/projects/{project}").get("bindings", [])
    # Nobody evaluates conditions here; to grant what one restricts would hide a fault.
    roles = [each["role"] for each in bindings if member in each["members"] and "condition" not in each]
    return [permission for permission in wanted if any(_permits(cloud, role, permission) for role in roles)]


def _permits(cloud: Cloud, role: str, permission: str) -> bool:
    known = _roles().get(role, {})
    if any(fnmatchcase(permission, pattern) for pattern in known.get("not", [])):
        return False
    return any(fnmatchcase(permission, pattern) for pattern in known.get("may", [])) or (
        permission in storage.permissions_of(cloud, role)
    )


@cache
def _roles() -> dict[str, Json]:
    path = resources.files("rehearsal.google").joinpath("project_roles.yaml")
    found: dict[str, Json] = yaml.safe_load(path.read_text("utf-8"))
    return found
