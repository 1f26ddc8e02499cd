from __future__ import annotations

from typing import Any

import pytest

from rehearsal.provider.resources.base import Refused
from tests.unit.provider.fakes import FakeGoogle, error

MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
BUCKET = "gcp:storage/bucket:Bucket"
ROLE = "gcp:projects/iAMCustomRole:IAMCustomRole"
SERVICE = "gcp:projects/service:Service"
ACCOUNT = "gcp:serviceaccount/account:Account"
POLICY = "storage/storage/v1/b/scratch/iam"
GRANT = {"bucket": "scratch", "role": "roles/storage.admin", "member": "serviceAccount:a@p.iam.gserviceaccount.com"}


@pytest.fixture
def fake() -> FakeGoogle:
    return FakeGoogle()


def policy(*bindings: dict[str, Any], etag: str = "e1") -> dict[str, Any]:
    return {"etag": etag, "bindings": list(bindings)}


def test_a_grant_is_added_to_what_others_have_granted(fake: FakeGoogle) -> None:
    other = {"role": "roles/storage.admin", "members": ["user:b@example.com"]}
    granted = policy({**other, "members": [*other["members"], GRANT["member"]]}, etag="e2")
    fake.answer("GET", POLICY, policy(other), granted)
    fake.answer("PUT", POLICY, granted)
    identity, state = fake.kind(MEMBER).create(GRANT, 60)
    assert fake.sent("PUT", POLICY) == [{**granted, "etag": "e1"}]
    assert identity == f"b/scratch/roles/storage.admin/{GRANT['member']}"
    assert state == {**GRANT, "etag": "e2"}


def test_a_policy_that_changed_meanwhile_is_read_again(fake: FakeGoogle) -> None:
    granted = policy({"role": GRANT["role"], "members": [GRANT["member"]]}, etag="e2")
    fake.answer("GET", POLICY, policy(etag="e0"), policy(), granted)
    fake.answer("PUT", POLICY, (412, error(412, "conditionNotMet", "etag")), granted)
    fake.kind(MEMBER).create(GRANT, 60)
    assert [body["etag"] for body in fake.sent("PUT", POLICY)] == ["e0", "e1"]


def test_a_grant_is_found_and_revoked_without_regard_to_case(fake: FakeGoogle) -> None:
    binding = {"role": GRANT["role"], "members": [GRANT["member"].upper(), "user:b@example.com"]}
    fake.answer("GET", POLICY, policy(binding))
    fake.answer("PUT", POLICY, {})
    kind = fake.kind(MEMBER)
    assert kind.read("any id", GRANT, {}) is not None
    kind.delete("any id", GRANT, 60)
    assert fake.sent("PUT", POLICY) == [policy({**binding, "members": ["user:b@example.com"]})]


def test_a_revoked_grant_reads_as_nothing(fake: FakeGoogle) -> None:
    fake.answer("GET", POLICY, policy())
    assert fake.kind(MEMBER).read("any id", GRANT, GRANT) is None


def test_a_grant_is_imported_by_its_parts(fake: FakeGoogle) -> None:
    fake.answer("GET", POLICY, policy({"role": GRANT["role"], "members": [GRANT["member"]]}))
    found = fake.kind(MEMBER).read(f"b/scratch {GRANT['role']} {GRANT['member']}", {}, {})
    assert found is not None
    assert {name: found[1][name] for name in GRANT} == GRANT
    with pytest.raises(Refused, match="it is written b/{bucket} {role} {member}"):
        fake.kind(MEMBER).read("scratch", {}, {})


def test_a_condition_tells_grants_of_the_same_role_apart(fake: FakeGoogle) -> None:
    path = "cloudresourcemanager/v1/projects/p"
    plain = {"role": "roles/viewer", "members": ["user:a@example.com"]}
    condition = {"title": "until", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}
    bindings = [plain, {**plain, "condition": condition}]
    fake.answer("POST", f"{path}:getIamPolicy", policy(plain), policy(*bindings))
    fake.answer("POST", f"{path}:setIamPolicy", {})
    inputs = {"project": "p", "role": "roles/viewer", "member": "user:a@example.com", "condition": condition}
    identity, state = fake.kind(PROJECT_MEMBER).create(inputs, 60)
    [sent] = fake.sent("POST", f"{path}:setIamPolicy")
    assert sent["policy"]["bindings"] == bindings
    assert sent["policy"]["version"] == 3
    assert identity.endswith("/user:a@example.com/until")
    assert state["condition"] == condition


def test_a_bucket_is_made_in_the_project_with_its_configuration(fake: FakeGoogle) -> None:
    answer = {"name": "s", "location": "US-EAST5", "lifecycle": {"rule": [{"action": {"type": "Delete"}}]}}
    fake.answer("POST", "storage/storage/v1/b", {})
    fake.answer("GET", "storage/storage/v1/b/s", answer)
    rule = {"action": {"type": "Delete"}, "condition": {"age": 14, "matchesPrefixes": ["tmp/"], "withState": "LIVE"}}
    inputs = {"name": "s", "location": "us-east5", "uniformBucketLevelAccess": True, "lifecycleRules": [rule]}
    inputs["softDeletePolicy"] = {"retentionDurationSeconds": 0}
    identity, state = fake.kind(BUCKET).create(inputs, 60)
    [sent] = fake.sent("POST", "storage/storage/v1/b")
    condition = {"age": 14, "matchesPrefix": ["tmp/"], "isLive": True}
    assert sent["lifecycle"] == {"rule": [{"action": {"type": "Delete"}, "condition": condition}]}
    assert sent["iamConfiguration"] == {"uniformBucketLevelAccess": {"enabled": True}}
    assert sent["softDeletePolicy"] == {"retentionDurationSeconds": "0"}
    assert (identity, state["url"], state["location"]) == ("s", "gs://s", "US-EAST5")


def test_a_bucket_is_changed_by_its_changed_fields_only(fake: FakeGoogle) -> None:
    path = "storage/storage/v1/b/s"
    fake.answer("GET", path, {"name": "s", "location": "US"})
    fake.answer("PATCH", path, {})
    state = {"name": "s", "location": "US", "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 1}}]}
    inputs = {"name": "s", "location": "US", "requesterPays": True}
    fake.kind(BUCKET).update("s", state, inputs, [], 60)
    assert fake.sent("PATCH", path) == [{"lifecycle": None, "billing": {"requesterPays": True}}]


def test_a_bucket_is_emptied_before_deletion_only_by_force(fake: FakeGoogle) -> None:
    path = "storage/storage/v1/b/s"
    fake.answer("DELETE", path, {})
    fake.kind(BUCKET).delete("s", {"forceDestroy": False}, 60)
    assert not [p for _, p, _ in fake.requests if p.startswith(f"{path}/o")]
    fake.answer("GET", f"{path}/o", {"items": [{"name": "a", "generation": "1"}]}, {})
    fake.answer("DELETE", f"{path}/o/a", {})
    fake.kind(BUCKET).delete("s", {"forceDestroy": True}, 60)
    assert fake.sent("DELETE", f"{path}/o/a") == [None]


def test_a_deleted_role_comes_back_instead_of_being_made_again(fake: FakeGoogle) -> None:
    path = "iam/v1/projects/p/roles/r"
    role = {"name": "projects/p/roles/r", "title": "t", "includedPermissions": ["a"]}
    fake.answer("GET", path, {**role, "deleted": True}, role)
    fake.answer("POST", f"{path}:undelete", {})
    fake.answer("PATCH", path, {})
    _, state = fake.kind(ROLE).create({"roleId": "r", "title": "t", "permissions": ["a"], "stage": "GA"}, 60)
    assert state["permissions"] == ["a"]
    assert fake.sent("PATCH", path) == [{"title": "t", "includedPermissions": ["a"], "stage": "GA"}]


def test_a_role_deleted_by_somebody_else_reads_as_nothing(fake: FakeGoogle) -> None:
    fake.answer("GET", "iam/v1/projects/p/roles/r", {"name": "r", "deleted": True})
    assert fake.kind(ROLE).read("projects/p/roles/r", {}, {}) is None


def test_an_account_tells_its_address_and_member(fake: FakeGoogle) -> None:
    email = "nodes@p.iam.gserviceaccount.com"
    fake.answer("POST", "iam/v1/projects/p/serviceAccounts", {})
    fake.answer("GET", f"iam/v1/projects/p/serviceAccounts/{email}", {"email": email, "uniqueId": "1"})
    identity, state = fake.kind(ACCOUNT).create({"accountId": "nodes", "displayName": "Nodes"}, 60)
    assert identity == f"projects/p/serviceAccounts/{email}"
    assert state["member"] == f"serviceAccount:{email}"
    [sent] = fake.sent("POST", "iam/v1/projects/p/serviceAccounts")
    assert sent == {"accountId": "nodes", "serviceAccount": {"displayName": "Nodes"}}


def test_a_service_stays_enabled_unless_destroy_shall_disable_it(fake: FakeGoogle) -> None:
    path = "serviceusage/v1/projects/p/services/container.googleapis.com"
    fake.answer("POST", f"{path}:enable", {"done": True})
    fake.answer("POST", f"{path}:disable", {"done": True})
    fake.answer("GET", path, {"state": "ENABLED"})
    kind = fake.kind(SERVICE)
    identity, state = kind.create({"service": "container.googleapis.com"}, 60)
    assert identity == "p/container.googleapis.com"
    kind.delete(identity, state, 60)
    assert fake.sent("POST", f"{path}:disable") == []
    kind.delete(identity, {**state, "disableOnDestroy": True}, 60)
    assert fake.sent("POST", f"{path}:disable") == [{"disableDependentServices": False}]
