"""What every part of GKE shares: where a request points, and the cluster or pool it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import denied, not_found
from rehearsal.google.projects import Project
from rehearsal.google.protos import enum_name
from rehearsal.google.services.container.records import ClusterRecord, PoolRecord

Json = dict[str, Any]

SERVICE = Service(
    "container",
    ("v1beta1", "v1"),
    enum_names={v: enum_name(f"google.cloud.container_{v}") for v in ("v1", "v1beta1")},
)
TITLE = "Kubernetes Engine API"
PREFIX = "container.projects.locations."


@dataclass(frozen=True)
class Place:
    """A project and a location, which is a zone or a region."""

    project: Project
    location: str

    @property
    def region(self) -> str:
        return places.region_of(self.location)

    @property
    def is_zone(self) -> bool:
        return self.location != self.region

    @property
    def name(self) -> str:
        return f"projects/{self.project.id}/locations/{self.location}"

    @property
    def link(self) -> str:
        """The part of a self link, where zonal things still lie under zones/."""
        return f"projects/{self.project.id}/{'zones' if self.is_zone else 'locations'}/{self.location}"


def project_of(cloud: Cloud, call: Call) -> Project:
    project = cloud.projects.get(call.path["projectsId"])
    cloud.projects.require_service(project, "container.googleapis.com", TITLE)
    return project


def place_of(cloud: Cloud, call: Call) -> Place:
    """The place of a request. Raises GoogleError where the project, the API or the location is not there."""
    project, location = project_of(cloud, call), call.path["locationsId"]
    if not places.is_zone(location) and not places.is_region(location):
        raise denied(f"Permission denied on 'locations/{location}' (or it may not exist).")
    return Place(project, location)


def cluster_of(cloud: Cloud, call: Call) -> tuple[Place, ClusterRecord]:
    """The cluster of a request."""
    place = place_of(cloud, call)
    name = f"{place.name}/clusters/{call.path['clustersId']}"
    record = ClusterRecord.load(cloud, name)
    if record is None:
        raise not_found(f"Not found: {place.link}/clusters/{call.path['clustersId']}.")
    return place, record


def pool_of(cloud: Cloud, call: Call) -> tuple[Place, ClusterRecord, PoolRecord]:
    """The node pool of a request and its cluster."""
    place, cluster = cluster_of(cloud, call)
    pool = PoolRecord.load(cloud, f"{cluster.name}/nodePools/{call.path['nodePoolsId']}")
    if pool is None:
        shown = f"{place.link}/clusters/{call.path['clustersId']}/nodePools/{call.path['nodePoolsId']}"
        raise not_found(f"Not found: {shown}.")
    return place, cluster, pool
