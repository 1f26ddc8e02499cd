"""Compute Engine: what a network for GKE needs, and the instance groups behind node pools."""

from rehearsal.google.services.compute import (
    addresses,
    catalogue,
    firewalls,
    instance_groups,
    networks,
    operations,
    reservations,
    resource_policies,
    routers,
    subnetworks,
)
from rehearsal.google.services.compute.service import SERVICE

__all__ = [
    "SERVICE",
    "addresses",
    "catalogue",
    "firewalls",
    "instance_groups",
    "networks",
    "operations",
    "reservations",
    "resource_policies",
    "routers",
    "subnetworks",
]
