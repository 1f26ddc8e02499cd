"""The services of the double, one module or package each.

A further one is a `Service` with the name and versions of its discovery documents, a handler per method it should
have, and an entry below. Its routes, schemas and refusals of what does not fit them come with that.
"""

from __future__ import annotations

from rehearsal.google.api import Service
from rehearsal.google.services import quotas  # noqa: F401  registers with Service Usage
from rehearsal.google.services.artifactregistry import SERVICE as ARTIFACT_REGISTRY
from rehearsal.google.services.cloudresourcemanager import SERVICE as CLOUD_RESOURCE_MANAGER
from rehearsal.google.services.compute import SERVICE as COMPUTE
from rehearsal.google.services.container import SERVICE as CONTAINER
from rehearsal.google.services.hypercomputecluster import SERVICE as HYPERCOMPUTE_CLUSTER
from rehearsal.google.services.iam import SERVICE as IAM
from rehearsal.google.services.logging import SERVICE as LOGGING
from rehearsal.google.services.serviceusage import SERVICE as SERVICE_USAGE
from rehearsal.google.services.storage import SERVICE as STORAGE

SERVICES: dict[str, Service] = {
    service.name: service
    for service in (
        CONTAINER,
        COMPUTE,
        STORAGE,
        IAM,
        CLOUD_RESOURCE_MANAGER,
        SERVICE_USAGE,
        HYPERCOMPUTE_CLUSTER,
        ARTIFACT_REGISTRY,
        LOGGING,
    )
}
