"""Service accounts and their IAM policies."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, fresh_number
from rehearsal.google.errors import already_exists, conflict, invalid, not_found
from rehearsal.google.policies import policy_of, set_policy
from rehearsal.google.services.cloudresourcemanager import STALE
from rehearsal.google.services.iam.service import SERVICE, project_of, project_of_call

Json = dict[str, Any]

ACCOUNT_ID = re.compile(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])")
PREFIX = "iam.projects.serviceAccounts."


def _find(cloud: Cloud, call: Call) -> tuple[str, Json]:
    """The store key and the account of a request; the project may be "-", the account its unique id."""
    account = call.path["serviceAccountsId"]
    owner = call.path["projectsId"]
    if owner == "-":
        match = re.fullmatch(r"[^@]+@([^.]+)\.iam\.gserviceaccount\.com", account)
        if match is None:
            raise not_found(f"Unknown service account: {account}")
        owner = match[1]
    prefix = f"iam/projects/{project_of(cloud, owner).id}/serviceAccounts/"
    for key, stored in cloud.store.list(prefix).items():
        if account in (stored["email"], stored["uniqueId"]):
            return key, stored
    raise not_found(f"Unknown service account: projects/{call.path['projectsId']}/serviceAccounts/{account}")


def _save(cloud: Cloud, key: str, account: Json) -> Json:
    content = {name: value for name, value in account.items() if value not in ("", False) and name != "etag"}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
    content["etag"] = base64.b64encode(digest[:8]).decode()
    cloud.store.put(key, content)
    return content


@SERVICE.handles(PREFIX + "create")
def create(cloud: Cloud, call: Call) -> Json:
    project = project_of_call(cloud, call)
    id = call.body.get("accountId", "")
    if not ACCOUNT_ID.fullmatch(id):
        raise invalid(
            f'Invalid account ID "{id}": it has 6 to 30 characters, lowercase letters, digits and '
            "hyphens, and starts "
            "with a letter."
        )
    email = f"{id}@{project.id}.iam.gserviceaccount.com"
    key = f"iam/projects/{project.id}/serviceAccounts/{email}"
    if cloud.store.get(key):
        raise already_exists(f"Service account {id} already exists within project projects/{project.id}.")
    given = call.body.get("serviceAccount", {})
    _check_description(given)
    number = fresh_number()
    account = {
        "name": f"projects/{project.id}/serviceAccounts/{email}",
        "projectId": project.id,
        "uniqueId": number,
        "email": email,
        "displayName": given.get("displayName", ""),
        "description": given.get("description", ""),
        "oauth2ClientId": number,
    }
    return _save(cloud, key, account)


def _check_description(account: Json) -> None:
    if len(account.get("displayName") or "") > 100:
        raise invalid("The display name of a service account has at most 100 UTF-8 bytes.")
    if len(account.get("description") or "") > 256:
        raise invalid("The description of a service account has at most 256 UTF-8 bytes.")


@SERVICE.handles(PREFIX + "get")
def get(cloud: Cloud, call: Call) -> Json:
    return _find(cloud, call)[1]


@SERVICE.handles(PREFIX + "list")
def list_accounts(cloud: Cloud, call: Call) -> Json:
    prefix = f"iam/projects/{project_of_call(cloud, call).id}/serviceAccounts/"
    return {"accounts": list(cloud.store.list(prefix).values())}


@SERVICE.handles(PREFIX + "patch")
def patch(cloud: Cloud, call: Call) -> Json:
    key, account = _find(cloud, call)
    given = call.body.get("serviceAccount", {})
    mask = call.body.get("updateMask", "").replace("display_name", "displayName").split(",")
    _check_description(given)
    for name in mask:
        if name not in ("displayName", "description"):
            raise invalid(f"The update mask may name displayName and description, not {name!r}.")
        account[name] = given.get(name) or ""
    return _save(cloud, key, account)


@SERVICE.handles(PREFIX + "update")
def update(cloud: Cloud, call: Call) -> Json:
    key, account = _find(cloud, call)
    _check_description(call.body)
    changed: Json = {name: call.body[name] for name in ("displayName", "description") if name in call.body}
    return _save(cloud, key, {**account, **changed})


@SERVICE.handles(PREFIX + "enable", PREFIX + "disable")
def switch(cloud: Cloud, call: Call) -> Json:
    key, account = _find(cloud, call)
    _save(cloud, key, {**account, "disabled": call.method.id.endswith("disable")})
    return {}


@SERVICE.handles(PREFIX + "delete")
def delete(cloud: Cloud, call: Call) -> Json:
    key, account = _find(cloud, call)
    cloud.store.delete(key)
    cloud.store.delete(f"policy/{account['name']}")
    return {}


@SERVICE.handles(PREFIX + "getIamPolicy")
def get_iam_policy(cloud: Cloud, call: Call) -> Json:
    return policy_of(cloud, f"policy/{_find(cloud, call)[1]['name']}")


@SERVICE.handles(PREFIX + "setIamPolicy")
def set_iam_policy(cloud: Cloud, call: Call) -> Json:
    name = _find(cloud, call)[1]["name"]
    mask = call.body.get("updateMask", "")
    return set_policy(cloud, f"policy/{name}", call.body.get("policy", {}), conflict(STALE), update_mask=mask)


@SERVICE.handles(PREFIX + "testIamPermissions")
def test_iam_permissions(cloud: Cloud, call: Call) -> Json:
    """The caller of a rehearsal has every permission."""
    _find(cloud, call)
    return {"permissions": call.body.get("permissions", [])}
