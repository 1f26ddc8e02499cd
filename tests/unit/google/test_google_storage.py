"""Buckets, their policies, and objects enough to empty them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from rehearsal.google.identity import token
from tests.unit.google.running import PROJECT, Double

BUCKETS = f"/storage/storage/v1/b?project={PROJECT}"
BUCKET = "/storage/storage/v1/b/scratch"
RULE = {"action": {"type": "Delete"}, "condition": {"age": 14}}


def create(double: Double, **settings: Any) -> dict[str, Any]:
    return double.call("POST", BUCKETS, {"name": "scratch", "location": "us-east5", **settings})


def test_a_bucket_keeps_exactly_what_it_was_given(double: Double) -> None:
    given = {
        "iamConfiguration": {
            "uniformBucketLevelAccess": {"enabled": True},
            "publicAccessPrevention": "enforced",
        },
        "lifecycle": {"rule": [RULE]},
        "softDeletePolicy": {"retentionDurationSeconds": "0"},
        "hierarchicalNamespace": {"enabled": True},
        "labels": {"env": "dev"},
    }
    create(double, **given)
    found = double.call("GET", BUCKET)
    assert (found["location"], found["locationType"]) == ("US-EAST5", "region")
    assert found["lifecycle"] == given["lifecycle"]
    assert found["softDeletePolicy"]["retentionDurationSeconds"] == "0"
    assert found["hierarchicalNamespace"] == {"enabled": True}
    assert found["labels"] == {"env": "dev"}
    assert found["iamConfiguration"]["uniformBucketLevelAccess"] == {"enabled": True}
    assert found["iamConfiguration"]["publicAccessPrevention"] == "enforced"


def test_what_is_left_out_is_filled_in(double: Double) -> None:
    found = create(double)
    assert found["storageClass"] == "STANDARD"
    assert found["softDeletePolicy"]["retentionDurationSeconds"] == "604800"
    assert found["iamConfiguration"]["publicAccessPrevention"] == "inherited"
    assert found["metageneration"] == "1"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "Scratch"}, "Invalid bucket name: 'Scratch'"),
        ({"location": "us-east9"}, "The specified location constraint is not valid."),
        ({"hierarchicalNamespace": {"enabled": True}}, "requires uniform bucket-level access"),
        ({"lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": {}}]}}, "at least one condition"),
        ({"lifecycle": {"rule": [{"action": {"type": "Drop"}, "condition": {"age": 1}}]}}, "lifecycle action 'Drop'"),
        ({"softDeletePolicy": {"retentionDurationSeconds": "60"}}, "0 or between 7 and 90 days"),
        ({"lifecycel": {}}, 'Unknown name "lifecycel"'),
        ({"etag": "x"}, "output only"),
        ({"storageClass": "FAST"}, "storageClass 'FAST'"),
    ],
)
def test_a_bucket_that_storage_refuses_is_refused(double: Double, settings: Any, message: str) -> None:
    body = {"name": "scratch", "location": "us-east5", **settings}
    assert message in double.refused("POST", BUCKETS, body)


def test_bucket_names_are_shared_by_all_projects(double: Double) -> None:
    create(double)
    mine = double.refused("POST", BUCKETS, {"name": "scratch"}, 409)
    assert "you already own it" in mine
    theirs = double.refused("POST", BUCKETS.replace(PROJECT, "another-ml"), {"name": "scratch"}, 409)
    assert "The requested bucket name is not available" in theirs


def test_a_patch_changes_what_it_names_and_null_removes(double: Double) -> None:
    create(double, labels={"a": "1", "b": "2"}, lifecycle={"rule": [RULE]})
    double.call("PATCH", BUCKET, {"labels": {"a": None, "c": "3"}, "lifecycle": None})
    found = double.call("GET", BUCKET)
    assert found["labels"] == {"b": "2", "c": "3"}
    assert "lifecycle" not in found
    assert found["metageneration"] == "2"
    assert "cannot be changed" in double.refused("PATCH", BUCKET, {"location": "us-east4"})


def test_a_condition_on_the_metageneration_must_hold(double: Double) -> None:
    create(double)
    double.refused("PATCH", f"{BUCKET}?ifMetagenerationMatch=7", {"labels": {}}, 412)
    double.call("PATCH", f"{BUCKET}?ifMetagenerationMatch=1", {"labels": {}})


def test_a_bucket_with_objects_stays_until_it_is_emptied(double: Double) -> None:
    create(double)
    upload = "/storage/upload/storage/v1/b/scratch/o?uploadType=media&name=pathways/tmp/0"
    assert double.http.post(upload, content=b"state").json()["size"] == "5"
    assert double.refused("DELETE", BUCKET, expect=409) == "The bucket you tried to delete is not empty."
    assert double.http.get(f"{BUCKET}/o/pathways%2Ftmp%2F0?alt=media").content == b"state"
    names = [item["name"] for item in double.call("GET", f"{BUCKET}/o")["items"]]
    assert names == ["pathways/tmp/0"]
    assert double.call("GET", f"{BUCKET}/o?delimiter=/")["prefixes"] == ["pathways/"]
    double.call("DELETE", f"{BUCKET}/o/pathways%2Ftmp%2F0", expect=204)
    double.call("DELETE", BUCKET, expect=204)
    assert double.refused("GET", BUCKET, expect=404) == "The specified bucket does not exist."


def test_a_policy_is_replaced_only_by_who_has_read_it(double: Double) -> None:
    create(double)
    policy = double.call("GET", f"{BUCKET}/iam")
    assert f"projectOwner:{PROJECT}" in policy["bindings"][0]["members"]
    grant = {"role": "roles/storage.objectUser", "members": ["user:a@example.com"]}
    changed = {"etag": policy["etag"], "bindings": [*policy["bindings"], grant]}
    assert grant in double.call("PUT", f"{BUCKET}/iam", changed)["bindings"]
    double.refused("PUT", f"{BUCKET}/iam", changed, 412)


def test_nobody_is_public_where_that_is_prevented(double: Double) -> None:
    create(double, iamConfiguration={"publicAccessPrevention": "enforced"})
    policy = {"bindings": [{"role": "roles/storage.objectViewer", "members": ["allUsers"]}]}
    assert "public access prevention is enforced" in double.refused("PUT", f"{BUCKET}/iam", policy, 412)


def as_member(double: Double, verb: str, path: str, member: str, body: Any = None) -> httpx.Response:
    return double.http.request(verb, path, json=body, headers={"Authorization": f"Bearer {token(member)}"})


@pytest.mark.parametrize(
    ("role", "held"),
    [
        ("roles/storage.objectUser", ["storage.objects.create"]),
        ("roles/storage.legacyBucketReader", ["storage.buckets.get"]),
        ("roles/storage.admin", ["storage.buckets.get", "storage.buckets.update", "storage.objects.create"]),
    ],
)
def test_a_member_has_the_permissions_of_its_roles(double: Double, role: str, held: list[str]) -> None:
    create(double)
    double.call("PUT", f"{BUCKET}/iam", {"bindings": [{"role": role, "members": ["user:a@example.com"]}]})
    asked = ["storage.buckets.get", "storage.buckets.update", "storage.objects.create"]
    query = "&".join(f"permissions={each}" for each in asked)
    answer = as_member(double, "GET", f"{BUCKET}/iam/testPermissions?{query}", "user:a@example.com")
    assert answer.json()["permissions"] == held
    nobody = as_member(double, "GET", f"{BUCKET}/iam/testPermissions?{query}", "user:b@example.com")
    assert nobody.json()["permissions"] == []
    assert double.call("GET", f"{BUCKET}/iam/testPermissions?{query}")["permissions"] == asked


def test_a_role_on_the_project_reaches_its_buckets(double: Double) -> None:
    create(double)
    policy = {"bindings": [{"role": "roles/storage.admin", "members": ["user:a@example.com"]}]}
    double.call("POST", f"/cloudresourcemanager/v1/projects/{PROJECT}:setIamPolicy", {"policy": policy})
    assert as_member(double, "GET", BUCKET, "user:a@example.com").status_code == 200


def test_a_member_without_the_permission_cannot_change_a_bucket(double: Double) -> None:
    create(double)
    refused = as_member(double, "PATCH", BUCKET, "user:a@example.com", {"labels": {"a": "b"}})
    assert refused.status_code == 403
    assert "does not have storage.buckets.update access" in refused.json()["error"]["message"]
