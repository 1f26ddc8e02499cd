"""The TPU slices and how they are obtained."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways.settings.base import ProjectId, Section, Zone


class Capacity(Section):
    """How the TPU VMs are obtained."""

    type: Literal["onDemand", "reservation", "spot"] = "onDemand"
    reservation: str | None = Field(default=None, description="Name of the specific reservation.")
    reservation_project: ProjectId | None = Field(
        default=None, description="Project that shares the reservation, if another."
    )


class Slices(Section):
    """The TPU slices: all of one shape, since one Pathways cluster is homogeneous."""

    accelerator: str = Field(description="TPU generation: v4, v5e, v5p, v6e or tpu7x.")
    topology: str = Field(description="Chips along each axis of one slice, such as 4x4 or 2x2x4.")
    count: int = Field(default=1, ge=1, le=1000, description="Number of slices; each is one node pool.")
    zone: Zone = Field(description="Zone of the TPU VMs.")
    machine_type: str | None = Field(
        default=None, description="Machine type, where a topology exists on several."
    )
    capacity: Capacity = Capacity()
