"""What is derived and rendered for each shipped stack, and the pages and files that are made from the code.

A change here is read like code. `UPDATE_GOLDEN=1` writes the files anew instead of comparing them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli import checks, json_page, render, schema, stacks
from cli.plan import data, picture
from cli.status.diagnoses import page
from pathways import plan, stackfile
from pathways.plan import Plan
from tests.oracles import differences

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"


def reviewed(path: Path, made: str) -> bool:
    """Whether the file holds what was made; writes it where that is asked for."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(made, "utf-8")
    return path.exists() and path.read_text("utf-8") == made


@pytest.fixture(params=[name for name in stacks.names() if name.startswith("gke-")])
def shipped(request: pytest.FixtureRequest) -> Plan:
    """A shipped stack, which is an example to others and so causes no warning."""
    settings, warnings = stackfile.from_file(stacks.FOLDER / f"Pulumi.{request.param}.yaml")
    assert warnings == []
    return plan.make(settings)


def test_the_manifests_of_a_shipped_stack_are_the_reviewed_ones(shipped: Plan) -> None:
    assert reviewed(GOLDEN / f"{shipped.settings.stack}.manifests.yaml", "".join(render.documents(shipped)))


def test_what_is_derived_of_a_shipped_stack_is_what_was_reviewed(shipped: Plan) -> None:
    made = json.dumps(data.describe(shipped), indent=1, ensure_ascii=False) + "\n"
    assert reviewed(GOLDEN / f"{shipped.settings.stack}.plan.json", made)


def test_the_picture_of_a_shipped_stack_is_up_to_date(shipped: Plan) -> None:
    assert reviewed(ROOT / "docs" / "stacks" / f"{shipped.settings.stack}.svg", picture.draw(shipped))


def test_no_golden_file_is_left_of_a_stack_that_is_gone() -> None:
    names = {path.name.partition(".")[0] for path in GOLDEN.glob("*.*")}
    assert names <= set(stacks.names())


def test_the_page_of_checks_is_up_to_date() -> None:
    assert reviewed(ROOT / "docs" / "checks.md", checks.page())


def test_the_page_of_diagnoses_is_up_to_date() -> None:
    assert reviewed(ROOT / "docs" / "troubleshooting.md", page.page())


def test_the_page_of_what_programs_read_is_up_to_date() -> None:
    assert reviewed(ROOT / "docs" / "json.md", json_page.page())


def test_the_schema_of_stack_files_is_up_to_date() -> None:
    assert reviewed(stacks.FOLDER / "schema.json", schema.document())


def test_the_page_of_differences_from_other_tools_is_up_to_date() -> None:
    assert reviewed(differences.PAGE, differences.page())
