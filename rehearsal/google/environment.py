"""What gcloud needs in its environment to talk to the double."""

from __future__ import annotations

ENDPOINTS = {
    "container": "/container/",
    "compute": "/compute/compute/v1/",
    "storage": "/storage/storage/v1/",
    "iam": "/iam/",
    "cloudresourcemanager": "/cloudresourcemanager/",
    "serviceusage": "/serviceusage/",
    "hypercomputecluster": "/hypercomputecluster/",
    "artifactregistry": "/artifactregistry/",
    "logging": "/logging/",
}
"""Per API, the path below the double's address that gcloud and googleapiclient take as the endpoint."""


def variables(base_url: str, grpc: str = "") -> dict[str, str]:
    """The variables for a double at `base_url`, such as http://127.0.0.1:8080, and at `grpc`, a HOST:PORT.

    gcloud reads those that begin with CLOUDSDK; `pathways` reads the endpoints among them, and the last one.
    """
    base = base_url.rstrip("/")
    overrides = {f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api.upper()}": base + path for api, path in ENDPOINTS.items()}
    return overrides | {
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
        "CLOUDSDK_CORE_DISABLE_FILE_LOGGING": "1",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1",
        **({"PATHWAYS_GRPC_ENDPOINT_CONTAINER": grpc} if grpc else {}),
    }
