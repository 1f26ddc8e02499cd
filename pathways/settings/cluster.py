"""The GKE cluster, its network and its CPU nodes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways.settings.base import Cidr, Section


class Network(Section):
    """Address ranges of the VPC that the stack creates."""

    node_range: Cidr = "10.0.0.0/20"
    pod_range: Cidr = "10.4.0.0/14"
    service_range: Cidr = "10.8.0.0/20"


class Cluster(Section):
    """The GKE cluster."""

    release_channel: Literal["RAPID", "REGULAR", "STABLE"] = "REGULAR"
    version: str | None = Field(
        default=None, description="Minimum control plane version; default: the channel's."
    )
    deletion_protection: bool = Field(default=True, description="Refuse to delete or replace the cluster.")


class Head(Section):
    """The CPU node pool for the resource manager, the proxy and a batch client."""

    machine_type: str = "n2-standard-64"
    node_count: int = Field(default=1, ge=1, le=100)


class JobSetController(Section):
    """The JobSet controller."""

    install: bool = Field(default=True, description="false: the cluster has a JobSet controller already.")
    chart: str = "oci://registry.k8s.io/jobset/charts/jobset"
    version: str | None = Field(default="0.11.1", description="Chart version; null for a chart in a folder.")
