"""The stack file as typed settings. Keys are camelCase in YAML."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from pathways import images, names

ProjectId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")]
Region = Annotated[str, StringConstraints(pattern=r"^[a-z]+-[a-z]+[0-9]+$")]
# The last part is a letter, or ai1a and the like in Google's AI zones.
Zone = Annotated[str, StringConstraints(pattern=r"^[a-z]+-[a-z]+[0-9]+-[a-z][a-z0-9]*$")]
DnsLabel = Annotated[str, StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
Cidr = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]
LabelKey = Annotated[str, StringConstraints(pattern=r"^[a-z][-_a-z0-9]{0,62}$")]
LabelValue = Annotated[str, StringConstraints(pattern=r"^[-_a-z0-9]{0,63}$")]


class Section(BaseModel):
    """A part of the stack file: immutable, strict about types, and no unknown keys."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)


class Capacity(Section):
    """How the TPU VMs are obtained."""

    type: Literal["onDemand", "reservation", "spot"] = "onDemand"
    reservation: str | None = Field(default=None, description="Name of the specific reservation.")
    reservation_project: ProjectId | None = Field(default=None, description="Project that shares the reservation, if another.")


class Slices(Section):
    """The TPU slices: all of one shape, since one Pathways cluster is homogeneous."""

    accelerator: str = Field(description="TPU generation: v4, v5e, v5p, v6e or tpu7x.")
    topology: str = Field(description="Chips along each axis of one slice, such as 4x4 or 2x2x4.")
    count: int = Field(default=1, ge=1, le=1000, description="Number of slices; each is one node pool.")
    zone: Zone = Field(description="Zone of the TPU VMs.")
    machine_type: str | None = Field(default=None, description="Machine type, where a topology exists on several.")
    capacity: Capacity = Capacity()


class Network(Section):
    """Address ranges of the VPC that the stack creates."""

    node_range: Cidr = "10.0.0.0/20"
    pod_range: Cidr = "10.4.0.0/14"
    service_range: Cidr = "10.8.0.0/20"


class Cluster(Section):
    """The GKE cluster."""

    release_channel: Literal["RAPID", "REGULAR", "STABLE"] = "REGULAR"
    version: str | None = Field(default=None, description="Minimum control plane version; default: the channel's.")
    deletion_protection: bool = Field(default=True, description="Refuse to delete or replace the cluster.")


class Head(Section):
    """The CPU node pool for the resource manager, the proxy and a batch client."""

    machine_type: str = "n2-standard-64"
    node_count: int = Field(default=1, ge=1, le=100)


class Runtime(Section):
    """Which Pathways images run."""

    jax: str = Field(default="0.11.1", description="JAX version of the client; the images must match it.")
    image_repository: str = images.REPOSITORY
    image_tag: str | None = Field(default=None, description="Tag of both images; default jax-<jax>.")

    @property
    def tag(self) -> str:
        return self.image_tag or f"jax-{self.jax}"


class Scratch(Section):
    """The bucket for temporary files."""

    bucket: str | None = Field(default=None, description="Bucket name; default <project>-<name>-scratch.")
    prefix: str = Field(default="", pattern=r"^([-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)*)?$", description="Folder in the bucket.")
    retention_days: int = Field(default=14, ge=1, le=3650, description="Age in days at which objects are deleted.")
    lifecycle_owner: Literal["stack", "pathways"] = Field(
        default="stack",
        description="Who writes the bucket's lifecycle rules. pathways turns --enable_gcs_olm on, "
        "which needs permission to update the bucket.",
    )
    force_destroy: bool = Field(default=False, description="Let pulumi destroy delete a bucket that still holds objects.")


class EnvVar(Section):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")
    value: str


class Workload(Section):
    """The Pathways JobSet."""

    mode: Literal["interactive", "batch"] = Field(
        default="interactive", description="interactive: no client container; batch: the client runs in the head pod."
    )
    name: DnsLabel = Field(default="pathways", description="Name of the JobSet.")
    namespace: DnsLabel = "default"
    image: str | None = Field(default=None, description="Batch: image of the JAX client.")
    command: list[str] = Field(default_factory=list, description="Batch: command of the JAX client.")
    args: list[str] = Field(default_factory=list)
    env: list[EnvVar] = Field(default_factory=list)
    max_restarts: int = Field(default=0, ge=0, le=2**31 - 1, description="Restarts of the whole JobSet before it fails.")


class JobSetController(Section):
    """The JobSet controller."""

    install: bool = Field(default=True, description="false: the cluster has a JobSet controller already.")
    chart: str = "oci://registry.k8s.io/jobset/charts/jobset"
    version: str | None = Field(default="0.11.1", description="Chart version; null for a chart in a folder.")


class Settings(Section):
    """Everything a stack file can say."""

    stack: str
    project: ProjectId
    region: Region
    platform: Literal["gke"] = "gke"
    name: DnsLabel = Field(description="Name of the deployment and the stem of every name Google sees.")
    slices: Slices
    network: Network = Network()
    cluster: Cluster = Cluster()
    head: Head = Head()
    runtime: Runtime = Runtime()
    scratch: Scratch = Scratch()
    workload: Workload = Workload()
    jobset: JobSetController = JobSetController()
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict, description="Labels of every Google resource.")

    @model_validator(mode="before")
    @classmethod
    def _name_from_stack(cls, values: Any) -> Any:
        if isinstance(values, dict) and "name" not in values:
            return {**values, "name": names.stem(str(values.get("stack", "")))}
        return values
