"""Image names and the rules their tags follow.

Source: Introduction to Pathways on Cloud, table of container images; tag patterns as pathwaysutils reads them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathways.settings import Runtime, Settings

REPOSITORY = "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways"
# Cluster Director's images, and the tag of each JAX version for which Google's page states one.
DIRECTOR_REPOSITORY = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
DIRECTOR_TAGS = {"0.11.1": "20261103-jax_0.11.1"}

# From this JAX version on the proxy's flag has its newer name (Introduction to Pathways on Cloud, Cluster Director).
_ELASTIC_INSTANCES_SINCE = (0, 11, 1)

_PYTHON_IN_TAG = re.compile(r"python[-_]?(\d+\.\d+)")
_JAX_IN_TAG = re.compile(r"jax[-_]?(\d+(?:\.\d+)*)")


def server(runtime: Runtime) -> str:
    """Image of the resource manager and the workers."""
    return f"{runtime.image_repository}/server:{runtime.tag}"


def proxy_server(runtime: Runtime) -> str:
    """Image of the IFRT proxy server."""
    return f"{runtime.image_repository}/proxy_server:{runtime.tag}"


def jax_version(tag: str) -> str | None:
    """JAX version that an image tag names (`20261103-jax_0.11.1` -> `0.11.1`), None where it names none."""
    found = _JAX_IN_TAG.search(tag)
    return found.group(1) if found else None


def python_version(tag: str) -> str | None:
    """Python version that a sidecar's tag names (`20260423-python_3.12-jax_0.10.0` -> `3.12`)."""
    found = _PYTHON_IN_TAG.search(tag)
    return found.group(1) if found else None


def tag_of(image: str) -> str:
    """The tag of an image name; `latest` where none is written, as a container runtime reads it."""
    name, _, tag = image.rpartition(":")
    return tag if name and "/" not in tag else "latest"


def usual_tag(settings: Settings) -> str:
    """The tag that an image of the stack's JAX version has on its platform, as far as Google states one."""
    jax = settings.runtime.jax
    director = settings.platform == "clusterDirector"
    return DIRECTOR_TAGS.get(jax, f"DATE-jax_{jax}") if director else f"jax-{jax}"


def elastic_flag(runtime: Runtime) -> str:
    """Name of the proxy's flag for slices that may be lost, which depends on the image."""
    version = tuple(int(part) for part in (jax_version(runtime.tag) or runtime.jax).split("."))
    return "--num_elastic_instances" if version >= _ELASTIC_INSTANCES_SINCE else "--num_elastic_slices"
