"""What the servers of a JobSet said last, and which are refused: it often tells why a client has no slices."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from pathways import names
from pathways.geometry import count
from pathways.labels import JOB_SET, REPLICATED_JOB
from rehearsal.kubernetes import trouble
from rehearsal.kubernetes.api import Api, ApiError, UnreachableError
from rehearsal.standins.worker import REGISTERED

Json = dict[str, Any]
_MOST = 6
_TIME = re.compile(r"^\d\d:\d\d:\d\d ")


def told(api: Api, namespace: str, client: str, job_set: str = "") -> str:
    """The same as `of`, to be put below what went wrong; empty where there is nothing to tell."""
    lines = of(api, namespace, client, job_set)
    return "\n  ".join(["\nOf the servers:", *lines]) if lines else ""


def of(api: Api, namespace: str, client: str, job_set: str = "") -> list[str]:
    """A line for each server of the head, one for workers that said the same and have not registered, and one for
    each job that the API server lets create no pods.

    `client` is the container of which one knows already what it said. Without a JobSet those of all are meant.
    """
    selector = f"{JOB_SET}={job_set}" if job_set else JOB_SET
    said: dict[str, list[str]] = {}
    refused: list[str] = []
    pods = trouble.within(trouble.PODS, namespace)
    with suppress(ApiError, UnreachableError):
        for pod in api.items(pods, labelSelector=selector):
            name = pod["metadata"]["name"]
            for container in _servers(pod, client):
                line = _last(api, f"{pods}/{name}/log", container)
                if line and REGISTERED not in line:
                    said.setdefault(f"{container} of {{}}: {line}", []).append(name)
        refused = [each.what for each in trouble.refused(api, namespace)]
    lines = [text.replace("{}", _pods(found), 1) for text, found in said.items()]
    return [*lines[:_MOST], *refused[:_MOST]]


def _servers(pod: Json, client: str) -> list[str]:
    """The containers of a pod that speak of slices."""
    spec = pod["spec"]
    head = pod["metadata"]["labels"].get(REPLICATED_JOB) == names.HEAD_JOB
    containers = [*((spec.get("initContainers") or ()) if head else ()), *spec["containers"]]
    return [each["name"] for each in containers if each["name"] != client]


def _last(api: Api, path: str, container: str) -> str:
    try:
        lines = api.text(path, container=container).splitlines()
    except (ApiError, UnreachableError):
        return ""  # it has not started
    return _TIME.sub("", lines[-1]) if lines else ""


def _pods(found: list[str]) -> str:
    return f"pod {found[0]}" if len(found) == 1 else f"{count(len(found), 'pod')} ({found[0]} and others)"
