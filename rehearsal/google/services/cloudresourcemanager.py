"""Resource Manager: projects and their IAM policies. A project exists as soon as somebody names it."""

from __future__ import annotations

from typing import Any

from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import conflict
from rehearsal.google.policies import policy_of, set_policy
from rehearsal.google.project_roles import granted
from rehearsal.google.projects import Project

Json = dict[str, Any]

SERVICE = Service("cloudresourcemanager", ("v1", "v3"))
TITLE = "Cloud Resource Manager API"
STALE = "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff."
OWNER = [{"role": "roles/owner", "members": ["user:owner@example.com"]}]


def _project(cloud: Cloud, call: Call, switched_on: bool = True) -> Project:
    name = call.path.get("projectId") or call.path.get("projectsId") or call.path["resource"]
    project = cloud.projects.get(name)
    if switched_on:
        cloud.projects.require_service(project, "cloudresourcemanager.googleapis.com", TITLE)
    return project


def _policy_key(project: Project) -> str:
    return f"policy/projects/{project.id}"


def _describe(project: Project, version: str) -> Json:
    if version == "v1":
        return {
            "projectNumber": project.number,
            "projectId": project.id,
            "lifecycleState": "ACTIVE",
            "name": project.id,
            "createTime": project.created,
        }
    return {
        "name": f"projects/{project.number}",
        "projectId": project.id,
        "state": "ACTIVE",
        "displayName": project.id,
        "createTime": project.created,
        "updateTime": project.created,
    }


@SERVICE.handles("cloudresourcemanager.projects.get")
def get(cloud: Cloud, call: Call) -> Json:
    return _describe(_project(cloud, call, switched_on=False), call.version)


@SERVICE.handles("cloudresourcemanager.projects.list", "cloudresourcemanager.projects.search")
def list_projects(cloud: Cloud, call: Call) -> Json:
    return {"projects": [_describe(project, call.version) for project in cloud.projects.all() if project.active]}


@SERVICE.handles("cloudresourcemanager.projects.getAncestry")
def get_ancestry(cloud: Cloud, call: Call) -> Json:
    return {"ancestor": [{"resourceId": {"type": "project", "id": _project(cloud, call).id}}]}


@SERVICE.handles("cloudresourcemanager.projects.getIamPolicy")
def get_iam_policy(cloud: Cloud, call: Call) -> Json:
    return policy_of(cloud, _policy_key(_project(cloud, call)), OWNER)


@SERVICE.handles("cloudresourcemanager.projects.setIamPolicy")
def set_iam_policy(cloud: Cloud, call: Call) -> Json:
    key = _policy_key(_project(cloud, call))
    mask = call.body.get("updateMask", "")
    return set_policy(cloud, key, call.body.get("policy", {}), conflict(STALE), OWNER, mask)


@SERVICE.handles("cloudresourcemanager.projects.testIamPermissions")
def test_iam_permissions(cloud: Cloud, call: Call) -> Json:
    project = _project(cloud, call)
    return {"permissions": granted(cloud, call.member, project.id, call.body.get("permissions", []))}
