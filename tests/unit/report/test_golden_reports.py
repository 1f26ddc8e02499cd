"""Reports as reviewed. A change here is read like code: `UPDATE_GOLDEN=1` writes the files anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.report import markdown, reading, summary
from pathways import prices
from tests.unit.report import preview_documents as documents
from tests.unit.report.preview_documents import State

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "report"
CASES: dict[str, tuple[list[State], list[State]]] = {
    "first-deployment": ([], documents.gke()),
    "slice-more": (documents.gke(), documents.gke(slices__count=3)),
    "topology-change": (documents.gke(), documents.gke(slices__topology="4x8")),
    "image-change": (documents.gke(runtime__jax="0.10.2"), documents.gke(runtime__jax="0.11.1")),
    "cluster-director-machine-type": (
        documents.cluster_director(),
        documents.cluster_director("ct5p-hightpu-4t", "tpu-v5p"),
    ),
    "destroy": (documents.gke(), []),
}


@pytest.mark.parametrize("case", CASES)
def test_a_report_reads_as_reviewed(case: str) -> None:
    before, after = CASES[case]
    made = summary.summarise(reading.read(documents.events(before, after), case), prices.example())
    rendered, golden = markdown.render([made], prices.example()), GOLDEN / f"{case}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(rendered, "utf-8")
    assert golden.read_text("utf-8") == rendered
