"""Cloud Logging: entries that were written, and those of the faults that are switched on."""

from __future__ import annotations

import re
import uuid
from typing import Any

from rehearsal.google import faults
from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud, now
from rehearsal.google.documents import get_path
from rehearsal.google.errors import invalid
from rehearsal.google.services.container.records import clusters_in

Json = dict[str, Any]

SERVICE = Service("logging", ("v2",))
NAME = "logging.googleapis.com"
TITLE = "Cloud Logging API"
# FIELD OPERATOR "VALUE"; a part of a field's name that holds other characters is quoted.
TERM = re.compile(r'((?:[\w-]+|"[^"]+")(?:\.(?:[\w-]+|"[^"]+"))*)\s*(>=|<=|=|:)\s*"([^"]*)"')
JOB_SET = "k8s-pod/jobset_sigs_k8s_io/jobset-name"
REPLICATED_JOB = "k8s-pod/jobset_sigs_k8s_io/replicatedjob-name"
JOB_INDEX = "k8s-pod/jobset_sigs_k8s_io/job-index"


@SERVICE.handles("logging.entries.write")
def write(cloud: Cloud, call: Call) -> Json:
    for entry in call.body.get("entries", []):
        complete = {"logName": call.body.get("logName", ""), "resource": call.body.get("resource", {}), **entry}
        project = complete["logName"].split("/")[1] if complete["logName"].count("/") > 2 else ""
        cloud.projects.require_service(cloud.projects.get(project), NAME, TITLE)
        complete.setdefault("timestamp", now())
        complete.setdefault("insertId", uuid.uuid4().hex[:16])
        cloud.store.put(f"logging/{project}/{complete['timestamp']} {complete['insertId']}", complete)
    return {}


@SERVICE.handles("logging.entries.list")
def list_entries(cloud: Cloud, call: Call) -> Json:
    """Entries that the filter selects, in order of time. It may hold comparisons, all of which must be true."""
    terms = _terms(call.body.get("filter", ""))
    found: list[Json] = []
    for name in call.body.get("resourceNames", []):
        project = cloud.projects.get(name.removeprefix("projects/"))
        cloud.projects.require_service(project, NAME, TITLE)
        found += [*cloud.store.list(f"logging/{project.id}/").values(), *_of_faults(cloud, project.id, terms)]
    chosen = sorted((each for each in found if _selected(each, terms)), key=lambda each: each["timestamp"])
    if call.body.get("orderBy") == "timestamp desc":
        chosen.reverse()
    size, start = int(call.body.get("pageSize") or 50), int(call.body.get("pageToken") or 0)
    answer: Json = {"entries": chosen[start : start + size]}
    if start + size < len(chosen):
        answer["nextPageToken"] = str(start + size)
    return answer


def _terms(text: str) -> list[tuple[list[str], str, str]]:
    if re.sub(r"\bAND\b", "", TERM.sub("", text)).strip():
        raise invalid(f'Unparseable filter: the rehearsal reads FIELD = "VALUE" terms, not {text!r}.')
    return [(_parts(field), operator, value) for field, operator, value in TERM.findall(text)]


def _parts(field: str) -> list[str]:
    return [part.strip('"') for part in re.findall(r'[\w-]+|"[^"]+"', field)]


def _selected(entry: Json, terms: list[tuple[list[str], str, str]]) -> bool:
    for parts, operator, value in terms:
        held: Any = entry
        for part in parts:
            held = held.get(part) if isinstance(held, dict) else None
        if held is None or not _holds(str(held), operator, value):
            return False
    return True


def _holds(held: str, operator: str, value: str) -> bool:
    # RFC 3339 in one time zone compares as text.
    if operator in (">=", "<="):
        return held >= value if operator == ">=" else held <= value
    return value in held if operator == ":" else held == value


def _of_faults(cloud: Cloud, project: str, terms: list[tuple[list[str], str, str]]) -> list[Json]:
    """What components of Pathways would write with the faults that are on, in every cluster of the project."""
    asked = {parts[-1]: value for parts, operator, value in terms if operator == "="}
    job_set, namespace = asked.get(JOB_SET, "pathways"), asked.get("namespace_name", "default")
    lines = [line for fault in faults.active(cloud) for line in fault.log]
    return [
        _entry(project, record.location, str(get_path(record.cluster, "name")), namespace, job_set, container, text)
        for record in clusters_in(cloud, project)
        for container, text in lines
    ]


def _entry(project: str, location: str, cluster: str, namespace: str, job_set: str, container: str, text: str) -> Json:
    job = "worker" if container == "worker" else "pathways-head"
    return {
        "logName": f"projects/{project}/logs/stderr",
        "insertId": uuid.uuid5(uuid.NAMESPACE_URL, cluster + text).hex[:16],
        "timestamp": now(),
        "severity": "ERROR",
        "textPayload": text.format(head=f"{job_set}-pathways-head-0-0.{job_set}"),
        "resource": {
            "type": "k8s_container",
            "labels": {
                "project_id": project,
                "location": location,
                "cluster_name": cluster,
                "namespace_name": namespace,
                "pod_name": f"{job_set}-{job}-0-0-fault",
                "container_name": container,
            },
        },
        "labels": {JOB_SET: job_set, REPLICATED_JOB: job, JOB_INDEX: "0"},
    }
