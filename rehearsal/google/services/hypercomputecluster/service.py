"""What the parts of Cluster Director share."""

from __future__ import annotations

from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.projects import Project

Json = dict[str, Any]

NAME = "hypercomputecluster.googleapis.com"
PREFIX = "hypercomputecluster.projects.locations."
KEY = "hypercomputecluster/"
"""How keys of its documents begin; a relative name follows."""


def _start(cloud: Cloud) -> None:
    from rehearsal.google.services.hypercomputecluster import work

    work.register(cloud)


SERVICE = Service(
    "hypercomputecluster",
    ("v1",),
    start=_start,
)


def parent_of(cloud: Cloud, call: Call) -> tuple[Project, str]:
    """The project and the region of a request. Raises GoogleError where the API or the region is not there."""
    project = cloud.projects.get(call.path["projectsId"])
    cloud.projects.require_service(project, NAME, "Hypercompute Cluster API")
    location = call.path["locationsId"]
    if location != "-" and not places.is_region(location):
        raise invalid(f"Location '{location}' is not valid: clusters are in a region, such as us-east5.")
    return project, location
