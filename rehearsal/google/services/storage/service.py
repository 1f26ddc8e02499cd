"""What the parts of storage share."""

from __future__ import annotations

from typing import Any

from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import condition_not_met, not_found

Json = dict[str, Any]

SERVICE = Service(
    "storage",
    ("v1",),
    camel_case=True,
    server_set={
        "Bucket": frozenset(
            {
                "etag",
                "generation",
                "id",
                "locationType",
                "metageneration",
                "projectNumber",
                "selfLink",
                "timeCreated",
                "updated",
            }
        )
    },
)
BASE = "https://www.googleapis.com/storage/v1/"


def find_bucket(cloud: Cloud, call: Call) -> Json:
    """The bucket of a request."""
    bucket = cloud.store.get(f"storage/b/{call.path['bucket']}")
    if bucket is None:
        raise not_found("The specified bucket does not exist.")
    return bucket


def check_conditions(call: Call, document: Json) -> None:
    """The if*Match parameters of a request. Raises the 412 of storage."""
    for name in ("generation", "metageneration"):
        title = name[0].upper() + name[1:]
        wanted, unwanted = call.query.get(f"if{title}Match"), call.query.get(f"if{title}NotMatch")
        current = document.get(name, "0")
        if (wanted is not None and wanted != current) or (unwanted is not None and unwanted == current):
            raise condition_not_met("At least one of the pre-conditions you specified did not hold.")
