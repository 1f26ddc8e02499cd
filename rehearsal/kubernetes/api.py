"""The Kubernetes API of a rehearsed cluster, as plain JSON.

The generated `kubernetes` client is left aside here: importing it costs seconds and 150 MB in each process,
and its models hide the JSON that the rehearsal handles anyway.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import httpx
import yaml

from rehearsal.errors import RehearsalError

Json = dict[str, Any]
CONNECTIONS = 16
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class ApiError(RehearsalError):
    """The API server refused a request; `status` is its HTTP status."""

    def __init__(self, request: httpx.Request, response: httpx.Response) -> None:
        try:
            message = response.json()["message"]
        except (ValueError, KeyError, TypeError):
            message = response.text.strip()
        self.status = response.status_code
        super().__init__(f"Kubernetes refused {request.method} {request.url.path} ({self.status}): {message}")


class UnreachableError(RehearsalError):
    """The API server does not answer."""


class Api:
    """One API server ("HOST:PORT"), as the user whom the bearer token names. Threads may share it."""

    def __init__(self, address: str, ca: Path, token: str) -> None:
        self._address = address
        self._http = httpx.Client(
            base_url=f"https://{address}",
            verify=ssl.create_default_context(cafile=str(ca)),
            headers={"Authorization": f"Bearer {token}"},
            timeout=30.0,
            limits=httpx.Limits(max_connections=CONNECTIONS),
            trust_env=False,
        )

    @classmethod
    def of(cls, kubeconfig: Path) -> Api:
        """The API server that a rehearsal's kubeconfig names."""
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        token = Path(user["tokenFile"]).read_text()
        return cls(cluster["server"].removeprefix("https://"), Path(cluster["certificate-authority"]), token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def ready(self) -> bool:
        """Whether the API server answers and says it is ready."""
        try:
            return self._http.get("/readyz", timeout=5.0).status_code == 200
        except httpx.TransportError:
            return False

    def version(self) -> str:
        """The API server's version, such as "1.35.4"."""
        return str(self._send("GET", "/version")["gitVersion"]).removeprefix("v")

    def serves(self, group: str, resources: Collection[str]) -> bool:
        """Whether clients find these resources of an API group, which take a moment after their definitions."""
        found = [known for known in self._send("GET", "/apis")["groups"] if known["name"] == group]
        versions = [self.get(f"/apis/{version['groupVersion']}") for each in found for version in each["versions"]]
        return {known["name"] for version in versions if version for known in version["resources"]} >= set(resources)

    def get(self, path: str) -> Json | None:
        """The object at that path, None where there is none."""
        try:
            found: Json = self._send("GET", path)
            return found
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def items(self, path: str, **query: str) -> list[Json]:
        """The objects of a collection. `query`: labelSelector, fieldSelector; resourceVersion="0": as a cache has them."""
        items: list[Json] = self._send("GET", path, query=query)["items"]
        return items

    def text(self, path: str, **query: str) -> str:
        """What is no JSON: the log of a container."""
        return self._request("GET", path, query=query).text

    def collection(self, path: str) -> tuple[list[Json], str]:
        """The objects of a collection, and the version from which `watch` tells what has changed since."""
        found = self._send("GET", path)
        return found["items"], found["metadata"]["resourceVersion"]

    def watch(self, path: str, version: str) -> Iterator[tuple[str, Json]]:
        """What happens to the objects of a collection: ADDED, MODIFIED or DELETED, and the object.

        The server ends it now and then. Raises ApiError when it no longer knows the version, UnreachableError.
        """
        query = {"watch": "1", "resourceVersion": version}
        # Silence is no fault: on an idle cluster nothing happens.
        patience = httpx.Timeout(30.0, read=None)
        try:
            with self._http.stream("GET", path, params=query, timeout=patience) as response:
                if response.is_error:
                    response.read()
                    raise ApiError(response.request, response)
                for line in response.iter_lines():
                    event = json.loads(line)
                    yield event["type"], event["object"]
        except httpx.TransportError as error:
            raise UnreachableError(f"The Kubernetes API at {self._address} ended {path}: {error!r}") from error

    def post(self, path: str, body: Json) -> Json:
        """Send a request that is an object itself, such as for a token; the answer."""
        answer: Json = self._send("POST", path, body=body)
        return answer

    def create(self, path: str, body: Json) -> None:
        """Create an object; one that exists already is left as it is."""
        try:
            self._send("POST", path, body=body)
        except ApiError as error:
            if error.status != 409:
                raise

    def patch(self, path: str, body: Json | list[Json], *, by_key: bool = False) -> None:
        """Change an object: a JSON merge patch (an object) or a JSON patch (a list of operations).

        `by_key`: a strategic merge patch, which merges lists such as conditions by their items' keys.
        """
        kind = MERGE if isinstance(body, dict) else "application/json-patch+json"
        self._send("PATCH", path, body=body, kind=STRATEGIC if by_key else kind)

    def delete(self, path: str, *, at_once: bool = False, dependents: bool = False, uid: str | None = None) -> None:
        """Delete an object, if it is there; `at_once` without waiting for anyone to confirm.

        `dependents`: what it owns too, which some kinds, such as Job, leave behind otherwise.
        With `uid`, only that very object: one of the same name that came after it stays (ApiError 409).
        """
        options: Json = {"gracePeriodSeconds": 0} if at_once else {}
        if dependents:
            options["propagationPolicy"] = "Background"
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            self._send("DELETE", path, body=options or None)
        except ApiError as error:
            if error.status != 404:
                raise

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Json | list[Json] | None = None,
        kind: str = "application/json",
    ) -> Any:
        return self._request(method, path, query=query, body=body, kind=kind).json()

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Json | list[Json] | None = None,
        kind: str = "application/json",
    ) -> httpx.Response:
        headers = {"Content-Type": kind} if body is not None else {}
        try:
            response = self._http.request(method, path, params=query, json=body, headers=headers)
        except httpx.TransportError as error:
            raise UnreachableError(
                f"The Kubernetes API at {self._address} does not answer {method} {path}: {error!r}"
            ) from error
        if response.is_error:
            raise ApiError(response.request, response)
        return response


def each(action: Callable[[Any], None], items: Iterable[Any]) -> None:
    """Do the same for many objects, several at a time. The first error is raised after the rest was tried."""
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        futures = [pool.submit(action, item) for item in items]
    for future in futures:
        future.result()
