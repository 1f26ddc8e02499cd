"""The two things that the job scripts ask gcloud. The file `google` has the address of the Google Cloud double."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`gcloud storage buckets describe gs://BUCKET --format=value(name)` or `gcloud auth print-access-token`."""
    match arguments:
        case ["auth", "print-access-token"]:
            print("rehearsal-token")
            return 0
        case ["storage", "buckets", "describe", address, "--format=value(name)"]:
            fault = _fault(address.removeprefix("gs://"), (folder / "google").read_text().strip())
            if fault is None:
                print(address.removeprefix("gs://"))
                return 0
            print(f"ERROR: (gcloud.storage.buckets.describe) {fault}", file=sys.stderr)
            return 1
    print(f"ERROR: (gcloud) the rehearsal does not know: {' '.join(arguments)}", file=sys.stderr)
    return 2


def _fault(bucket: str, google: str) -> str | None:
    """Why the bucket cannot be described, None where it can."""
    try:
        answer = httpx.get(f"{google}/storage/storage/v1/b/{bucket}", timeout=20, trust_env=False)
    except httpx.TransportError as error:
        return f"the Google Cloud double at {google} does not answer ({error}); start it again: make up"
    return None if answer.is_success else f"gs://{bucket} not found: {answer.status_code}."
