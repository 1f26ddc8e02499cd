"""Rules on buckets, and on the scratch bucket of Pathways above all.

Source: Pathways porting guide (permissions of the lifecycle that Pathways writes), Cloud Storage documentation.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from pathways import scratch
from policies.resources import Resource, Stack, Unknown, contains, entries
from policies.rule import Config, resource_rule, stack_rule

TITLE = "Buckets"

BUCKET = "gcp:storage/bucket:Bucket"
GRANTS = (
    "gcp:storage/bucketIAMMember:BucketIAMMember",
    "gcp:storage/bucketIAMBinding:BucketIAMBinding",
)
CUSTOM_ROLES = ("gcp:projects/iAMCustomRole:IAMCustomRole", "gcp:organizations/iAMCustomRole:IAMCustomRole")
# Objects may come, go and be read in either mode; narrower roles than the two that are needed do no harm.
ENOUGH = frozenset(scratch.ROLES) | {
    "roles/storage.objectAdmin",
    "roles/storage.objectCreator",
    "roles/storage.objectViewer",
    "roles/storage.bucketViewer",
    "roles/storage.legacyObjectReader",
}
READING = frozenset({"storage.buckets.get", "storage.buckets.list"})


@resource_rule(
    "bucket-uniform-access",
    BUCKET,
    fix="Set uniformBucketLevelAccess: true",
    remedy=lambda bucket, _: None if bucket.at("uniformBucketLevelAccess") else {"uniformBucketLevelAccess": True},
)
def uniform_access(bucket: Resource, _: Config) -> Iterator[str]:
    """Access to a bucket is decided by IAM alone, not by the access lists of single objects."""
    if bucket.at("uniformBucketLevelAccess") in (None, False):
        yield f"gs://{bucket.title} does not have uniform bucket-level access"


@resource_rule(
    "bucket-public-access",
    BUCKET,
    fix="Set publicAccessPrevention: enforced",
    severity=Severity.CRITICAL,
    remedy=lambda bucket, _: (
        None if bucket.at("publicAccessPrevention") == "enforced" else {"publicAccessPrevention": "enforced"}
    ),
)
def public_access(bucket: Resource, _: Config) -> Iterator[str]:
    """Nobody outside can be given access to a bucket."""
    prevention = bucket.at("publicAccessPrevention")
    if prevention != "enforced" and not isinstance(prevention, Unknown):
        yield f"gs://{bucket.title} has public access prevention {prevention or 'inherited'}"


@resource_rule(
    "bucket-public-grant",
    *GRANTS,
    fix="Grant the role to the accounts that need it",
    severity=Severity.CRITICAL,
)
def public_grant(grant: Resource, _: Config) -> Iterator[str]:
    """No role on a bucket goes to everybody."""
    everybody = ("allUsers", "allAuthenticatedUsers")
    if grant.at("member") in everybody or contains(grant.at("members"), *everybody):
        yield f"{grant.at('role')} on gs://{grant.at('bucket')} is granted to everybody"


@resource_rule(
    "bucket-force-destroy",
    BUCKET,
    fix="Leave forceDestroy out, so that a bucket which holds objects is not deleted",
    level="advisory",
)
def force_destroy(bucket: Resource, _: Config) -> Iterator[str]:
    """A bucket that holds objects cannot be deleted. For production."""
    if bucket.at("forceDestroy") is True:
        yield f"gs://{bucket.title} would be deleted with all its objects"


@stack_rule("scratch-bucket-region", fix="Put the bucket into the region of the slices, or use slices of its region")
def region(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """The scratch bucket of Pathways lies in the region of the slices: every step reads and writes there."""
    regions = {machines.region for _, machines in stack.tpu_pools if machines.region}
    if not regions:
        return
    for bucket in scratch_buckets(stack):
        location = bucket.at("location")
        if isinstance(location, str) and {location.lower()} != regions:
            yield (
                bucket,
                f"gs://{bucket.title} is in {location.lower()}, the slices are in {', '.join(sorted(regions))}",
            )


@stack_rule(
    "scratch-bucket-lifecycle",
    fix="Add a lifecycle rule that deletes objects by age, or let Pathways write the rules (--enable_gcs_olm)",
    severity=Severity.MEDIUM,
)
def lifecycle(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """Scratch files are deleted by age: by a rule of the bucket, or by rules that Pathways writes."""
    if lifecycle_by_pathways(stack):
        return
    for bucket in scratch_buckets(stack):
        rules = bucket.at("lifecycleRules")
        if isinstance(rules, Unknown):
            continue
        deleting = [
            rule
            for rule in entries(rules)
            if (rule.get("action") or {}).get("type") == "Delete" and (rule.get("condition") or {}).get("age")
        ]
        if not deleting:
            yield bucket, f"gs://{bucket.title} keeps scratch files for ever"


@stack_rule(
    "scratch-bucket-permissions",
    fix=f"Grant {' and '.join(scratch.ROLES)} on the bucket; where Pathways writes the lifecycle (--enable_gcs_olm), "
    f"a custom role of {' and '.join(scratch.LIFECYCLE_PERMISSIONS)} as well",
)
def permissions(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """On the scratch bucket nobody may do more than Pathways needs in its lifecycle mode."""
    if not stack.workloads:
        return
    names = {bucket.title for bucket in scratch_buckets(stack)}
    allowed = set(scratch.LIFECYCLE_PERMISSIONS) if lifecycle_by_pathways(stack) else set()
    for grant in stack.of_type(*GRANTS):
        role, bucket = grant.at("role"), grant.at("bucket")
        # A bucket that is not known yet can only be one of this stack's own.
        if not isinstance(role, str) or (isinstance(bucket, str) and bucket not in names):
            continue
        if role.startswith("roles/") and role not in ENOUGH:
            yield grant, f"{role} allows more on the scratch bucket than Pathways needs"
    for role_resource in stack.of_type(*CUSTOM_ROLES):
        given = role_resource.at("permissions")
        about_buckets = (
            {str(each) for each in given if str(each).startswith("storage.buckets.")}
            if isinstance(given, list)
            else set()
        )
        excess = about_buckets - allowed - READING
        if excess:
            yield (
                role_resource,
                f"{role_resource.name} has {', '.join(sorted(excess))}, which Pathways does not need here",
            )


def scratch_buckets(stack: Stack) -> list[Resource]:
    """The buckets that Pathways containers write to; all buckets while the location is not known yet."""
    buckets, locations = stack.of_type(BUCKET), _scratch_locations(stack)
    if locations is None:
        return buckets
    return [bucket for bucket in buckets if bucket.title in locations]


def lifecycle_by_pathways(stack: Stack) -> bool:
    """Whether the resource manager writes the lifecycle rules: it does unless its flag says no."""
    managers = [each for _, each in stack.containers if each.role == "resource_manager"]
    return any(each.flags.get("enable_gcs_olm", "true") != "false" for each in managers)


def _scratch_locations(stack: Stack) -> set[str] | None:
    found = set()
    for _, container in stack.containers:
        if container.role == "client":
            continue
        location = container.flags.get("gcs_scratch_location")
        if location:
            found.add(location.removeprefix("gs://").partition("/")[0])
        elif container.hidden:
            return None
    return found
