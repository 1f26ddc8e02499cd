"""Google's clients with Application Default Credentials: time-outs, and retries with backoff by the clients.

Endpoints: gcloud's variables CLOUDSDK_API_ENDPOINT_OVERRIDES_<API> lead elsewhere, as they do for gcloud, and
PATHWAYS_GRPC_ENDPOINT_CONTAINER=HOST:PORT to a GKE API that speaks gRPC without TLS.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from cli.cloud.errors import asking

Json = dict[str, Any]
T = TypeVar("T")

PLAINTEXT_GKE = "PATHWAYS_GRPC_ENDPOINT_CONTAINER"
SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
#: As Google's pages name the services that are asked.
NAMES = {
    "artifactregistry": "Artifact Registry",
    "cloudresourcemanager": "Resource Manager",
    "compute": "Compute Engine",
    "container": "GKE",
    "hypercomputecluster": "Cluster Director",
    "logging": "Cloud Logging",
    "serviceusage": "Service Usage",
    "storage": "Cloud Storage",
}
TIMEOUT_SECONDS = 10.0
PATIENCE_SECONDS = 15.0
RETRIES = 2


class Google:
    """The clients of one command. Threads may share it.

    `timeout` is for one request and `patience` for all tries of it, both in seconds; `retries` bounds the tries.
    """

    def __init__(
        self, timeout: float = TIMEOUT_SECONDS, patience: float = PATIENCE_SECONDS, retries: int = RETRIES
    ) -> None:
        # What Google's clients say about the Python version is for whoever packages this.
        warnings.filterwarnings("ignore", category=FutureWarning, module="google")
        warnings.filterwarnings("ignore", module="urllib3")
        self.timeout = timeout
        self._patience = patience
        self._retries = retries
        self._lock = threading.Lock()
        self._credentials: Any = None
        self._made: dict[str, Any] = {}

    @property
    def credentials(self) -> Any:
        """Application Default Credentials. Raises CloudError where there are none."""
        with self._lock, asking("Google"):
            if self._credentials is None:
                import google.auth

                self._credentials, _ = google.auth.default(scopes=SCOPES)
            return self._credentials

    def authorize(self) -> None:
        """Have an access token that is good for now. Raises CloudError, so that no question waits for one in vain."""
        from google.auth.transport.requests import Request

        credentials = self.credentials
        with self._lock, asking("Google's token service"):
            if not credentials.valid:
                credentials.refresh(partial(Request(), timeout=self.timeout))

    def gke(self, method: str, **arguments: Any) -> Any:
        """Call a method of google-cloud-container's ClusterManagerClient. Raises CloudError."""
        from google.api_core.retry import Retry, if_transient_error

        client = self._once("container", self._gke)
        retry = Retry(predicate=if_transient_error, initial=0.5, maximum=8, timeout=self._patience)
        with asking(NAMES["container"]):
            return getattr(client, method)(**arguments, retry=retry, timeout=self.timeout, metadata=self._bearer())

    def ask(self, api: str, version: str, question: Callable[[Any], Any]) -> Json:
        """Execute the request that `question` makes of a googleapiclient service. Raises CloudError."""
        service = self._once(f"{api} {version}", lambda: self._service(api, version))
        with asking(NAMES[api]):
            answer: Json = question(service).execute(http=self._http(), num_retries=self._retries)
            return answer

    def pages(
        self, api: str, version: str, collection: Callable[[Any], Any], key: str, **arguments: Any
    ) -> Iterator[Json]:
        """Every item of a list, page after page; `key` is the field that holds them. Raises CloudError."""
        token = None
        while True:
            page = self.ask(api, version, lambda service: collection(service).list(**arguments, pageToken=token))  # noqa: B023
            yield from page.get(key, [])
            token = page.get("nextPageToken")
            if not token:
                return

    def _once(self, name: str, make: Callable[[], T]) -> T:
        self.credentials  # noqa: B018  outside of the lock, which it takes too
        with self._lock:
            if name not in self._made:
                with asking(NAMES[name.split()[0]]):
                    self._made[name] = make()
            made: T = self._made[name]
            return made

    def _gke(self) -> Any:
        from google.cloud import container_v1
        from google.cloud.container_v1.services.cluster_manager import transports

        if address := os.environ.get(PLAINTEXT_GKE):
            import grpc

            transport = transports.ClusterManagerGrpcTransport(channel=grpc.insecure_channel(address))
            return container_v1.ClusterManagerClient(transport=transport)
        if endpoint := _override("container"):
            scheme, _, host = endpoint.rstrip("/").rpartition("://")
            rest = transports.ClusterManagerRestTransport(
                host=host, url_scheme=scheme or "https", credentials=self._credentials
            )
            return container_v1.ClusterManagerClient(transport=rest)
        return container_v1.ClusterManagerClient(credentials=self._credentials)

    def _bearer(self) -> list[tuple[str, str]]:
        """The access token of a call without TLS, to which gRPC itself adds none."""
        if not os.environ.get(PLAINTEXT_GKE):
            return []
        self.authorize()
        return [("authorization", f"Bearer {self.credentials.token}")]

    def _service(self, api: str, version: str) -> Any:
        from google.api_core.client_options import ClientOptions
        from googleapiclient.discovery import build

        return build(
            api,
            version,
            static_discovery=True,
            cache_discovery=False,
            http=self._http(),
            client_options=ClientOptions(api_endpoint=_override(api)),
        )

    def _http(self) -> Any:
        """A connection of the calling thread's own, since httplib2's must not be shared."""
        import httplib2
        from google_auth_httplib2 import AuthorizedHttp

        return AuthorizedHttp(self._credentials, http=httplib2.Http(timeout=self.timeout))


def _override(api: str) -> str | None:
    return os.environ.get(f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api.upper()}") or None
