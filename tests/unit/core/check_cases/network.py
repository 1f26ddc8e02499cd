"""Cases for pathways/checks/network.py."""

from __future__ import annotations

from tests.unit.core.check_cases import SLICES, Case

CASES: list[Case] = [
    (
        "address-ranges",
        {"pathways:network": {"nodeRange": "10.0.0.0/29"}},
        "pathways:network.nodeRange",
        {"pathways:network": {"nodeRange": "10.0.0.0/27"}},
    ),
    (
        "address-ranges",
        {"pathways:network": {"podRange": "10.4.0.0/24"}},
        "pathways:network.podRange",
        {"pathways:network": {"podRange": "10.4.0.0/22"}},
    ),
    ("address-ranges", {"pathways:network": {"podRange": "10.0.0.0/14"}}, "pathways:network.podRange", {}),
    ("address-ranges", {"pathways:network": {"nodeRange": "10.0.0.1/20"}}, "pathways:network.nodeRange", {}),
    (
        "existing-network",
        {"pathways:network": {"existing": "shared"}},
        "pathways:network.existingSubnetwork",
        {"pathways:network": {"existing": "shared", "existingSubnetwork": "east"}},
    ),
    (
        "existing-network",
        {"pathways:network": {"existing": "shared", "existingSubnetwork": "east", "mtu": 1500}},
        "pathways:network.mtu",
        {},
    ),
    ("existing-network", {"pathways:network": {"podRangeName": "p"}}, "pathways:network.podRangeName", {}),
    (
        "second-network",
        {
            "gcp:region": "us-west4",
            SLICES: {"accelerator": "v5e", "topology": "4x4", "zone": "us-west4-a"},
            "pathways:network": {"second": "192.168.64.0/18"},
        },
        "pathways:network.second",
        {"pathways:network": {"second": "192.168.64.0/18"}},
    ),
    (
        "dranet",
        {
            f"{SLICES}.accelerator": "v5p",
            f"{SLICES}.topology": "2x2x2",
            f"{SLICES}.zone": "us-east5-a",
            f"{SLICES}.dranet": True,
        },
        f"{SLICES}.dranet",
        {f"{SLICES}.dranet": True},
    ),
    (
        "dranet",
        {f"{SLICES}.dranet": True, "pathways:network": {"second": "192.168.0.0/16"}},
        f"{SLICES}.dranet",
        {"pathways:network": {"second": "192.168.0.0/16"}},
    ),
]
