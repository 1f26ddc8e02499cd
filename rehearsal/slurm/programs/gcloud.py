"""The two things that the job scripts ask gcloud. The file `buckets` lists the buckets that exist."""

from __future__ import annotations

import sys
from pathlib import Path


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`gcloud storage buckets describe gs://BUCKET --format=value(name)` or `gcloud auth print-access-token`."""
    match arguments:
        case ["auth", "print-access-token"]:
            print("rehearsal-token")
            return 0
        case ["storage", "buckets", "describe", address, "--format=value(name)"]:
            name = address.removeprefix("gs://")
            known = (folder / "buckets").read_text().split() if (folder / "buckets").exists() else []
            if name in known:
                print(name)
                return 0
            print(f"ERROR: (gcloud.storage.buckets.describe) gs://{name} not found: 404.", file=sys.stderr)
            return 1
    print(f"ERROR: (gcloud) the rehearsal does not know: {' '.join(arguments)}", file=sys.stderr)
    return 2
