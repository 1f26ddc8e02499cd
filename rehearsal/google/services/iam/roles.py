"""Custom roles of projects. Deleting one marks it; its id stays taken until it is undeleted."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import already_exists, conflict, failed_precondition, invalid, not_found
from rehearsal.google.services.cloudresourcemanager import STALE
from rehearsal.google.services.iam.service import SERVICE, project_of_call

Json = dict[str, Any]

ROLE_ID = re.compile(r"[a-zA-Z0-9_.]{3,64}")
PERMISSION = re.compile(r"[a-z][\w-]*(\.[\w-]+){2,}")
SETTABLE = ("title", "description", "includedPermissions", "stage")
PREFIX = "iam.projects.roles."


def _find(cloud: Cloud, call: Call) -> tuple[str, Json]:
    name = f"projects/{project_of_call(cloud, call).id}/roles/{call.path['rolesId']}"
    stored = cloud.store.get(f"iam/{name}")
    if stored is None:
        raise not_found(f"The role named {name} was not found.")
    return f"iam/{name}", stored


def _save(cloud: Cloud, key: str, role: Json) -> Json:
    for permission in role.get("includedPermissions", []):
        if not PERMISSION.fullmatch(permission):
            raise invalid(f"Permission {permission} is not valid.")
    content = {name: value for name, value in role.items() if value not in ("", None, []) and name != "etag"}
    if "includedPermissions" in content:
        content["includedPermissions"] = sorted(set(content["includedPermissions"]))
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
    content["etag"] = base64.b64encode(digest[:8]).decode()
    cloud.store.put(key, content)
    return content


@SERVICE.handles(PREFIX + "create")
def create(cloud: Cloud, call: Call) -> Json:
    project = project_of_call(cloud, call)
    id = call.body.get("roleId", "")
    if not ROLE_ID.fullmatch(id):
        raise invalid(f"The role_id ({id}) must have 3 to 64 characters of the set [a-zA-Z0-9_.].")
    name = f"projects/{project.id}/roles/{id}"
    existing = cloud.store.get(f"iam/{name}")
    if existing and existing.get("deleted"):
        raise failed_precondition(
            f"You can't create a role with role_id ({id}) where there is an existing role with that "
            "role_id in a "
            "deleted state."
        )
    if existing:
        raise already_exists(f"A role named {id} in projects/{project.id} already exists.")
    given = call.body.get("role", {})
    return _save(
        cloud,
        f"iam/{name}",
        {"name": name, "stage": "ALPHA", **{k: given[k] for k in SETTABLE if k in given}},
    )


@SERVICE.handles(PREFIX + "get")
def get(cloud: Cloud, call: Call) -> Json:
    return _find(cloud, call)[1]


@SERVICE.handles(PREFIX + "list")
def list_roles(cloud: Cloud, call: Call) -> Json:
    roles = cloud.store.list(f"iam/projects/{project_of_call(cloud, call).id}/roles/").values()
    shown = [role for role in roles if call.flag("showDeleted") or not role.get("deleted")]
    full = call.query.get("view") == "FULL"
    return {"roles": [{k: v for k, v in role.items() if full or k != "includedPermissions"} for role in shown]}


@SERVICE.handles(PREFIX + "patch")
def patch(cloud: Cloud, call: Call) -> Json:
    key, role = _find(cloud, call)
    if call.body.get("etag") not in (None, role["etag"]):
        raise conflict(STALE)
    if role.get("deleted"):
        raise failed_precondition(f"You can't update role_id ({call.path['rolesId']}) because it's deleted.")
    mask = call.query.get("updateMask", "").replace("included_permissions", "includedPermissions")
    names = [name for name in mask.split(",") if name] or [name for name in SETTABLE if name in call.body]
    return _save(cloud, key, {**role, **{name: call.body.get(name) for name in names if name in SETTABLE}})


@SERVICE.handles(PREFIX + "delete")
def delete(cloud: Cloud, call: Call) -> Json:
    key, role = _find(cloud, call)
    return _save(cloud, key, {**role, "deleted": True})


@SERVICE.handles(PREFIX + "undelete")
def undelete(cloud: Cloud, call: Call) -> Json:
    key, role = _find(cloud, call)
    if not role.get("deleted"):
        raise failed_precondition(f"You can't undelete role_id ({call.path['rolesId']}) because it isn't deleted.")
    return _save(cloud, key, {**role, "deleted": None})
