"""What is rendered for each shipped stack. A change here is read like code: `UPDATE_GOLDEN=1` writes the files anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from pathways import plan, stackfile

ROOT = Path(__file__).resolve().parents[3]
STACKS = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("path", STACKS, ids=[path.stem.removeprefix("Pulumi.") for path in STACKS])
def test_the_job_set_of_a_shipped_stack_is_the_reviewed_one(path: Path) -> None:
    settings, warnings = stackfile.from_file(path)
    assert warnings == []
    rendered = yaml.safe_dump(dict(plan.make(settings).job_set), sort_keys=False, width=120)
    golden = ROOT / "tests" / "golden" / f"{settings.stack}.jobset.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(rendered)
    assert golden.read_text() == rendered
