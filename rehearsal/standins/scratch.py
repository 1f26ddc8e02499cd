"""The scratch location, asked of the rehearsed Cloud Storage with the identity that the server has."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from rehearsal.standins.flags import Flags

# Pathways keeps temporary files there. Source: Pathways porting guide.
_ALWAYS = ("storage.buckets.get", "storage.objects.create", "storage.objects.get", "storage.objects.list")
# With --enable_gcs_olm, which is on unless it is switched off, the servers write lifecycle rules. The proxy does not.
_LIFECYCLE = "storage.buckets.update"
_TIMEOUT = 30.0


class ScratchError(ValueError):
    """Why the scratch location cannot be used."""


def check(flags: Flags, environment: Mapping[str, str]) -> None:
    """Ask the cloud at REHEARSAL_CLOUD whether the location exists, is near, and may be used. Raises ScratchError."""
    cloud = environment["REHEARSAL_CLOUD"]
    location = flags.values["gcs_scratch_location"]
    name = location.removeprefix("gs://").partition("/")[0]
    bucket = _Bucket(f"{cloud.rstrip('/')}/storage/storage/v1/b/{name}", environment.get("REHEARSAL_TOKEN", ""))
    olm = flags.role != "proxy" and flags.values.get("enable_gcs_olm") != "false"
    needed = [*_ALWAYS, *([_LIFECYCLE] if olm else [])]
    try:
        held = bucket.held(needed)
        missing = [permission for permission in needed if permission not in held]
        if missing:
            raise ScratchError(f"--gcs_scratch_location={location}: {_denied(missing)}")
        place = bucket.location()
    except urllib.error.HTTPError as error:
        raise ScratchError(f"--gcs_scratch_location={location}: {_message(error)}") from error
    except OSError as error:
        raise ScratchError(f"--gcs_scratch_location={location}: {cloud} does not answer: {error}") from error
    region = environment.get("REHEARSAL_REGION", place)
    if place != region:
        raise ScratchError(
            f"--gcs_scratch_location={location}: the bucket lies in {place}, the node in {region}. "
            "Every compilation and checkpoint would cross regions; use a bucket in the node's region."
        )


class _Bucket:
    """A bucket as the server's identity sees it."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Proxies of the user's environment do not lead to the rehearsal.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def held(self, permissions: Sequence[str]) -> list[str]:
        query = urllib.parse.urlencode([("permissions", each) for each in permissions])
        return list(self._get(f"/iam/testPermissions?{query}").get("permissions", []))

    def location(self) -> str:
        return str(self._get("")["location"]).lower()

    def _get(self, path: str) -> dict[str, Any]:
        request = urllib.request.Request(self._url + path, headers=self._headers)
        with self._opener.open(request, timeout=_TIMEOUT) as response:
            answer: dict[str, Any] = json.load(response)
        return answer


def _denied(missing: Sequence[str]) -> str:
    text = f"the server's identity lacks {', '.join(missing)} on the bucket"
    if _LIFECYCLE in missing:
        text += "; --enable_gcs_olm=false would do without storage.buckets.update"
    return text


def _message(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return str(error)
