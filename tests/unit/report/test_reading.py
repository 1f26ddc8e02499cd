"""Both forms of a preview document are read, whole or broken, and no secret comes out of them."""

from __future__ import annotations

import json

import pytest

from cli.report import data, markdown, reading, summary, values
from cli.report.model import ReportError
from pathways import prices
from tests.unit.report import preview_documents as documents
from tests.unit.report.preview_documents import ROOT, State


def report(content: str) -> summary.StackReport:
    return summary.summarise(reading.read(content, "from-file"), prices.example())


def test_both_forms_tell_the_same_changes() -> None:
    before, after = documents.gke(), documents.gke(slices__topology="4x8")
    streamed, plain = (
        reading.read(documents.events(before, after), "x"),
        reading.read(documents.digest(before, after), "x"),
    )
    assert streamed.changes == plain.changes
    assert streamed.complete and not plain.complete


def test_the_stack_is_the_one_that_the_document_names() -> None:
    assert reading.read(documents.events([], documents.gke()), "from-file").stack == documents.STACK
    assert reading.read(documents.events([], []), "from-file").stack == "from-file"


def test_the_steps_of_one_replacement_count_once() -> None:
    assert report(documents.events(documents.gke(), documents.gke(slices__topology="4x8"))).counts == {"replace": 3}


def test_a_refresh_shows_what_it_found_to_differ() -> None:
    was = State("gcp:storage/bucket:Bucket", "bucket", {"name": "b"}, ROOT)
    found = State("gcp:storage/bucket:Bucket", "bucket", {"name": "b", "location": "US"}, ROOT)
    update = next(documents.steps([was], [found]))
    log = [
        {"resourcePreEvent": {"metadata": {**update, "op": "refresh", "detailedDiff": None}}},
        {"resOutputsEvent": {"metadata": {**update, "op": "update"}}},
        {"summaryEvent": {"resourceChanges": {"update": 1}}},
    ]
    content = "\n".join(json.dumps({"sequence": n, **event}) for n, event in enumerate(log))
    (change,) = reading.read(content, "s").changes
    assert change.op == "update"
    assert (change.properties[0].path, change.properties[0].new) == ("location", "US")


@pytest.mark.parametrize("content", ["", documents.events([], documents.gke(), {"summaryEvent": None})])
def test_a_preview_that_ended_early_is_a_failure(content: str) -> None:
    assert report(content).verdict is summary.Verdict.FAILURE


def test_a_line_cut_off_at_the_end_is_a_failure_and_not_an_error() -> None:
    whole = documents.events([], documents.gke())
    assert report(whole[: whole.rindex("summaryEvent")]).verdict is summary.Verdict.FAILURE


@pytest.mark.parametrize(
    "content", ["not json", '{"sequence": 1}\nnot json\n{"sequence": 2}\n', "[1]", '{"sequence": 1}\n[]\n{}']
)
def test_what_is_no_preview_is_refused_with_how_to_make_one(content: str) -> None:
    with pytest.raises(ReportError, match="pulumi preview --json"):
        reading.read(content, "s")


def test_errors_and_warnings_are_told_apart_from_progress() -> None:
    read = reading.read(
        documents.events(
            [],
            [],
            documents.diagnostic("warning", "pathways:slices.zone: v6e is not listed\n  fix: x  [zone]"),
            documents.diagnostic("info", "hello"),
            documents.diagnostic("error", "boom"),
        ),
        "s",
    )
    assert len(read.warnings) == 1 and "v6e is not listed" in read.warnings[0]
    assert read.errors == ("boom",)


SECRETS = {
    "marked": {values._SIGNATURE: values._SECRET, "ciphertext": "hidden-1"},
    "password": "hidden-2",
    "nested": {"apiKey": "hidden-3", "list": [{"clientSecret": "hidden-4"}]},
    "env": [{"name": "HF_TOKEN", "value": "hidden-5"}],
    "url": "https://user:hidden-6@example.com",
    "key": "-----BEGIN PRIVATE KEY-----hidden-7",
}


@pytest.mark.parametrize("op", ["update", "create"])
def test_secrets_never_appear(op: str) -> None:
    old = State("x:y:Z", "thing", {}, ROOT)
    new = State("x:y:Z", "thing", {**SECRETS, "whole": SECRETS}, ROOT)
    reports = [
        report(
            documents.events(
                [old] if op == "update" else [], [new], documents.diagnostic("error", "GET https://u:hidden-8@h failed")
            )
        )
    ]
    told = markdown.render(reports, prices.example()) + json.dumps(data.render(reports, prices.example()))
    assert "hidden" not in told


def test_a_kubernetes_secret_shows_only_that_it_changes() -> None:
    old = State("kubernetes:core/v1:Secret", "s", {"stringData": {"user": "hidden-a"}}, ROOT)
    new = State("kubernetes:core/v1:Secret", "s", {"stringData": {"user": "hidden-b"}}, ROOT)
    (change,) = reading.read(documents.events([old], [new]), "s").changes
    assert (change.properties[0].old, change.properties[0].new) == (values.SECRET, values.SECRET)


def test_a_value_that_is_not_known_yet_is_called_so() -> None:
    assert values.as_text("04da6b54-80e4-46f7-96ec-b56ff0331ba9") == values.UNKNOWN


def test_a_path_names_list_elements_that_have_names() -> None:
    before, after = documents.gke(), documents.gke(slices__count=3)
    paths = [
        each.path for change in reading.read(documents.events(before, after), "s").changes for each in change.properties
    ]
    assert "spec.replicatedJobs[pathways-head].template.spec.template.spec.containers[pathways-rm].args[2]" in paths


def test_of_long_values_the_part_that_differs_is_shown() -> None:
    old, new = "a" * 200 + "old" + "b" * 200, "a" * 200 + "new" + "b" * 200
    was, will = values.cut(old, new)
    assert "old" in was and "new" in will and max(len(was), len(will)) <= values.LONGEST + 2
    assert values.cut("short", "x" * 500) == ("short", "x" * values.LONGEST + "…")
