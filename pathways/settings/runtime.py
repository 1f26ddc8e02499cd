"""Which Pathways runs, and where it keeps temporary files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways import images
from pathways.settings.base import Section


class Runtime(Section):
    """Which Pathways images run."""

    jax: str = Field(default="0.11.1", description="JAX version of the client; the images must match it.")
    image_repository: str = images.REPOSITORY
    image_tag: str | None = Field(default=None, description="Tag of both images; default jax-<jax>.")

    @property
    def tag(self) -> str:
        return self.image_tag or f"jax-{self.jax}"


class Scratch(Section):
    """The bucket for temporary files."""

    bucket: str | None = Field(default=None, description="Bucket name; default <project>-<name>-scratch.")
    prefix: str = Field(
        default="", pattern=r"^([-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)*)?$", description="Folder in the bucket."
    )
    retention_days: int = Field(
        default=14, ge=1, le=3650, description="Age in days at which objects are deleted."
    )
    lifecycle_owner: Literal["stack", "pathways"] = Field(
        default="stack",
        description="Who writes the bucket's lifecycle rules. pathways turns --enable_gcs_olm on, "
        "which needs permission to update the bucket.",
    )
    force_destroy: bool = Field(
        default=False, description="Let pulumi destroy delete a bucket that still holds objects."
    )
