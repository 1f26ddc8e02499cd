"""What the parts of IAM share."""

from __future__ import annotations

from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.projects import Project

SERVICE = Service("iam", ("v1",))
TITLE = "Identity and Access Management (IAM) API"


def project_of(cloud: Cloud, name: str) -> Project:
    """The project, which must have the IAM API enabled."""
    project = cloud.projects.get(name)
    cloud.projects.require_service(project, "iam.googleapis.com", TITLE)
    return project


def project_of_call(cloud: Cloud, call: Call) -> Project:
    return project_of(cloud, call.path["projectsId"])
