"""Image names and the rules their tags follow.

Source: Introduction to Pathways on Cloud, table of container images; tag patterns as pathwaysutils reads them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathways.settings import Runtime

REPOSITORY = "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways"

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
