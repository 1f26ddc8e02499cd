"""What went wrong between here and Google, in a sentence and with a way out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

import typer

from cli import stacks

Kind = Literal["credentials", "permission", "disabled", "missing", "network", "timeout", "refused"]

#: How a command ends that could not ask; 1 is kept for what was found, 2 for what it was told.
EXIT_UNREACHABLE = 3
LOGIN = "gcloud auth application-default login"
Answer = TypeVar("Answer")
_TRANSIENT = range(500, 600)


class CloudError(Exception):
    """An answer that did not come: what was asked, why there is no answer, and what to do."""

    def __init__(self, kind: Kind, reason: str, fix: str) -> None:
        super().__init__(f"{reason}\n  fix: {fix}")
        self.kind = kind
        self.reason = reason
        self.fix = fix

    @property
    def stops_everything(self) -> bool:
        """Whether the next question would end alike."""
        return self.kind in ("credentials", "network")


@contextmanager
def asking(whom: str) -> Iterator[None]:
    """Turn what a client raises inside into a CloudError. `whom`, such as "Compute Engine", is the one that is asked."""
    try:
        yield
    except CloudError:
        raise
    except Exception as error:
        known = explain(error, whom)
        if known is None:
            raise
        raise known from error


@contextmanager
def told() -> Iterator[None]:
    """Say a CloudError that is raised inside, and end the command with EXIT_UNREACHABLE."""
    try:
        yield
    except CloudError as error:
        stacks.say(str(error), "[red]error:[/] ")
        raise typer.Exit(EXIT_UNREACHABLE) from None


def missing_as_none(question: Callable[[], Answer]) -> Answer | None:
    """The answer, None where what was asked for does not exist. Raises CloudError for anything else."""
    try:
        return question()
    except CloudError as error:
        if error.kind == "missing":
            return None
        raise


def explain(error: Exception, whom: str) -> CloudError | None:
    """The sentence for an exception of Google's clients; None for one that is not theirs."""
    # Imported where something went wrong: the happy way does not need all of them.
    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth

    if isinstance(error, auth.DefaultCredentialsError):
        return CloudError("credentials", f"There are no credentials to ask {whom} with: {_line(error)}", LOGIN)
    if isinstance(error, auth.TransportError):
        return _slow(whom) if "timed out" in str(error) else _network(whom, error)
    if isinstance(error, auth.GoogleAuthError):
        return CloudError("credentials", f"The credentials are not accepted any more: {_line(error)}", LOGIN)
    if isinstance(error, api.RetryError):
        return _slow(whom) if error.cause is None else explain(error.cause, whom) or _slow(whom)
    if isinstance(error, api.DeadlineExceeded | TimeoutError | requests.exceptions.Timeout):
        return _slow(whom)
    if isinstance(error, api.ServiceUnavailable) and "failed to connect" in str(error).lower():
        return _network(whom, error)
    if isinstance(error, api.GoogleAPICallError):
        return _refusal(whom, int(error.code or 0), error.message)
    status = getattr(error, "status_code", None)
    if status is not None and hasattr(error, "content"):
        return _refusal(whom, int(status), _message(error.content) or _line(error))
    if isinstance(error, requests.exceptions.RequestException | OSError) or type(error).__module__.startswith(
        "httplib2"
    ):
        return _network(whom, error)
    return None


def _refusal(whom: str, status: int, message: str) -> CloudError:
    said = " ".join(message.split())
    if status == 401:
        return CloudError("credentials", f"{whom} does not accept the credentials: {said}", LOGIN)
    if status == 403 and ("has not been used in project" in said or "SERVICE_DISABLED" in said):
        found = re.search(r"/apis/api/([\w.-]+)", said)
        service = found.group(1) if found else f"the API of {whom}"
        return CloudError("disabled", f"{whom} is not enabled in the project.", f"gcloud services enable {service}")
    if status == 403:
        return CloudError(
            "permission",
            f"{whom} refuses: {said}",
            "ask whoever administers the project for a role with this permission",
        )
    if status == 404:
        return CloudError(
            "missing", f"{whom}: {said}", "check the name in the stack file, and its project and location"
        )
    if status in _TRANSIENT:
        fix = "try again in a while; https://status.cloud.google.com tells of outages"
        return CloudError("timeout", f"{whom} is not available for now, also after several tries: {said}", fix)
    return CloudError(
        "refused", f"{whom} refuses ({status}): {said}", "see what it says; the stack file may be at fault"
    )


def _network(whom: str, error: Exception) -> CloudError:
    fix = "check the network, a VPN and the variables HTTPS_PROXY and NO_PROXY"
    return CloudError("network", f"{whom} cannot be reached: {_line(error)}", fix)


def _slow(whom: str) -> CloudError:
    fix = "try again; where that does not help, check the network, a VPN and the variable HTTPS_PROXY"
    return CloudError("timeout", f"{whom} did not answer in time.", fix)


def _line(error: Exception) -> str:
    """An exception's text on one line, not longer than a sentence."""
    inner = getattr(error.args[0], "reason", None) if error.args else None
    text = " ".join(str(inner or error).split()) or type(error).__name__
    text = text.rpartition(" object at 0x")[2].partition(">: ")[2] or text
    return text if len(text) <= 300 else text[:299] + "…"


def _message(content: bytes) -> str:
    """Google's own words in the body of a refusal."""
    try:
        found = json.loads(content)
    except ValueError:
        return ""
    error = found.get("error", found) if isinstance(found, dict) else {}
    return str(error.get("message", "")) if isinstance(error, dict) else str(error)
