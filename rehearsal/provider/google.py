"""Requests to Google's APIs: retried, polled to their end, and told in one sentence when refused."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

import httpx
import tenacity

# Where each API begins, below the address of the double.
SERVICES = {
    "container": "container/v1beta1",
    "compute": "compute/compute/v1",
    "storage": "storage/storage/v1",
    "storageUpload": "storage/upload/storage/v1",
    "iam": "iam/v1",
    "cloudresourcemanager": "cloudresourcemanager/v1",
    "serviceusage": "serviceusage/v1",
    "hypercomputecluster": "hypercomputecluster/v1",
}
# What is refused only for as long as another operation on the same resource runs.
_BUSY = re.compile(
    r"incompatible operation|operation .*in progress|is currently (being|operating|upgrading)|not ready"
    r"|in state (PROVISIONING|RECONCILING)",
    re.IGNORECASE,
)


class GoogleError(Exception):
    """A request that Google refused; the message is one sentence for the user."""

    def __init__(self, method: str, path: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {reason}: {message}")
        self.status, self.reason, self.message = status, reason, message


class OperationError(Exception):
    """An operation that Google began and could not finish."""


class Interrupted(Exception):
    """The engine was told to stop while Google was still at work."""

    def __init__(self) -> None:
        super().__init__("interrupted while waiting for Google; `pulumi up` takes it from there")


class Google:
    """Google's APIs at one address, with plain HTTP.

    Statuses 429 and 503, and 400 from a cluster that is busy, are tried again until `timeout` (seconds).
    `interrupt` ends every wait at once.
    """

    def __init__(self, address: str, *, timeout: float = 7200, transport: httpx.BaseTransport | None = None) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        transport = transport or httpx.HTTPTransport(retries=4, limits=limits)
        self._http = httpx.Client(base_url=address.rstrip("/"), timeout=120, transport=transport, trust_env=False)
        self._timeout = timeout
        self._stopped = threading.Event()

    def interrupt(self) -> None:
        """End every wait, now and later, with Interrupted."""
        self._stopped.set()

    def call(
        self,
        method: str,
        service: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        content: tuple[bytes, str] | None = None,
    ) -> dict[str, Any]:
        """The answer to one request. Raises GoogleError when it is refused, Interrupted when waiting ended.

        `content` is a body that is not JSON, and its type.
        """

        body: dict[str, Any] = {"json": json}
        if content:
            body = {"content": content[0], "headers": {"Content-Type": content[1]}}

        def attempt() -> dict[str, Any]:
            if self._stopped.is_set() and method != "GET":
                raise Interrupted
            try:
                response = self._http.request(method, f"/{SERVICES[service]}/{path}", params=params, **body)
            except httpx.HTTPError as error:
                where = f"{self._http.base_url} does not answer ({error}); is the rehearsal running?"
                raise GoogleError(method, path, 0, "UNREACHABLE", where) from error
            if response.is_success:
                answer: dict[str, Any] = response.json() if response.content else {}
                return answer
            raise _error(method, path, response)

        return cast(dict[str, Any], self._again(attempt, tenacity.retry_if_exception(_worth_retrying), self._timeout))

    def find(self, service: str, path: str, **more: Any) -> dict[str, Any] | None:
        """What a GET answers, or None when it is not there."""
        try:
            return self.call("GET", service, path, **more)
        except GoogleError as error:
            if error.status == 404:
                return None
            raise

    def wait(self, service: str, path: str, operation: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Poll an operation, which is at `path`, until it is done. Raises OperationError when it failed."""

        def attempt() -> dict[str, Any]:
            return operation if _done(operation) else self.call("GET", service, path)

        done: dict[str, Any] = self.until(attempt, _done, timeout)
        failure = done.get("error")
        if failure:
            errors = failure.get("errors") or [failure]
            raise OperationError("; ".join(str(e.get("message") or e.get("code")) for e in errors))
        return done

    def until(self, look: Callable[[], Any], ready: Callable[[Any], bool], timeout: float) -> Any:
        """Look again and again until what is seen is ready. Raises Interrupted, and OperationError after `timeout`."""
        return self._again(look, tenacity.retry_if_result(lambda seen: not ready(seen)), timeout)

    def _again(self, attempt: Callable[[], Any], condition: tenacity.retry_base, timeout: float) -> Any:
        retrying = tenacity.Retrying(
            retry=condition,
            wait=tenacity.wait_exponential(multiplier=0.05, exp_base=1.6, max=2),
            stop=tenacity.stop_any(tenacity.stop_when_event_set(self._stopped), tenacity.stop_after_delay(timeout)),
            sleep=tenacity.sleep_using_event(self._stopped),
        )
        try:
            return retrying(attempt)
        except tenacity.RetryError as error:
            if self._stopped.is_set():
                raise Interrupted from error
            if error.last_attempt.failed:
                raise error.last_attempt.result() from None
            raise OperationError(f"not done after {timeout:.0f} seconds") from error


def _done(operation: Mapping[str, Any]) -> bool:
    """Compute and GKE say DONE, the newer APIs say done."""
    return operation.get("status") == "DONE" or bool(operation.get("done"))


def _error(method: str, path: str, response: httpx.Response) -> GoogleError:
    try:
        error = response.json()["error"]
        reason = error.get("status") or error["errors"][0]["reason"]
        return GoogleError(method, path, response.status_code, str(reason), " ".join(str(error["message"]).split()))
    except (ValueError, LookupError, TypeError):
        text = " ".join(response.text.split())[:300]
        return GoogleError(method, path, response.status_code, response.reason_phrase, text or "no explanation")


def _worth_retrying(error: BaseException) -> bool:
    if not isinstance(error, GoogleError):
        return False
    return error.status in (429, 503) or (error.status == 400 and bool(_BUSY.search(error.message)))
