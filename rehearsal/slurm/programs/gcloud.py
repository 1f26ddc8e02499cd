"""The two things that the job scripts ask gcloud, with the identity of the node."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx

from rehearsal.slurm.surroundings import Surroundings


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`gcloud storage buckets describe gs://BUCKET --format=value(name)` or `gcloud auth print-access-token`."""
    around = Surroundings.load(folder)
    if around is None:
        print("ERROR: (gcloud) this Slurm cluster belongs to no rehearsed Google Cloud", file=sys.stderr)
        return 1
    match arguments:
        case ["auth", "print-access-token"]:
            print(around.token)
            return 0
        case ["storage", "buckets", "describe", address, "--format=value(name)"]:
            fault = _fault(address.removeprefix("gs://"), around)
            if fault is None:
                print(address.removeprefix("gs://"))
                return 0
            print(f"ERROR: (gcloud.storage.buckets.describe) {fault}", file=sys.stderr)
            return 1
    print(f"ERROR: (gcloud) the rehearsal does not know: {' '.join(arguments)}", file=sys.stderr)
    return 2


def _fault(bucket: str, around: Surroundings) -> str | None:
    """Why the bucket cannot be described, None where it can."""
    headers = {"Authorization": f"Bearer {around.token}"}
    try:
        answer = httpx.get(
            f"{around.cloud}/storage/storage/v1/b/{bucket}", headers=headers, timeout=20, trust_env=False
        )
    except httpx.TransportError as error:
        return f"the Google Cloud double at {around.cloud} does not answer ({error}); start it again: make up"
    if answer.is_success:
        return None
    if answer.status_code == httpx.codes.FORBIDDEN:
        return (
            f"[{around.account}] does not have permission to access gs://{bucket}: {answer.json()['error']['message']}"
        )
    return f"gs://{bucket} not found: {answer.status_code}."
