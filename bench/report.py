"""`python -m bench.report`: how long the preview report of a large stack takes, from the log's text to each form.

Processor time of the report alone: no Pulumi, no start of Python. The logs are made as large as real ones: every pool comes with the
outputs that GKE adds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from cli.report import data, markdown, reading, summary, terminal
from pathways import prices
from tests.unit.report import preview_documents as documents
from tests.unit.report.preview_documents import State

T = TypeVar("T")
SLICES = 1000
# About what a pool's outputs hold beyond its inputs: addresses of instance groups, defaults, labels.
ADDED_BY_GKE = {f"default{number}": "x" * 60 for number in range(40)}


def main() -> None:
    table = Table("preview", "slices", "log MB", "read s", "sum up s", "Markdown s", "JSON s", "terminal s", "all s")
    shown = documents.gke(slices__count=SLICES, slices__topology="2x2")
    before = _as_deployed(shown)
    changes: dict[str, tuple[Sequence[State], Sequence[State]]] = {
        "first deployment": ([], shown),
        "nothing to do": (before, before),
        "every slice replaced": (before, _as_deployed(documents.gke(slices__count=SLICES, slices__topology="2x4"))),
        "destroy": (before, []),
    }
    for name, (old, new) in changes.items():
        table.add_row(name, f"{SLICES:,}", *_measure(documents.events(old, new)))
    Console(width=120).print(table)


def _measure(log: str) -> list[str]:
    price_file = prices.example()
    read, first = _timed(lambda: reading.read(log, "s"))
    made, second = _timed(lambda: summary.summarise(read, price_file))
    _, third = _timed(lambda: markdown.render([made], price_file))
    _, fourth = _timed(lambda: json.dumps(data.render([made], price_file)))
    quiet = Console(width=120, quiet=True)
    _, fifth = _timed(lambda: terminal.show(quiet, [made], price_file))
    times = [first, second, third, fourth, fifth]
    return [f"{len(log) / 1e6:.1f}", *(f"{each:.3f}" for each in times), f"{sum(times):.3f}"]


def _as_deployed(states: Sequence[State]) -> list[State]:
    return [
        State(each.type, each.name, each.inputs, each.parent, each.custom, {**each.inputs, **ADDED_BY_GKE})
        for each in states
    ]


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result and the seconds of the fastest of three runs."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        result = work()
        best = min(best, time.process_time() - began)
    return result, best


if __name__ == "__main__":
    main()
