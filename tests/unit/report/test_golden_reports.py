"""Reports as reviewed, on logs that the real engine wrote. A change here is read like code.

`UPDATE_GOLDEN=1` writes the reports anew; tests/rehearsal/test_golden_reports.py records the logs.
"""

from __future__ import annotations

import os

import pytest

from tests import report_logs


@pytest.mark.parametrize("case", report_logs.CASES)
def test_a_report_reads_as_reviewed(case: str) -> None:
    made, golden = report_logs.report(report_logs.log(case).read_text("utf-8")), report_logs.FOLDER / f"{case}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(made, "utf-8")
    assert golden.read_text("utf-8") == made
