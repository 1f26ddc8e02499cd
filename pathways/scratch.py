"""The scratch bucket: what it keeps, for how long, and who may do what in it.

Source: Pathways porting guide (permissions of --enable_gcs_olm), Introduction to Pathways on Cloud (the flag).
"""

from __future__ import annotations

from dataclasses import dataclass

from pathways import names
from pathways.settings import Settings

# Objects come and go, and the bucket's own metadata is read, in either mode.
ROLES = ("roles/storage.objectUser", "roles/storage.legacyBucketReader")
# Where the job scripts on Cluster Director keep temporary files, and what the lifecycle rule is for there: the bucket
# holds the scripts as well.
DIRECTOR_FOLDER = "pathways-scratch/shared"
DIRECTOR_LIFECYCLE_PREFIX = "pathways-scratch/"
# The resource manager writes lifecycle rules itself when --enable_gcs_olm is on.
LIFECYCLE_PERMISSIONS = ("storage.buckets.get", "storage.buckets.update")


@dataclass(frozen=True)
class ScratchBucket:
    """One bucket. `lifecycle_days` is None where Pathways writes the rules; `permissions` go into a custom role.

    `lifecycle_prefix` limits the rule to objects whose names begin so; None: all of them.
    """

    name: str
    location: str
    uri: str
    lifecycle_days: int | None
    lifecycle_prefix: str | None
    roles: tuple[str, ...]
    permissions: tuple[str, ...]
    force_destroy: bool
    existing: bool


def of(settings: Settings) -> ScratchBucket:
    """The bucket of a stack, in the slices' region."""
    scratch, bucket = settings.scratch, names.of(settings).bucket
    by_stack = scratch.lifecycle_owner == "stack"
    director = settings.platform == "clusterDirector"
    folder = DIRECTOR_FOLDER if director else scratch.prefix
    return ScratchBucket(
        name=bucket,
        location=settings.region,
        uri="gs://" + "/".join(part for part in (bucket, folder) if part),
        lifecycle_days=scratch.retention_days if by_stack and not scratch.existing else None,
        lifecycle_prefix=DIRECTOR_LIFECYCLE_PREFIX if director else None,
        roles=ROLES,
        permissions=() if by_stack else LIFECYCLE_PERMISSIONS,
        force_destroy=scratch.force_destroy,
        existing=scratch.existing,
    )
