"""The TPU slices and how they are obtained."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pathways.settings.base import ProjectId, Section, Zone

CapacityType = Literal["onDemand", "reservation", "spot", "flexStart", "calendar"]


class Capacity(Section):
    """How the TPU VMs are obtained."""

    type: CapacityType = Field(
        default="onDemand",
        description="onDemand; reservation: a specific reservation; spot: cheap and preemptible; flexStart: waits "
        "for capacity, runs at most 7 days; calendar: a future reservation in calendar mode.",
    )
    reservation: str | None = Field(default=None, description="Name of the reservation.")
    reservation_project: ProjectId | None = Field(
        default=None, description="Project that shares the reservation, if it is another."
    )
    reservation_block: str | None = Field(default=None, description="Block of the reservation.")
    reservation_sub_block: str | None = Field(default=None, description="Sub-block of the block.")
    max_run_hours: int | None = Field(default=None, ge=1, le=168, description="flexStart: hours until the VMs end.")
    queued: bool = Field(
        default=False, description="flexStart: queued provisioning, so that all slices' VMs come at once; needs kueue."
    )


class Slices(Section):
    """The TPU slices: all of one shape, since one Pathways cluster is homogeneous."""

    accelerator: str = Field(description="TPU generation: v4, v5e, v5p, v6e or tpu7x.")
    topology: str = Field(description="Chips along each axis of one slice, such as 4x4 or 2x2x4.")
    count: int = Field(default=1, ge=1, le=1000, description="Number of slices; each is one node pool.")
    zone: Zone = Field(description="Zone of the TPU VMs.")
    machine_type: str | None = Field(default=None, description="Machine type, where a topology exists on several.")
    capacity: Capacity = Capacity()
    autoscaling: bool = Field(
        default=False,
        description="Let GKE scale each slice between no VM and all of its VMs, as pods ask for them.",
    )
    dranet: bool = Field(
        default=False,
        description="Give each VM its further network cards by DRANET, GKE's driver for networks as resources; v6e.",
    )
    protect: bool = Field(
        default=False,
        description="Refuse to delete or replace a slice's node pool until this is false again.",
    )
