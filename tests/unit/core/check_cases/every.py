"""The cases of all modules."""

from __future__ import annotations

from tests.unit.core.check_cases import Case, cluster, director, network, reach, runtime, scratch, slices, workload

EVERY: list[Case] = [
    case for module in (slices, cluster, network, runtime, scratch, workload, reach, director) for case in module.CASES
]
