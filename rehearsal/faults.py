"""Faults of a running rehearsal, switched from outside."""

from __future__ import annotations

from typing import Any

import httpx

from rehearsal.errors import RehearsalError
from rehearsal.session import Session

# Inside a large cluster every node and pod of a slice is changed.
TIMEOUT_SECONDS = 120


def all(session: Session) -> list[dict[str, Any]]:
    """Every fault there is: its name, what it does, whether it is on. Raises RehearsalError."""
    return _ask(session, "GET", "/faults")


def switch(session: Session, name: str, on: bool) -> list[dict[str, Any]]:
    """Switch one, and return those that are on afterwards. Raises RehearsalError, also for a name that is none."""
    return [each for each in _ask(session, "PUT" if on else "DELETE", f"/faults/{name}") if each["on"]]


def _ask(session: Session, verb: str, path: str) -> list[dict[str, Any]]:
    try:
        answer = httpx.request(verb, session.google_url + path, timeout=TIMEOUT_SECONDS)
    except httpx.TransportError as error:
        raise RehearsalError(f"The Google Cloud double does not answer ({error}). Start it again: make up") from error
    if answer.is_error:
        raise RehearsalError(answer.json()["error"]["message"])
    found: list[dict[str, Any]] = answer.json()["faults"]
    return found
