"""Cases for pathways/checks/slices.py."""

from __future__ import annotations

from tests.unit.core.check_cases import SLICES, Case

CASES: list[Case] = [
    ("slice-shape", {f"{SLICES}.topology": "4x5"}, f"{SLICES}.topology", {f"{SLICES}.topology": "4x8"}),
    ("slice-shape", {f"{SLICES}.accelerator": "v9"}, f"{SLICES}.accelerator", {}),
    (
        "slice-shape",
        {f"{SLICES}.machineType": "ct6e-standard-1t"},
        f"{SLICES}.machineType",
        {f"{SLICES}.machineType": "ct6e-standard-4t"},
    ),
    (
        "slice-documented-size",
        {
            SLICES: {"accelerator": "v5p", "topology": "16x20x28", "zone": "us-east5-a"},
            "pathways:network": {"nodeRange": "10.0.0.0/18"},
        },
        f"{SLICES}.topology",
        {SLICES: {"accelerator": "v5p", "topology": "4x4x4", "zone": "us-east5-a"}},
    ),
    ("zone-in-region", {"gcp:region": "us-east1"}, f"{SLICES}.zone", {"gcp:region": "us-east5"}),
    ("zone-offers-accelerator", {f"{SLICES}.zone": "us-east5-z"}, f"{SLICES}.zone", {}),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "reservation"}},
        f"{SLICES}.capacity.reservation",
        {f"{SLICES}.capacity": {"type": "reservation", "reservation": "tpus"}},
    ),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "spot", "reservation": "tpus"}},
        f"{SLICES}.capacity.reservation",
        {f"{SLICES}.capacity": {"type": "spot"}},
    ),
    (
        "capacity-flex-start",
        {f"{SLICES}.capacity": {"type": "spot", "maxRunHours": 5}},
        f"{SLICES}.capacity.maxRunHours",
        {f"{SLICES}.capacity": {"type": "flexStart", "maxRunHours": 5}},
    ),
    (
        "capacity-queued",
        {f"{SLICES}.capacity": {"type": "flexStart", "queued": True}, "pathways:kueue": {"enabled": True}},
        f"{SLICES}.capacity.queued",
        {f"{SLICES}.capacity": {"type": "flexStart"}},
    ),
    (
        "capacity-queued-kueue",
        {f"{SLICES}.capacity": {"type": "flexStart", "queued": True}},
        f"{SLICES}.capacity.queued",
        {f"{SLICES}.capacity": {"type": "flexStart", "queued": True}, "pathways:kueue": {"enabled": True}},
    ),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "calendar"}},
        f"{SLICES}.capacity.reservation",
        {f"{SLICES}.capacity": {"type": "calendar", "reservation": "r"}},
    ),
    (
        "capacity-reservation",
        {f"{SLICES}.capacity": {"type": "reservation", "reservation": "r", "reservationSubBlock": "s"}},
        f"{SLICES}.capacity.reservationBlock",
        {},
    ),
    (
        "capacity-spot-multi-host",
        {f"{SLICES}.capacity": {"type": "spot"}},
        f"{SLICES}.capacity.type",
        {f"{SLICES}.capacity": {"type": "spot"}, "pathways:workload": {"maxRestarts": 3}},
    ),
    (
        "autoscaling-fixed-capacity",
        {f"{SLICES}.capacity": {"type": "reservation", "reservation": "r"}, f"{SLICES}.autoscaling": True},
        f"{SLICES}.autoscaling",
        {f"{SLICES}.autoscaling": True},
    ),
]
