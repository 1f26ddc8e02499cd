"""What every part of compute shares: scopes, URLs, references, lists and operations."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rehearsal.google import places
from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud, fresh_number, now
from rehearsal.google.errors import invalid, not_found
from rehearsal.google.projects import Project

Json = dict[str, Any]

SERVICE = Service("compute", ("v1", "beta"), camel_case=True)
TITLE = "Compute Engine API"
BASE = "https://www.googleapis.com/compute/v1/"
FILTER_TERM = re.compile(r'\(?\s*([\w.]+)\s*(!=|=|eq|ne|:)\s*"?([^"()\s]*)"?\s*\)?')


@dataclass(frozen=True)
class Scope:
    """Where a resource lies: `path` is global, regions/REGION or zones/ZONE."""

    project: Project
    path: str

    @property
    def location(self) -> str:
        return self.path.split("/")[-1]

    def resource(self, collection: str, name: str) -> str:
        """The relative name, projects/PROJECT/SCOPE/COLLECTION/NAME."""
        return f"projects/{self.project.id}/{self.path}/{collection}/{name}"

    def fields(self) -> Json:
        """The field that names the scope in a resource of it."""
        if self.path == "global":
            return {}
        return {self.path.split("/")[0].removesuffix("s"): f"{BASE}projects/{self.project.id}/{self.path}"}


def scope_of(cloud: Cloud, call: Call) -> Scope:
    """The scope of a request. Raises GoogleError where the project, API, region or zone is not there."""
    project = project_of(cloud, call)
    if zone := call.path.get("zone"):
        if not places.is_zone(zone):
            raise invalid(f"Invalid value for field 'zone': '{zone}'. Unknown zone.", "invalid")
        return Scope(project, f"zones/{zone}")
    if region := call.path.get("region"):
        if not places.is_region(region):
            raise invalid(f"Invalid value for field 'region': '{region}'. Unknown region.", "invalid")
        return Scope(project, f"regions/{region}")
    return Scope(project, "global")


def project_of(cloud: Cloud, call: Call) -> Project:
    project = cloud.projects.get(call.path["project"])
    cloud.projects.require_service(project, "compute.googleapis.com", TITLE)
    return project


def load(cloud: Cloud, name: str) -> Json:
    """The resource of a relative name."""
    stored = cloud.store.get(f"compute/{name}")
    if stored is None:
        raise not_found(f"The resource '{name}' was not found")
    return stored


def reference(cloud: Cloud, project: Project, text: str, collection: str, region: str = "") -> str:
    """The relative name for a URL, a partial URL or a plain name of a resource, which need not exist."""
    parts = re.sub(r"^https?://[^/]+/compute/[^/]+/", "", text).strip("/").split("/")
    if parts[0] != "projects":
        middle = parts[:-2] or ([f"regions/{region}"] if region else ["global"])
        parts = ["projects", project.id, *middle, collection, parts[-1]]
    elif len(parts) > 1 and parts[1].isdigit():
        parts[1] = cloud.projects.get(parts[1]).id
    return "/".join(parts)


def must_exist(cloud: Cloud, name: str, field: str) -> Json:
    """The resource that a field refers to, by relative name."""
    stored = cloud.store.get(f"compute/{name}")
    if stored is None:
        raise invalid(
            f"Invalid value for field '{field}': '{name}'. The referenced resource '{name}' cannot be found.",
            "invalid",
        )
    return stored


def users(cloud: Cloud, name: str) -> list[str]:
    """Relative names of what refers to a resource: other compute resources, clusters and node pools."""
    project = name.split("/")[1]
    found = []
    for service in ("compute", "container", "hypercomputecluster"):
        for key, document in cloud.store.list(f"{service}/projects/{project}/").items():
            other = key.removeprefix(f"{service}/")
            if other != name and "/operations/" not in key and any(_refers(v, name) for v in _strings(document)):
                found.append(other)
    return found


def _refers(value: str, name: str) -> bool:
    return value == name or value.endswith("/" + name)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def operation(cloud: Cloud, scope: Scope, kind: str, target: Json) -> Json:
    """An operation that is running in this answer and done at the next look."""
    name = f"operation-{uuid.uuid4()}"
    path = scope.resource("operations", name)
    time = now()
    record = {
        "kind": "compute#operation",
        "id": fresh_number(),
        "name": name,
        **scope.fields(),
        "operationType": kind,
        "targetLink": target["selfLink"],
        "targetId": target["id"],
        "status": "DONE",
        "user": "owner@example.com",
        "progress": 100,
        "insertTime": time,
        "startTime": time,
        "endTime": time,
        "selfLink": BASE + path,
    }
    cloud.store.put(f"compute/{path}", record)
    running = {key: value for key, value in record.items() if key != "endTime"}
    return {**running, "status": "RUNNING", "progress": 0}


def listing(call: Call, kind: str, path: str, items: Iterable[Json]) -> Json:
    """A list answer: filtered, in order of name, a page at a time."""
    chosen = sorted((item for item in items if _matches(item, call.query.get("filter", ""))), key=lambda i: i["name"])
    start = int(call.query.get("pageToken") or 0)
    size = int(call.query.get("maxResults") or 500)
    answer: Json = {"kind": kind, "id": path, "items": chosen[start : start + size], "selfLink": BASE + path}
    if start + size < len(chosen):
        answer["nextPageToken"] = str(start + size)
    return answer


def aggregated(call: Call, kind: str, collection: str, project: Project, items: Iterable[Json]) -> Json:
    """An aggregated list: items by the scope they lie in."""
    by_scope: dict[str, Json] = {}
    for item in items:
        if _matches(item, call.query.get("filter", "")):
            scope = "/".join(item["selfLink"].removeprefix(BASE).split("/")[2:-2])
            by_scope.setdefault(scope, {collection: []})[collection].append(item)
    path = f"projects/{project.id}/aggregated/{collection}"
    return {"kind": kind, "id": path, "items": by_scope, "selfLink": BASE + path}


def _matches(item: Json, expression: str) -> bool:
    """Whether an item passes a filter: comparisons of fields with = != eq ne :, all of which must hold."""
    rest = re.sub(r"\bAND\b", " ", expression).strip()
    while rest:
        term = FILTER_TERM.match(rest)
        if term is None:
            raise invalid(f"Invalid value for field 'filter': '{expression}'. The rehearsal reads FIELD = VALUE terms.")
        value: Any = item
        for part in term[1].split("."):
            value = value.get(part, "") if isinstance(value, dict) else ""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        wanted = re.escape(term[3]).replace(r"\*", ".*") if term[2] in ("=", "!=", ":") else term[3]
        if bool(re.fullmatch(wanted, text)) == (term[2] in ("!=", "ne")):
            return False
        rest = rest[term.end() :].strip()
    return True
