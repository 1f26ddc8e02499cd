"""The Pathways JobSet and its JAX client."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways.settings.base import DnsLabel, Section


class EnvVar(Section):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")
    value: str


class Workload(Section):
    """The Pathways JobSet."""

    mode: Literal["interactive", "batch"] = Field(
        default="interactive",
        description="interactive: no client container; batch: the client runs in the head pod.",
    )
    name: DnsLabel = Field(default="pathways", description="Name of the JobSet.")
    namespace: DnsLabel = "default"
    image: str | None = Field(default=None, description="Batch: image of the JAX client.")
    command: list[str] = Field(default_factory=list, description="Batch: command of the JAX client.")
    args: list[str] = Field(default_factory=list)
    env: list[EnvVar] = Field(default_factory=list)
    max_restarts: int = Field(
        default=0, ge=0, le=2**31 - 1, description="Restarts of the whole JobSet before it fails."
    )
