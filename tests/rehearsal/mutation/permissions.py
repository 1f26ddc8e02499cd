"""The scratch bucket's policy, with a role taken away for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.rehearsal.conftest import Rehearsal


def roles(rehearsal: Rehearsal, bucket: str) -> list[str]:
    """What the nodes' service account is granted on the bucket."""
    return sorted({binding["role"] for binding in _policy(rehearsal, bucket)["bindings"] if _granted(binding)})


@contextmanager
def without(rehearsal: Rehearsal, bucket: str, role: str) -> Iterator[None]:
    """Take a role from the nodes' service account, and give it back in the end."""
    before = _policy(rehearsal, bucket)
    kept = [binding for binding in before["bindings"] if not (binding["role"] == role and _granted(binding))]
    assert len(kept) < len(before["bindings"]), f"nobody has {role}"
    _put(rehearsal, bucket, kept)
    try:
        yield
    finally:
        _put(rehearsal, bucket, before["bindings"])


def _granted(binding: dict[str, Any]) -> bool:
    return any(member.startswith("serviceAccount:") for member in binding["members"])


def _policy(rehearsal: Rehearsal, bucket: str) -> dict[str, Any]:
    answer = httpx.get(_url(rehearsal, bucket), timeout=30).raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def _put(rehearsal: Rehearsal, bucket: str, bindings: list[dict[str, Any]]) -> None:
    httpx.put(_url(rehearsal, bucket), json={"bindings": bindings}, timeout=30).raise_for_status()


def _url(rehearsal: Rehearsal, bucket: str) -> str:
    return f"{rehearsal.session().google_url}/storage/storage/v1/b/{bucket}/iam"
