"""Projects: any well-formed id is one, until the state says it is gone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rehearsal.google.errors import GoogleError, denied
from rehearsal.google.store import Store

Json = dict[str, Any]

PROJECT_ID = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]")
ENABLED_IN_NEW_PROJECTS = ("serviceusage.googleapis.com", "storage.googleapis.com", "logging.googleapis.com")
"""What a new project has switched on, as far as it matters here."""


@dataclass
class Project:
    """One project with the services that are enabled in it."""

    id: str
    number: str
    created: str
    active: bool = True
    services: list[str] = field(default_factory=lambda: list(ENABLED_IN_NEW_PROJECTS))
    workload_pool: bool = False
    """Whether PROJECT.svc.id.goog exists: the first cluster with workload identity makes it, and it stays."""


class Projects:
    """Projects by id or number. A project comes into being when it is first asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> Project:
        """The project of an id or a number. Raises GoogleError where there is none."""
        if name.isdigit():
            known = self._store.get(f"project-number/{name}")
            if known is None:
                raise _no_project(name)
            name = known["id"]
        stored = self._store.get(f"project/{name}")
        if stored is None:
            if not PROJECT_ID.fullmatch(name):
                raise _no_project(name)
            project = Project(name, project_number(name), datetime.now(UTC).isoformat(timespec="seconds"))
            self.save(project)
            self._store.put(f"project-number/{project.number}", {"id": name})
            return project
        project = Project(**stored)
        if not project.active:
            raise _no_project(name)
        return project

    def all(self) -> list[Project]:
        return [Project(**stored) for stored in self._store.list("project/").values()]

    def save(self, project: Project) -> None:
        self._store.put(f"project/{project.id}", vars(project))

    def require_service(self, project: Project, service: str, title: str) -> None:
        """Raises the error of a service that is not enabled, as Google words it."""
        if service in project.services:
            return
        url = f"https://console.developers.google.com/apis/api/{service}/overview?project={project.number}"
        message = (
            f"{title} has not been used in project {project.number} before or it is disabled. Enable "
            "it by visiting "
            f"{url} then retry. If you enabled this API recently, wait a few minutes for the action "
            "to propagate to "
            "our systems and retry."
        )
        metadata = {
            "service": service,
            "serviceTitle": title,
            "consumer": f"projects/{project.number}",
            "containerInfo": project.number,
            "activationUrl": url,
        }
        info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "SERVICE_DISABLED",
            "domain": "googleapis.com",
            "metadata": metadata,
        }
        links = [{"description": "Google developers console API activation", "url": url}]
        help_links = {"@type": "type.googleapis.com/google.rpc.Help", "links": links}
        raise GoogleError(403, "PERMISSION_DENIED", "accessNotConfigured", message, [info, help_links])


def project_number(id: str) -> str:
    """A stable number of twelve digits."""
    return str(10**11 + int(hashlib.sha256(id.encode()).hexdigest(), 16) % (9 * 10**11))


def _no_project(name: str) -> GoogleError:
    error = denied(f"Permission denied on resource project {name}.")
    error.details = [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "CONSUMER_INVALID",
            "domain": "googleapis.com",
            "metadata": {"consumer": f"projects/{name}"},
        }
    ]
    return error
