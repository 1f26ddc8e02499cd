"""The Pathways JobSet, its JAX client, and the ways to reach it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways.settings.base import BucketName, Cidr, DnsLabel, Mount, Section
from pathways.settings.runtime import EnvVar

INT32_MAX = 2**31 - 1
MADE = "created with a new cluster, expected in an existing one"


class Elastic(Section):
    """How many slices may be lost while the client goes on."""

    slices: int = Field(ge=1, description="Slices that may be unavailable without ending the client's session.")
    max_slice_restarts: int = Field(default=100, ge=1, description="Restarts of one slice before the JobSet fails.")


class BucketMount(Section):
    """A bucket mounted by Cloud Storage FUSE into the client and the workers."""

    bucket: BucketName
    path: Mount
    read_only: bool = False


class ExitCodes(Section):
    """Exit codes of the client that end the workload at once, without a restart."""

    fatal: list[int] = Field(min_length=1, max_length=255)


class Workload(Section):
    """The Pathways JobSet."""

    mode: Literal["interactive", "batch", "service"] = Field(
        default="interactive",
        description="interactive: the proxy waits for a client; batch: the client runs in the head pod; "
        "service: resource manager and workers stay, and each client brings its own proxy.",
    )
    name: DnsLabel = Field(default="pathways", description="Name of the JobSet.")
    namespace: DnsLabel = Field(default="default", description=f"Kubernetes namespace of the JobSet; {MADE}.")
    image: str | None = Field(default=None, description="Batch: image of the JAX client.")
    command: list[str] = Field(default_factory=list, description="Batch: command of the JAX client.")
    args: list[str] = Field(default_factory=list)
    env: list[EnvVar] = Field(default_factory=list)
    max_restarts: int = Field(
        default=0, ge=0, le=INT32_MAX, description="Restarts of the whole JobSet before it fails."
    )
    elastic: Elastic | None = Field(default=None, description="Go on while slices are lost and come back.")
    exit_codes: ExitCodes | None = None
    termination_grace_seconds: int = Field(default=30, ge=0, le=3600)
    priority_class: DnsLabel | None = Field(default=None, description=f"Kubernetes PriorityClass of the pods; {MADE}.")
    ttl_seconds: int | None = Field(default=None, ge=0, le=INT32_MAX, description="Deletes a finished JobSet after.")
    suspend: bool = Field(default=False, description="Create the JobSet, but start nothing.")
    service_account: DnsLabel | None = Field(
        default=None, description=f"Kubernetes service account of the pods; {MADE}."
    )
    mounts: list[BucketMount] = Field(default_factory=list)
    subdomain: DnsLabel | None = Field(
        default=None, description="Short name of the headless service; default: the JobSet's name."
    )


class LoadBalancer(Section):
    """An internal load balancer in front of the proxy; there is no public one."""

    allowed_ranges: list[Cidr] = Field(min_length=1, description="Who may connect; the proxy has no authentication.")
    global_access: bool = Field(default=False, description="Reachable from other regions of the VPC.")


class Reach(Section):
    """How clients outside the cluster reach the proxy; without it, by kubectl port-forward."""

    load_balancer: LoadBalancer | None = None
    dns_domain: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        description="Cloud DNS domain in which the VPC resolves the cluster's services.",
    )
