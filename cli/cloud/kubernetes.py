"""The Kubernetes API of a GKE cluster, through Google's own authorized HTTP session.

All commands read; only `connect` makes something, which is the proxy of a client of a shared service.

The generated `kubernetes` client would take longer to load than all of this takes to ask, and give models for JSON.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.cloud.errors import CloudError, asking
from cli.cloud.google import Google
from pathways.settings import Settings

Json = dict[str, Any]
WHOM = "the cluster's Kubernetes API"
PAGE = 500
CONNECTIONS = 16
#: A node that does not answer is known at once; the API server would wait for it for half a minute.
LOG_TIMEOUT_SECONDS = 5.0


class Kubernetes:
    """One API server, at HOST or HOST:PORT. `ca_pem` is None where a public authority signed its certificate.

    Threads may share it.
    """

    def __init__(self, google: Google, address: str, ca_pem: bytes | None) -> None:
        from google.auth.transport import requests as transport
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        self.address = address
        self._timeout = google.timeout
        self._session: Any = transport.AuthorizedSession(google.credentials)  # type: ignore[no-untyped-call]
        self._session.trust_env = ca_pem is None  # a proxy of the environment is not for a private CA's server
        # An answer that takes too long once would take as long again.
        retry = Retry(
            total=3,
            connect=1,
            read=False,
            backoff_factor=0.5,
            status_forcelist=(429, 503, 504),
            allowed_methods=["GET"],
        )
        self._session.mount("https://", HTTPAdapter(max_retries=retry, pool_maxsize=CONNECTIONS))
        if ca_pem is not None:
            # requests wants a file; it lasts as long as this object.
            self._folder = tempfile.TemporaryDirectory(prefix="pathways-")
            self.ca_file: str | None = str(Path(self._folder.name) / "ca.pem")
            Path(self.ca_file).write_bytes(ca_pem)
            self._session.verify = self.ca_file
        else:
            self.ca_file = None

    def get(self, path: str, **query: str) -> Json | None:
        """The object at a path; None where there is none. Raises CloudError."""
        response = self._ask("GET", path, query, self._timeout)
        if response.status_code == 404:
            return None
        found: Json = _checked(response).json()
        return found

    def items(self, path: str, **query: str) -> list[Json]:
        """Every object of a collection; none where the cluster does not know the kind. Raises CloudError."""
        return list(self._pages(path, query))

    def log(self, namespace: str, pod: str, container: str, **query: str) -> list[str]:
        """Lines of a container's log, each with its time in front. Raises CloudError."""
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        asked = {"container": container, "timestamps": "true", **query}
        response = self._ask("GET", path, asked, LOG_TIMEOUT_SECONDS)
        text: str = _checked(response).text
        return text.splitlines()

    def create(self, path: str, body: Json) -> None:
        """Create an object in a collection. Raises CloudError."""
        _checked(self._ask("POST", path, {}, self._timeout, body))

    def delete(self, path: str) -> None:
        """Delete an object, if it is there, and what it owns. Raises CloudError."""
        response = self._ask("DELETE", path, {"propagationPolicy": "Background"}, self._timeout)
        if response.status_code != 404:
            _checked(response)

    def _pages(self, path: str, query: dict[str, str]) -> Iterator[Json]:
        token = ""
        while True:
            page = self.get(path, limit=str(PAGE), **query, **({"continue": token} if token else {}))
            if page is None:
                return
            yield from page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return

    def _ask(self, verb: str, path: str, query: dict[str, str], timeout: float, body: Json | None = None) -> Any:
        with asking(WHOM):
            url = f"https://{self.address}{path}"
            return self._session.request(verb, url, params=query, json=body, timeout=timeout)


def of_cluster(google: Google, cluster: Any, settings: Settings) -> Kubernetes:
    """The API of a cluster as google-cloud-container describes it. Raises CloudError."""
    if settings.cluster.dns_endpoint:
        return Kubernetes(google, cluster.control_plane_endpoints_config.dns_endpoint_config.endpoint, None)
    if not cluster.endpoint:
        raise CloudError(
            "missing", f"{cluster.name} has no endpoint yet: it is {cluster.status.name}", "wait until it runs"
        )
    return Kubernetes(google, cluster.endpoint, base64.b64decode(cluster.master_auth.cluster_ca_certificate))


def _checked(response: Any) -> Any:
    """The response, if it is not a refusal."""
    if response.ok:
        return response
    try:
        message = str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = response.text.strip() or response.reason
    message = " ".join(message.split())
    if response.status_code == 401:
        fix = "gcloud auth application-default login"
        raise CloudError("credentials", f"{WHOM} does not accept the credentials: {message}", fix)
    if response.status_code == 403:
        fix = "ask for roles/container.viewer, or for roles/container.developer to connect"
        raise CloudError("permission", f"{WHOM} refuses: {message}", fix)
    raise CloudError("refused", f"{WHOM} refuses ({response.status_code}): {message}", "see what it says")
