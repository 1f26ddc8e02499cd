"""`pathways checks` lists what a stack file must pass."""

from __future__ import annotations

from typer.testing import CliRunner

from cli.app import app
from pathways.checks import CHECKS


def test_every_check_is_listed_with_what_it_demands() -> None:
    output = CliRunner().invoke(app, ["checks"], prog_name="pathways").stdout
    for check in CHECKS:
        assert check.id in output and check.title in output


def test_the_page_says_which_settings_a_check_reads_and_how_severe_it_is() -> None:
    page = CliRunner().invoke(app, ["checks", "--markdown"], prog_name="pathways").stdout
    row = next(line for line in page.splitlines() if line.startswith("| `zone-offers-accelerator`"))
    assert "| warning |" in row and "`pathways:slices.zone`" in row
