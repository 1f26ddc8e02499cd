"""Artifact Registry, to read: every image has the tags that name a JAX version, and latest."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from rehearsal.google.api import Call, Service
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import not_found

Json = dict[str, Any]

SERVICE = Service("artifactregistry", ("v1",))
TAG = re.compile(r"latest|(.+-)?jax[-_]\d+\.\d+\.\d+|.*python[-_]\d+\.\d+.*")


@SERVICE.handles("artifactregistry.projects.locations.repositories.packages.tags.get")
def get_tag(_cloud: Cloud, call: Call) -> Json:
    package, tag = call.path["packagesId"], call.path["tagsId"]
    if not TAG.fullmatch(tag):
        raise not_found(f'Tag "{tag}" of package "{package}" was not found.')
    place = call.path
    name = (
        f"projects/{place['projectsId']}/locations/{place['locationsId']}/repositories/{place['repositoriesId']}"
        f"/packages/{package}"
    )
    digest = hashlib.sha256(f"{name}:{tag}".encode()).hexdigest()
    return {"name": f"{name}/tags/{tag}", "version": f"{name}/versions/sha256:{digest}"}
