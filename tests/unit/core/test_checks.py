"""Each check refuses what it is for, names the setting, and lets the right thing pass."""

from __future__ import annotations

import pytest

from pathways import checks
from tests.unit.core.check_cases import SLICES, Changes, run
from tests.unit.core.check_cases.every import EVERY


@pytest.mark.parametrize(
    ("identity", "broken", "path", "mended"), EVERY, ids=[f"{case[0]}-{number}" for number, case in enumerate(EVERY)]
)
def test_the_check_names_the_setting_and_accepts_the_mended_stack(
    identity: str, broken: Changes, path: str, mended: Changes
) -> None:
    found = run(broken)
    assert (identity, path) in [(fault.id, fault.path) for fault in found]
    declared = {check.id: check.severities for check in checks.CHECKS}
    assert all(fault.severity in declared[fault.id] for fault in found if fault.id in declared)
    assert [fault for fault in run(mended) if fault.id == identity] == []


def test_every_check_has_a_failing_example_here() -> None:
    # Those of Cluster Director have theirs in tests/unit/director.
    known = {check.id for check in checks.CHECKS if check.platform != "clusterDirector"}
    assert known == {case[0] for case in EVERY}


def test_a_setting_already_at_fault_is_not_blamed_twice() -> None:
    found = run({f"{SLICES}.topology": "4x5", f"{SLICES}.count": 100000})
    assert [fault.path for fault in found] == [f"{SLICES}.count", f"{SLICES}.topology"]
