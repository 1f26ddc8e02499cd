"""A stack's settings turned into everything that is built from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pathways import checks, endpoints, jobset, kueue, names, node_pools, reach, scratch, workspace
from pathways.endpoints import Endpoints
from pathways.names import Names
from pathways.node_pools import NodePool, TpuPool
from pathways.scratch import ScratchBucket
from pathways.settings import Settings
from pathways.topology import SliceShape

# The Google APIs a GKE stack calls.
SERVICES = (
    "compute.googleapis.com",
    "container.googleapis.com",
    "iam.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "storage.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "artifactregistry.googleapis.com",
)
# What a node needs to report itself and to pull images; the default Compute Engine account may do far more.
NODE_ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")


@dataclass(frozen=True)
class Plan:
    """All that is decided about a stack on GKE. Components place it and decide nothing."""

    settings: Settings
    shape: SliceShape
    names: Names
    head_pool: NodePool
    tpu_pools: tuple[TpuPool, ...]
    scratch: ScratchBucket
    endpoints: Endpoints
    workspace: tuple[Mapping[str, Any], ...]
    job_set: Mapping[str, Any]
    queues: tuple[Mapping[str, Any], ...]
    proxy_service: Mapping[str, Any] | None
    proxy_policy: Mapping[str, Any] | None


def make(settings: Settings) -> Plan:
    """Derive a plan from settings that passed the checks."""
    shape = checks.shape_of(settings)
    bucket = scratch.of(settings)
    return Plan(
        settings=settings,
        shape=shape,
        names=names.of(settings),
        head_pool=node_pools.head_pool(settings),
        tpu_pools=node_pools.tpu_pools(settings, shape),
        scratch=bucket,
        endpoints=endpoints.of(settings),
        workspace=tuple(workspace.manifests(settings)),
        job_set=jobset.manifest(settings, shape, bucket.uri),
        queues=tuple(kueue.manifests(settings, shape)) if settings.kueue.enabled else (),
        proxy_service=reach.service(settings),
        proxy_policy=reach.network_policy(settings),
    )
