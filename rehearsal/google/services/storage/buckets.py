"""Buckets."""

from __future__ import annotations

import base64
import re
from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.documents import get_path, merge
from rehearsal.google.errors import GoogleError, condition_not_met, invalid
from rehearsal.google.projects import Project
from rehearsal.google.services.storage.permissions import require
from rehearsal.google.services.storage.service import BASE, SERVICE, check_conditions, find_bucket

Json = dict[str, Any]

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
STORAGE_CLASSES = (
    "STANDARD",
    "NEARLINE",
    "COLDLINE",
    "ARCHIVE",
    "MULTI_REGIONAL",
    "REGIONAL",
    "DURABLE_REDUCED_AVAILABILITY",
)
LIFECYCLE_ACTIONS = ("Delete", "SetStorageClass", "AbortIncompleteMultipartUpload")
SOFT_DELETE_DEFAULT = 7 * 24 * 3600
SOFT_DELETE_MAXIMUM = 90 * 24 * 3600
PREFIXES_PER_BUCKET = 50


def _bad(message: str) -> GoogleError:
    return invalid(message, "invalid")


@SERVICE.handles("storage.buckets.insert")
def insert(cloud: Cloud, call: Call) -> Json:
    project = cloud.projects.get(call.query["project"])
    cloud.projects.require_service(project, "storage.googleapis.com", "Cloud Storage JSON API")
    return create(cloud, project, call.body)


def create(cloud: Cloud, project: Project, body: Json) -> Json:
    """A new bucket, stored. Raises GoogleError where its name is taken or its settings do not fit."""
    name = body.get("name", "")
    _check_name(name)
    existing = cloud.store.get(f"storage/b/{name}")
    if existing is not None:
        if existing["projectNumber"] == project.number:
            text = "Your previous request to create the named bucket succeeded and you already own it."
        else:
            text = (
                "The requested bucket name is not available. The bucket namespace is shared by all "
                "users of the "
                "system. Please select a different name and try again."
            )
        raise GoogleError(409, "ALREADY_EXISTS", "conflict", text)
    location = body.get("location", "US").upper()
    kind = "dual-region" if body.get("customPlacementConfig") else places.bucket_location_type(location)
    if kind is None:
        raise _bad("The specified location constraint is not valid.")
    time = now()
    bucket = {
        "kind": "storage#bucket",
        "id": name,
        "name": name,
        "selfLink": f"{BASE}b/{name}",
        "projectNumber": project.number,
        "timeCreated": time,
        "generation": str(int(re.sub(r"\D", "", time))),
        "metageneration": "0",
        "storageClass": "STANDARD",
        **body,
        "location": location,
        "locationType": kind,
    }
    if kind != "region":
        bucket.setdefault("rpo", "DEFAULT")
    return _save(cloud, bucket)


def _check_name(name: str) -> None:
    parts_fit = all(0 < len(part) <= 63 for part in name.split("."))
    if (
        not NAME.fullmatch(name)
        or not parts_fit
        or ADDRESS.fullmatch(name)
        or name.startswith("goog")
        or "google" in name
    ):
        raise _bad(f"Invalid bucket name: '{name}'")


def _save(cloud: Cloud, bucket: Json) -> Json:
    """Check a bucket, fill in what is left out, and store it as its next metageneration."""
    iam: Json = bucket.setdefault("iamConfiguration", {})
    uniform = get_path(iam, "uniformBucketLevelAccess.enabled", get_path(iam, "bucketPolicyOnly.enabled", False))
    for field in ("uniformBucketLevelAccess", "bucketPolicyOnly"):
        iam[field] = {"enabled": uniform}
    iam.setdefault("publicAccessPrevention", "inherited")
    if iam["publicAccessPrevention"] not in ("inherited", "enforced"):
        raise _bad(f"Invalid argument: publicAccessPrevention '{iam['publicAccessPrevention']}'.")
    if bucket["storageClass"] not in STORAGE_CLASSES:
        raise _bad(f"Invalid argument: storageClass '{bucket['storageClass']}'.")
    hierarchical = get_path(bucket, "hierarchicalNamespace.enabled")
    if hierarchical and not uniform:
        raise _bad("Hierarchical namespace requires uniform bucket-level access to be enabled.")
    if hierarchical and get_path(bucket, "versioning.enabled"):
        raise _bad("Object versioning is not supported for buckets with hierarchical namespace.")
    _check_soft_delete(bucket)
    _check_lifecycle(bucket)
    if not bucket.get("labels"):
        bucket.pop("labels", None)
    bucket["updated"] = now()
    bucket["metageneration"] = str(int(bucket["metageneration"]) + 1)
    bucket["etag"] = base64.b64encode(b"\x08" + bytes([int(bucket["metageneration"]) % 256])).decode()
    cloud.store.put(f"storage/b/{bucket['name']}", bucket)
    return bucket


def _check_soft_delete(bucket: Json) -> None:
    policy: Json = bucket.setdefault("softDeletePolicy", {})
    policy.setdefault("retentionDurationSeconds", str(SOFT_DELETE_DEFAULT))
    seconds = int(policy["retentionDurationSeconds"])
    if seconds != 0 and not SOFT_DELETE_DEFAULT <= seconds <= SOFT_DELETE_MAXIMUM:
        raise _bad(f"Soft delete retention of {seconds} s: it is 0 or between 7 and 90 days.")
    policy.setdefault("effectiveTime", bucket["timeCreated"])


def _check_lifecycle(bucket: Json) -> None:
    rules = get_path(bucket, "lifecycle.rule", [])
    prefixes = 0
    for rule in rules:
        action, condition = rule.get("action", {}), rule.get("condition", {})
        if action.get("type") not in LIFECYCLE_ACTIONS:
            raise _bad(f"Invalid lifecycle action '{action.get('type', '')}': one of {', '.join(LIFECYCLE_ACTIONS)}.")
        if (action["type"] == "SetStorageClass") != ("storageClass" in action):
            raise _bad("A lifecycle action states a storage class if and only if it is SetStorageClass.")
        if not condition:
            raise _bad("A lifecycle rule requires at least one condition.")
        prefixes += len(condition.get("matchesPrefix", [])) + len(condition.get("matchesSuffix", []))
    if prefixes > PREFIXES_PER_BUCKET:
        raise _bad(f"The lifecycle rules of a bucket have at most {PREFIXES_PER_BUCKET} prefixes and suffixes.")
    if len(rules) > 100:
        raise _bad("A bucket has at most 100 lifecycle rules.")
    if not rules:
        bucket.pop("lifecycle", None)


def _present(bucket: Json, call: Call) -> Json:
    """A bucket, with access control lists only for projection=full and never with uniform access."""
    uniform = bucket["iamConfiguration"]["uniformBucketLevelAccess"]["enabled"]
    if call.query.get("projection") == "full" and not uniform:
        return bucket
    return {name: value for name, value in bucket.items() if name not in ("acl", "defaultObjectAcl")}


@SERVICE.handles("storage.buckets.get")
def get(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    require(cloud, call, bucket, "storage.buckets.get")
    check_conditions(call, bucket)
    return _present(bucket, call)


@SERVICE.handles("storage.buckets.list")
def list_buckets(cloud: Cloud, call: Call) -> Json:
    number = cloud.projects.get(call.query["project"]).number
    prefix = call.query.get("prefix", "")
    found = [b for b in cloud.store.list(f"storage/b/{prefix}").values() if b["projectNumber"] == number]
    return {"kind": "storage#buckets", "items": [_present(bucket, call) for bucket in found]}


@SERVICE.handles("storage.buckets.patch", "storage.buckets.update")
def patch(cloud: Cloud, call: Call) -> Json:
    old = find_bucket(cloud, call)
    require(cloud, call, old, "storage.buckets.update")
    check_conditions(call, old)
    new = merge(old, call.body)
    if call.method.http == "PUT":
        kept = {name: old[name] for name in SERVICE.server_set["Bucket"] | {"kind", "name"} if name in old}
        new = {"location": old["location"], "storageClass": old["storageClass"], **call.body, **kept}
    for path in ("name", "customPlacementConfig", "hierarchicalNamespace"):
        if path in call.body and new.get(path) != old.get(path):
            raise _bad(f"The {path} of a bucket cannot be changed.")
    if new.get("location", "").upper() != old["location"]:
        raise _bad("The location of a bucket cannot be changed.")
    if get_path(old, "retentionPolicy.isLocked") and new.get("retentionPolicy") != old["retentionPolicy"]:
        raise GoogleError(403, "PERMISSION_DENIED", "forbidden", "The retention policy of the bucket is locked.")
    uniform = get_path(call.body, "iamConfiguration.uniformBucketLevelAccess.enabled")
    if uniform is not None:
        new["iamConfiguration"].pop("bucketPolicyOnly", None)
    if get_path(call.body, "softDeletePolicy.retentionDurationSeconds") is not None:
        new["softDeletePolicy"] = {
            "retentionDurationSeconds": call.body["softDeletePolicy"]["retentionDurationSeconds"]
        }
        new["softDeletePolicy"]["effectiveTime"] = now()
    new["location"] = old["location"]
    return _present(_save(cloud, new), call)


@SERVICE.handles("storage.buckets.delete")
def delete(cloud: Cloud, call: Call) -> None:
    bucket = find_bucket(cloud, call)
    check_conditions(call, bucket)
    if cloud.store.list(f"storage/o/{bucket['name']}/"):
        raise GoogleError(409, "ABORTED", "conflict", "The bucket you tried to delete is not empty.")
    cloud.store.delete(f"storage/b/{bucket['name']}")
    cloud.store.delete(f"policy/b/{bucket['name']}")
    cloud.mounts.unmount(bucket["name"])


@SERVICE.handles("storage.buckets.lockRetentionPolicy")
def lock_retention_policy(cloud: Cloud, call: Call) -> Json:
    bucket = find_bucket(cloud, call)
    check_conditions(call, bucket)
    if "retentionPolicy" not in bucket:
        raise condition_not_met("The bucket has no retention policy to lock.")
    return _save(cloud, merge(bucket, {"retentionPolicy": {"isLocked": True}}))
