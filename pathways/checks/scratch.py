"""The scratch bucket."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from pathways.checks.registry import Finding, check
from pathways.settings import Settings


@check("scratch-bucket-name", "pathways:scratch.bucket")
def _scratch_bucket(settings: Settings) -> Iterator[Finding]:
    """The scratch bucket is a bucket name, and one of your own."""
    bucket, path = settings.scratch.bucket, "pathways:scratch.bucket"
    if bucket is None:
        return
    if bucket.startswith("gs://") or "/" in bucket:
        yield Finding(
            path,
            f"{bucket} is a location, not a bucket name",
            "write the name without gs://, and the folder in pathways:scratch.prefix",
        )
    elif not 3 <= len(bucket) <= 63 or not bucket[0].isalnum() or not bucket[-1].isalnum() or bucket != bucket.lower():
        yield Finding(path, f"{bucket} is no bucket name", "use 3 to 63 lower-case letters, digits, - and _")
    elif bucket == "cloud-pathways-staging":
        yield Finding(
            path,
            "cloud-pathways-staging is Google's own and answers 403 to everyone else",
            "leave it out, and the stack makes its own bucket",
        )


@check("scratch-existing", "pathways:scratch")
def _existing_bucket(settings: Settings) -> Iterator[Finding]:
    """An existing bucket is named, and keeps its own rules."""
    scratch = settings.scratch
    if not scratch.existing:
        return
    if not scratch.bucket:
        yield Finding(
            "pathways:scratch.bucket",
            "an existing bucket must be named",
            "add bucket: NAME, or leave existing out",
        )
    for key in ("retention_days", "force_destroy"):
        if key in scratch.model_fields_set:
            yield Finding(
                f"pathways:scratch.{to_camel(key)}",
                "the bucket exists, and the stack does not change its rules",
                "leave it out, and set a lifecycle rule where the bucket is declared",
            )
