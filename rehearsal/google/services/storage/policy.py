"""IAM policies of buckets."""

from __future__ import annotations

from typing import Any

from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import condition_not_met
from rehearsal.google.policies import set_policy
from rehearsal.google.services.storage.permissions import bucket_policy, default_bindings, granted
from rehearsal.google.services.storage.service import SERVICE, find_bucket

Json = dict[str, Any]

PUBLIC = {"allUsers", "allAuthenticatedUsers"}


def _answer(bucket: Json, policy: Json) -> Json:
    return {"kind": "storage#policy", "resourceId": f"projects/_/buckets/{bucket['name']}", **policy}


@SERVICE.handles("storage.buckets.getIamPolicy")
def get_iam_policy(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    return _answer(bucket, bucket_policy(cloud, bucket))


@SERVICE.handles("storage.buckets.setIamPolicy")
def set_iam_policy(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    members = {member for binding in call.body.get("bindings", []) for member in binding.get("members", [])}
    if members & PUBLIC and bucket["iamConfiguration"]["publicAccessPrevention"] == "enforced":
        raise condition_not_met(
            "The member bindings allUsers and allAuthenticatedUsers are not allowed since public "
            "access prevention is "
            "enforced."
        )
    stale = condition_not_met("At least one of the pre-conditions you specified did not hold.")
    key = f"policy/b/{bucket['name']}"
    return _answer(bucket, set_policy(cloud, key, call.body, stale, default_bindings(cloud, bucket)))


@SERVICE.handles("storage.buckets.testIamPermissions")
def test_iam_permissions(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    permissions = granted(cloud, call, bucket, list(call.lists["permissions"]))
    return {"kind": "storage#testIamPermissionsResponse", "permissions": permissions}
