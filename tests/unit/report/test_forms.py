"""Every form of the report is complete, readable and safe to post."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cli.app import app
from cli.report import data, markdown, reading, summary, terminal
from pathways import prices
from tests.unit.report import preview_documents as documents
from tests.unit.report.preview_documents import ROOT, State

PRICES = prices.example()


def report(content: str, stack: str = "s") -> summary.StackReport:
    return summary.summarise(reading.read(content, stack), PRICES)


def many(number: int) -> list[summary.StackReport]:
    """Stacks of every verdict, under names of their own."""
    before, after = documents.gke(), documents.gke(slices__topology="4x8", slices__count=3)
    contents = [
        documents.events(before, after),
        documents.events([], before),
        documents.events(before, before),
        documents.events(before, after, documents.policy_event("no-spot", "spot it is " * 20)),
        documents.events([], [], documents.diagnostic("error", "it went wrong " * 60)),
    ]
    return [report(contents[n % 5].replace(documents.STACK, f"stack-{n:03}"), f"stack-{n:03}") for n in range(number)]


def test_two_hundred_stacks_fit_into_a_comment_and_all_that_change_are_named() -> None:
    reports = many(200)
    comment = markdown.render(reports, PRICES)
    assert len(comment) <= markdown.GITHUB_LIMIT
    assert all(each.stack in comment for each in reports if each.verdict is not summary.Verdict.NOTHING)


@pytest.mark.parametrize("limit", [2000, 5000, 20000])
def test_a_comment_keeps_to_its_limit_and_says_what_is_missing(limit: int) -> None:
    comment = markdown.render(many(120), PRICES, limit)
    assert len(comment) <= limit
    assert re.search(r"\d+ more stacks", comment)


def test_what_is_lost_is_visible_without_unfolding() -> None:
    comment = markdown.render(
        [report(documents.events(documents.gke(), documents.gke(slices__topology="4x8")))], PRICES
    )
    visible = re.sub(r"<details>.*?</details>", "", comment, flags=re.DOTALL)
    assert "2 slices lost" in visible and "placementPolicy.tpuTopology" in visible


def test_a_thousand_new_pools_are_one_line() -> None:
    comment = markdown.render(
        [report(documents.events([], documents.gke(slices__count=1000, slices__topology="2x2")))], PRICES
    )
    assert "1000 × container:NodePool `tpu-np-0, tpu-np-1, … tpu-np-999`" in comment


def test_nothing_in_a_value_or_message_becomes_markup_or_a_mention() -> None:
    hostile = "`|</details><script> @team **x** [a](b)"
    old, new = State("x:y:Z", "a|b`c", {"v": "1"}, ROOT), State("x:y:Z", "a|b`c", {"v": hostile}, ROOT)
    comment = markdown.render(
        [
            report(
                documents.events(
                    [old],
                    [new],
                    documents.diagnostic("error", hostile),
                    documents.policy_event("p", hostile, "advisory"),
                )
            )
        ],
        PRICES,
    )
    words = re.sub(r"(`+) ?.*?\1|\\.", "", comment.replace("\\`", ""))
    assert "<script>" not in words and "@team" not in words and "**x**" not in words and "](b)" not in words
    assert comment.count("<details>") == len(re.findall(r"^</details>$", comment, flags=re.MULTILINE))


def test_the_comment_begins_with_the_line_by_which_it_is_found_again() -> None:
    assert markdown.render([], PRICES).startswith(markdown.MARKER + "\n")


def test_the_terminal_shows_the_same_facts() -> None:
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    terminal.show(console, many(5), PRICES)
    text = console.export_text()
    for expected in (
        "destructive changes",
        "policy violation",
        "preview failed",
        "nothing to do",
        "no-spot",
        "because of placementPolicy.tpuTopology: 4x4 → 4x8",
        "2 slices lost or away",
    ):
        assert expected in text


def test_the_json_form_leaves_nothing_out() -> None:
    document = data.render(many(5), PRICES)
    assert (document["verdict"], document["exitCode"]) == ("failure", 1)
    first = document["stacks"][0]
    assert first["before"]["costPerHour"]["amount"] < first["after"]["costPerHour"]["amount"]
    assert json.loads(json.dumps(document)) == document
    names = [name for component in first["components"] for change in component["changes"] for name in change["names"]]
    assert set(names) == {"tpu-np-0", "tpu-np-1", "tpu-np-2", "jobset"}


def test_the_command_writes_every_form_and_ends_with_the_verdict(tmp_path: Path) -> None:
    preview = tmp_path / "gke-v6e.jsonl"
    preview.write_text(documents.events(documents.gke(), documents.gke(slices__count=3)), "utf-8")
    outcome = CliRunner().invoke(
        app, ["report", str(preview), "--markdown", str(tmp_path / "r.md"), "--json", str(tmp_path / "r.json")]
    )
    assert outcome.exit_code == 4
    assert "gke-v6e" in outcome.output
    assert (tmp_path / "r.md").read_text("utf-8").startswith(markdown.MARKER)
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["verdict"] == "destructive"


def test_the_command_takes_acknowledgements_from_the_policy_configuration(tmp_path: Path) -> None:
    preview, config = tmp_path / "s.jsonl", tmp_path / "policy.json"
    preview.write_text(documents.events(documents.gke(), documents.gke(slices__count=3)), "utf-8")
    config.write_text('{"all": "mandatory", "tpu-pool-replacement": {"acknowledged": ["jobset"]}}')
    assert CliRunner().invoke(app, ["report", str(preview), "--policy-config", str(config)]).exit_code == 3


@pytest.mark.parametrize("arguments", [["missing.jsonl"], ["--prices", "missing.yaml", "missing.jsonl"]])
def test_a_file_that_cannot_be_read_is_a_sentence_and_exit_code_1(arguments: list[str], tmp_path: Path) -> None:
    outcome = CliRunner().invoke(app, ["report", *arguments])
    assert outcome.exit_code == 1
    assert "Traceback" not in outcome.output


def test_a_price_file_that_is_wrong_names_the_entry(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("as_of: today\nsource: us\ncurrency: USD\ntpu_chip: {v6e: {us-east5: {monthly: 3}}}\n")
    with pytest.raises(prices.PriceFileError, match="tpu_chip.v6e.us-east5.monthly"):
        prices.load(file)
