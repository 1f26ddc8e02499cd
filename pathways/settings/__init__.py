"""The stack file as typed settings. Keys are camelCase in YAML."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from pathways import names
from pathways.settings.base import DnsLabel, LabelKey, LabelValue, ProjectId, Region, Section
from pathways.settings.cluster import Cluster, Head, JobSetController, Kueue, Network
from pathways.settings.runtime import ColocatedPython, Component, EnvVar, Runtime, Scratch
from pathways.settings.slices import Capacity, Slices
from pathways.settings.workload import Reach, Workload

__all__ = [
    "Capacity",
    "Cluster",
    "ColocatedPython",
    "Component",
    "EnvVar",
    "Head",
    "JobSetController",
    "Kueue",
    "Network",
    "Reach",
    "Runtime",
    "Scratch",
    "Settings",
    "Slices",
    "Workload",
]


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
    reach: Reach = Reach()
    jobset: JobSetController = JobSetController()
    kueue: Kueue = Kueue()
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict, description="Labels of every Google resource.")

    @model_validator(mode="before")
    @classmethod
    def _name_from_stack(cls, values: Any) -> Any:
        if isinstance(values, dict) and "name" not in values:
            return {**values, "name": names.stem(str(values.get("stack", "")))}
        return values
