"""Reservations of VMs, which a specific one gives only to those who name it."""

from __future__ import annotations

from typing import Any

from rehearsal.google import places
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.compute.resources import Collection
from rehearsal.google.services.compute.service import Scope

Json = dict[str, Any]


def _insert(_cloud: Cloud, _scope: Scope, body: Json) -> Json:
    specific = body.get("specificReservation")
    if not specific:
        raise invalid("Required field 'resource.specificReservation' not specified.", "required")
    machine = specific.get("instanceProperties", {}).get("machineType", "")
    if not places.machine_exists(machine):
        raise invalid(f"Invalid value for field 'resource.specificReservation': '{machine}'.", "invalid")
    given = {**specific, "count": specific.get("count", "0"), "inUseCount": "0", "assuredCount": specific.get("count")}
    return {
        "status": "READY",
        "specificReservationRequired": False,
        "shareSettings": {"shareType": "LOCAL"},
        **body,
        "specificReservation": given,
    }


Collection("reservations", "reservation", _insert, verbs=("aggregatedList",)).register()
