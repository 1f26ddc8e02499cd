"""Which Pathways runs, and where it keeps temporary files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways import images
from pathways.settings.base import Section


class EnvVar(Section):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")
    value: str


class Component(Section):
    """What a server of Pathways gets beyond what the stack derives."""

    args: list[str] = Field(default_factory=list, description="Further arguments, such as --xla_flag=value.")
    env: list[EnvVar] = Field(default_factory=list)


class ColocatedPython(Section):
    """The colocated-Python server: user code that runs beside the worker on each TPU VM."""

    python: str = Field(pattern=r"^3\.\d+$", description='Python version of the client, such as "3.12".')
    image: str = Field(description="Image of the sidecar; its tag names the Python and JAX versions.")
    shared_memory_gib: int | None = Field(default=None, ge=1, description="Size limit of the shared memory in GiB.")


class Runtime(Section):
    """Which Pathways images run, and with what."""

    jax: str = Field(
        default="0.11.1",
        pattern=r"^\d+\.\d+\.\d+$",
        description="JAX version of the client; the images must match it.",
    )
    image_repository: str = images.REPOSITORY
    image_tag: str | None = Field(default=None, description="Tag of both images; default jax-<jax>.")
    allow_latest: bool = Field(default=False, description="Accept the tag latest, which may change under you.")
    resource_manager: Component = Component()
    proxy: Component = Component()
    worker: Component = Component()
    colocated_python: ColocatedPython | None = None

    @property
    def tag(self) -> str:
        return self.image_tag or f"jax-{self.jax}"


class Scratch(Section):
    """The bucket for temporary files."""

    bucket: str | None = Field(default=None, description="Bucket name; default <project>-<name>-scratch.")
    existing: bool = Field(default=False, description="The bucket exists; the stack only grants access to it.")
    prefix: str = Field(
        default="",
        pattern=r"^([-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)*)?$",
        description="Folder in the bucket.",
    )
    retention_days: int = Field(default=14, ge=1, le=3650, description="Age in days at which objects are deleted.")
    lifecycle_owner: Literal["stack", "pathways"] = Field(
        default="stack",
        description="Who writes the bucket's lifecycle rules. pathways turns --enable_gcs_olm on, "
        "which needs permission to update the bucket.",
    )
    force_destroy: bool = Field(
        default=False, description="Let pulumi destroy delete a bucket that still holds objects."
    )
