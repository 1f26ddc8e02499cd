"""Service accounts, custom roles and policies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.google.running import PROJECT, Double

ACCOUNTS = f"/iam/v1/projects/{PROJECT}/serviceAccounts"
ROLES = f"/iam/v1/projects/{PROJECT}/roles"
CRM = f"/cloudresourcemanager/v1/projects/{PROJECT}"
EMAIL = f"node-sa@{PROJECT}.iam.gserviceaccount.com"
ROLE = {"title": "Scratch", "includedPermissions": ["storage.buckets.get", "storage.objects.get"], "stage": "GA"}


def account(double: Double) -> dict[str, Any]:
    return double.call("POST", ACCOUNTS, {"accountId": "node-sa", "serviceAccount": {"displayName": "Nodes"}})


def grant(double: Double, role: str, member: str, expect: int = 200, **binding: Any) -> dict[str, Any]:
    policy = double.call("POST", f"{CRM}:getIamPolicy", {})
    bindings = [*policy["bindings"], {"role": role, "members": [member], **binding}]
    changed = {"bindings": bindings, "etag": policy["etag"], "version": 3}
    return double.call("POST", f"{CRM}:setIamPolicy", {"policy": changed}, expect)


def test_a_service_account_has_its_email_and_number(double: Double) -> None:
    made = account(double)
    assert (made["email"], made["displayName"]) == (EMAIL, "Nodes")
    assert double.call("GET", f"{ACCOUNTS}/{made['uniqueId']}") == made
    assert double.call("GET", f"/iam/v1/projects/-/serviceAccounts/{EMAIL}") == made
    assert "already exists" in double.refused("POST", ACCOUNTS, {"accountId": "node-sa"}, 409)
    assert 'Invalid account ID "sa"' in double.refused("POST", ACCOUNTS, {"accountId": "sa"})


def test_a_service_account_is_changed_disabled_and_deleted(double: Double) -> None:
    account(double)
    body = {"serviceAccount": {"displayName": "TPU nodes"}, "updateMask": "displayName"}
    assert double.call("PATCH", f"{ACCOUNTS}/{EMAIL}", body)["displayName"] == "TPU nodes"
    double.call("POST", f"{ACCOUNTS}/{EMAIL}:disable", {})
    assert double.call("GET", f"{ACCOUNTS}/{EMAIL}")["disabled"] is True
    double.call("DELETE", f"{ACCOUNTS}/{EMAIL}")
    assert double.call("GET", ACCOUNTS) == {"accounts": []}


def test_a_deleted_role_keeps_its_id_until_it_is_undeleted(double: Double) -> None:
    double.call("POST", ROLES, {"roleId": "scratch", "role": ROLE})
    assert double.call("DELETE", f"{ROLES}/scratch")["deleted"] is True
    assert "in a deleted state" in double.refused("POST", ROLES, {"roleId": "scratch", "role": ROLE})
    assert double.call("GET", ROLES) == {"roles": []}
    assert "deleted" not in double.call("POST", f"{ROLES}/scratch:undelete", {})
    changed = double.call("PATCH", f"{ROLES}/scratch?updateMask=title", {"title": "Bucket"})
    assert (changed["title"], changed["includedPermissions"]) == ("Bucket", ROLE["includedPermissions"])


def test_a_permission_has_the_form_of_one(double: Double) -> None:
    role = {**ROLE, "includedPermissions": ["read everything"]}
    assert "is not valid" in double.refused("POST", ROLES, {"roleId": "scratch", "role": role})


def test_a_policy_is_replaced_only_by_who_has_read_it(double: Double) -> None:
    account(double)
    policy = double.call("POST", f"{CRM}:getIamPolicy", {})
    grant(double, "roles/logging.logWriter", f"serviceAccount:{EMAIL}")
    stale = {"policy": {"bindings": [], "etag": policy["etag"]}}
    assert "concurrent policy changes" in double.refused("POST", f"{CRM}:setIamPolicy", stale, 409)


def test_bindings_of_one_role_are_one(double: Double) -> None:
    grant(double, "roles/viewer", "user:b@example.com")
    bindings = grant(double, "roles/viewer", "user:a@example.com")["bindings"]
    assert {"role": "roles/viewer", "members": ["user:a@example.com", "user:b@example.com"]} in bindings


@pytest.mark.parametrize(
    ("role", "member", "message"),
    [
        ("roles/viewer", f"serviceAccount:{EMAIL}", f"Service account {EMAIL} does not exist."),
        ("roles/viewer", "somebody", "Invalid principal: somebody."),
        ("viewer", "user:a@example.com", "Role name must be in the format"),
        (f"projects/{PROJECT}/roles/none", "user:a@example.com", "does not exist in the resource's hierarchy"),
        ("roles/viewer", f"serviceAccount:{PROJECT}.svc.id.goog[ml/job]", "Identity Pool does not exist"),
        (
            "roles/viewer",
            f"principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/{PROJECT}.svc.id.goog"
            "/subject/ns/ml/sa/job",
            "Identity Pool does not exist",
        ),
    ],
)
def test_a_grant_that_iam_refuses_is_refused(double: Double, role: str, member: str, message: str) -> None:
    assert message in grant(double, role, member, 400)["error"]["message"]


def test_the_identity_pool_exists_from_the_first_cluster_that_uses_it(double: Double) -> None:
    double.cluster(workloadIdentityConfig={"workloadPool": f"{PROJECT}.svc.id.goog"})
    account(double)
    member = f"serviceAccount:{PROJECT}.svc.id.goog[ml/job]"
    policy = {"bindings": [{"role": "roles/iam.workloadIdentityUser", "members": [member]}]}
    found = double.call("POST", f"{ACCOUNTS}/{EMAIL}:setIamPolicy", {"policy": policy})
    assert found["bindings"][0]["members"] == [member]


def test_a_condition_makes_a_binding_of_its_own(double: Double) -> None:
    condition = {"title": "scratch only", "expression": "resource.name.startsWith('projects/_/buckets/scratch')"}
    policy = grant(double, "roles/owner", "user:a@example.com", condition=condition)
    assert policy["version"] == 3
    assert [b.get("condition") for b in policy["bindings"] if b["role"] == "roles/owner"].count(condition) == 1
