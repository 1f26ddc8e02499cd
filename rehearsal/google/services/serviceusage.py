"""Service Usage: which APIs a project has enabled. The other services of the double refuse what is not."""

from __future__ import annotations

import re
import uuid
from typing import Any

from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import failed_precondition, invalid, not_found
from rehearsal.google.projects import Project

Json = dict[str, Any]

SERVICE = Service("serviceusage", ("v1", "v1beta1"))
SERVICE_NAME = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9-]+)+")
REQUIRES = {
    "container.googleapis.com": (
        "artifactregistry.googleapis.com",
        "compute.googleapis.com",
        "dns.googleapis.com",
        "iam.googleapis.com",
        "iamcredentials.googleapis.com",
        "logging.googleapis.com",
        "monitoring.googleapis.com",
        "networkconnectivity.googleapis.com",
        "oslogin.googleapis.com",
    ),
    "compute.googleapis.com": ("oslogin.googleapis.com",),
    "hypercomputecluster.googleapis.com": ("compute.googleapis.com",),
}
"""What Google enables along with a service."""
TYPES = "type.googleapis.com/google.api.serviceusage.v1."


def project_of(cloud: Cloud, call: Call) -> Project:
    """The project of a request."""
    kind = call.path[f"{call.version}Id"]
    if kind != "projects":
        raise invalid(f"The rehearsal knows services of projects, not of {kind}.")
    return cloud.projects.get(call.path[f"{call.version}Id1"])


def _describe(project: Project, service: str) -> Json:
    parent = f"projects/{project.number}"
    state = "ENABLED" if service in project.services else "DISABLED"
    return {
        "name": f"{parent}/services/{service}",
        "config": {"name": service},
        "state": state,
        "parent": parent,
    }


def _operation(cloud: Cloud, response: Json) -> Json:
    """An operation that the next look finds done, as Google's take a moment."""
    name = f"operations/acf.p2-{uuid.uuid4()}"
    cloud.store.put(f"serviceusage/{name}", {"name": name, "done": True, "response": response})
    return {"name": name}


def _enable(cloud: Cloud, project: Project, services: list[str]) -> None:
    for service in services:
        if not SERVICE_NAME.fullmatch(service):
            raise not_found(f"Not found or permission denied for service(s): {service}.")
        for needed in (service, *REQUIRES.get(service, ())):
            if needed not in project.services:
                project.services.append(needed)
    cloud.projects.save(project)


@SERVICE.handles("serviceusage.services.enable")
def enable(cloud: Cloud, call: Call) -> Json:
    project, service = project_of(cloud, call), call.path["servicesId"]
    _enable(cloud, project, [service])
    return _operation(cloud, {"@type": TYPES + "EnableServiceResponse", "service": _describe(project, service)})


@SERVICE.handles("serviceusage.services.batchEnable")
def batch_enable(cloud: Cloud, call: Call) -> Json:
    project, services = project_of(cloud, call), call.body.get("serviceIds", [])
    if not 1 <= len(services) <= 20:
        raise invalid(f"A batch enables 1 to 20 services, not {len(services)}.")
    _enable(cloud, project, services)
    described = [_describe(project, service) for service in services]
    return _operation(cloud, {"@type": TYPES + "BatchEnableServicesResponse", "services": described})


@SERVICE.handles("serviceusage.services.disable")
def disable(cloud: Cloud, call: Call) -> Json:
    project, service = project_of(cloud, call), call.path["servicesId"]
    users = [name for name in project.services if service in REQUIRES.get(name, ())]
    if users and not call.body.get("disableDependentServices"):
        raise failed_precondition(
            f"The service {service} is depended on by the following active service(s): {', '.join(users)}; "
            "Please specify disable_dependent_services=true if you want to proceed with disabling "
            "all services."
        )
    project.services = [name for name in project.services if name not in {service, *users}]
    cloud.projects.save(project)
    return _operation(cloud, {"@type": TYPES + "DisableServiceResponse", "service": _describe(project, service)})


@SERVICE.handles("serviceusage.services.get")
def get(cloud: Cloud, call: Call) -> Json:
    return _describe(project_of(cloud, call), call.path["servicesId"])


@SERVICE.handles("serviceusage.services.batchGet")
def batch_get(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call)
    names = call.query.get("names", "")
    return {"services": [_describe(project, names.rsplit("/", 1)[-1])] if names else []}


@SERVICE.handles("serviceusage.services.list")
def list_services(cloud: Cloud, call: Call) -> Json:
    """Enabled services only: the double has no list of all that Google offers."""
    project = project_of(cloud, call)
    if call.query.get("filter") == "state:DISABLED":
        return {}
    return {"services": [_describe(project, service) for service in sorted(project.services)]}


@SERVICE.handles("serviceusage.operations.get")
def get_operation(cloud: Cloud, call: Call) -> Json:
    found = cloud.store.get(f"serviceusage/operations/{call.path['operationsId']}")
    if found is None:
        raise not_found(f"Operation not found: operations/{call.path['operationsId']}")
    return found
