"""The GKE cluster, its network, its CPU nodes and its controllers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways.settings.base import Cidr, Section, Timestamp


class Network(Section):
    """The VPC: its address ranges where the stack creates it, its names where it exists already."""

    node_range: Cidr = "10.0.0.0/20"
    pod_range: Cidr = "10.4.0.0/14"
    service_range: Cidr = "10.8.0.0/20"
    mtu: int = Field(default=8896, ge=1300, le=8896, description="Bytes of the largest packet; 8896 suits TPUs best.")
    existing: str | None = Field(
        default=None,
        description="Name of a VPC, or projects/P/global/networks/N, to use instead of creating one.",
    )
    existing_subnetwork: str | None = Field(
        default=None, description="Name of its subnet, or projects/P/regions/R/subnetworks/S."
    )
    pod_range_name: str = Field(default="pods", description="Name of the subnet's secondary range for pods.")
    service_range_name: str = Field(default="services", description="Name of the secondary range for services.")
    second: Cidr | None = Field(
        default=None,
        description="Range of a second network for the TPU VMs, which v6e uses for more bandwidth.",
    )


class MaintenanceExclusion(Section):
    """A time in which GKE does not upgrade on its own."""

    name: str = Field(pattern=r"^[-_.A-Za-z0-9]{1,63}$")
    start: Timestamp
    end: Timestamp
    scope: Literal["NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"] = "NO_MINOR_OR_NODE_UPGRADES"


class Cluster(Section):
    """The GKE cluster."""

    release_channel: Literal["RAPID", "REGULAR", "STABLE"] = "REGULAR"
    version: str | None = Field(default=None, description="Minimum control plane version; default: the channel's.")
    deletion_protection: bool = Field(default=True, description="Refuse to delete or replace the cluster.")
    private_endpoint: bool = Field(
        default=False, description="The control plane's IP address is reachable from inside the VPC only."
    )
    dns_endpoint: bool = Field(
        default=False, description="Reach the control plane by its DNS name, with IAM deciding who may."
    )
    authorized_networks: list[Cidr] = Field(
        default_factory=list,
        description="Who may reach the control plane's IP address; empty: anyone with credentials.",
    )
    maintenance_exclusions: list[MaintenanceExclusion] = Field(default_factory=list, max_length=20)
    existing: str | None = Field(
        default=None,
        description="Name of a cluster in the stack's region or zone to use instead of creating one.",
    )
    location: str | None = Field(
        default=None, description="Region or zone of the control plane; default: the stack's region."
    )


class Head(Section):
    """The CPU node pool for the resource manager, the proxy and a batch client."""

    machine_type: str = "n2-standard-64"
    node_count: int = Field(default=1, ge=1, le=100)


class JobSetController(Section):
    """The JobSet controller."""

    install: bool = Field(default=True, description="false: the cluster has a JobSet controller already.")
    chart: str = "oci://registry.k8s.io/jobset/charts/jobset"
    version: str | None = Field(default="0.11.1", description="Chart version; null for a chart in a folder.")


class Kueue(Section):
    """Kueue, which admits a JobSet when the quota for all of it is free."""

    enabled: bool = Field(default=False, description="Submit the JobSet to a Kueue queue.")
    install: bool = Field(default=True, description="false: the cluster has Kueue already.")
    chart: str = "oci://registry.k8s.io/kueue/charts/kueue"
    version: str | None = Field(default="0.17.0", description="Chart version; null for a chart in a folder.")
    queue: str = Field(default="pathways", pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=63)
