"""Cases for pathways/checks/reach.py."""

from __future__ import annotations

from tests.unit.core.check_cases import Case

CASES: list[Case] = [
    (
        "reach-mode",
        {"pathways:reach": {"loadBalancer": {"allowedRanges": ["8.8.8.0/24"]}}},
        "pathways:reach.loadBalancer.allowedRanges[0]",
        {"pathways:reach": {"loadBalancer": {"allowedRanges": ["10.0.0.0/8"]}}},
    ),
    (
        "reach-mode",
        {"pathways:reach": {"loadBalancer": {"allowedRanges": ["10.0.0.1/8"]}}},
        "pathways:reach.loadBalancer.allowedRanges[0]",
        {},
    ),
    (
        "reach-mode",
        {
            "pathways:workload": {"mode": "service"},
            "pathways:reach": {"loadBalancer": {"allowedRanges": ["10.0.0.0/8"]}},
        },
        "pathways:reach.loadBalancer",
        {},
    ),
]
