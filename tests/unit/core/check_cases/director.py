"""Cases for pathways/checks/director.py."""

from __future__ import annotations

from tests.unit.core.check_cases import Case

CASES: list[Case] = [
    ("platform-settings", {"pathways:director": {"minSlices": 1}}, "pathways:director", {}),
]
