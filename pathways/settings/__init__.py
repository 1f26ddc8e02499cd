"""The stack file as typed settings. Keys are camelCase in YAML."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from pathways import images, names
from pathways.settings.base import DnsLabel, LabelKey, LabelValue, ProjectId, Region, Section
from pathways.settings.cluster import Cluster, Head, JobSetController, Kueue, Network
from pathways.settings.director import BootDisk, Director, Home, LoginNodes, Nodes
from pathways.settings.runtime import ColocatedPython, Component, EnvVar, Runtime, Scratch
from pathways.settings.slices import Capacity, Slices
from pathways.settings.workload import Reach, Workload

__all__ = [
    "BootDisk",
    "Capacity",
    "Cluster",
    "ColocatedPython",
    "Component",
    "Director",
    "EnvVar",
    "Head",
    "Home",
    "JobSetController",
    "Kueue",
    "LoginNodes",
    "Network",
    "Nodes",
    "Platform",
    "Reach",
    "Runtime",
    "Scratch",
    "Settings",
    "Slices",
    "Workload",
]


Platform = Literal["gke", "clusterDirector"]


class Settings(Section):
    """Everything a stack file can say."""

    stack: str
    project: ProjectId
    region: Region
    platform: Platform = Field(
        default="gke",
        description="gke: a GKE cluster and a JobSet; clusterDirector: a Slurm cluster and a service job.",
    )
    name: DnsLabel = Field(description="Name of the deployment and the stem of every name Google sees.")
    slices: Slices
    network: Network = Network()
    cluster: Cluster = Cluster()
    head: Head = Head()
    runtime: Runtime = Runtime()
    scratch: Scratch = Scratch()
    workload: Workload = Workload()
    reach: Reach = Reach()
    jobset: JobSetController = JobSetController()
    kueue: Kueue = Kueue()
    director: Director = Director()
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict, description="Labels of every Google resource.")

    @property
    def location(self) -> str:
        """The region or zone of the GKE cluster's control plane."""
        return self.cluster.location or self.region

    @model_validator(mode="before")
    @classmethod
    def _name_from_stack(cls, values: Any) -> Any:
        if isinstance(values, dict) and "name" not in values:
            return {**values, "name": names.stem(str(values.get("stack", "")))}
        return values

    @model_validator(mode="before")
    @classmethod
    def _images_of_the_platform(cls, values: Any) -> Any:
        """Cluster Director has images of its own; a stack that names others keeps them."""
        if not isinstance(values, dict) or values.get("platform") != "clusterDirector":
            return values
        runtime = values.get("runtime") or {}
        if not isinstance(runtime, dict):
            return values
        jax = runtime.get("jax", Runtime.model_fields["jax"].default)
        own = {"imageRepository": images.DIRECTOR_REPOSITORY, "imageTag": images.DIRECTOR_TAGS.get(str(jax))}
        return {**values, "runtime": {**{key: value for key, value in own.items() if value}, **runtime}}
