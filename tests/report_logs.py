"""Event logs of previews by the real engine, cut to what the report reads, and the reports on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.report import markdown, reading, summary, values
from pathways import prices

FOLDER = Path(__file__).parent / "golden" / "report"
CASES = (
    "first-deployment",
    "slice-more",
    "topology-change",
    "image-change",
    "cluster-director-machine-type",
    "destroy",
)
# The rest are certificates, definitions, manifests of charts and paths of the machine that recorded.
READ_OF = ("gcp:", "kubernetes:jobset.x-k8s.io")
OPS = ("same", "create", "update", "replace", "delete")
# Outputs that the report reads of every resource.
OUTPUTS = ("location", "name", "nodeLocations")


def log(case: str) -> Path:
    return FOLDER / f"{case}.jsonl"


def report(content: str) -> str:
    """The pull request comment on a log."""
    made = summary.summarise(reading.read(content, "recorded"), prices.example())
    return markdown.render([made], prices.example())


def compact(content: str) -> str:
    """The log without what no report depends on."""
    return "".join(json.dumps(event, sort_keys=True) + "\n" for event in _kept(map(json.loads, content.splitlines())))


def _kept(events: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for number, event in enumerate(events):
        place = {"sequence": number, "timestamp": 0}
        if "resourcePreEvent" in event:
            metadata = event["resourcePreEvent"]["metadata"]
            if metadata["op"] not in OPS:
                continue
            paths = list(metadata.get("detailedDiff") or ())
            steps = {values.parse(path)[0] for path in paths}
            read = ("new",) if metadata["op"] == "same" else ("old", "new")
            sides = {side: _state(metadata.get(side), steps) for side in read}
            yield {**place, "resourcePreEvent": {"metadata": {**_only(metadata, _METADATA), **sides}}}
        elif "summaryEvent" in event or "diagnosticEvent" in event:
            yield {**event, **place}


_METADATA = ("op", "urn", "type", "keys", "diffs", "detailedDiff")


def _state(state: Mapping[str, Any] | None, changed: set[Any]) -> Mapping[str, Any] | None:
    if state is None:
        return None
    kept = _only(state, ("type", "urn", "custom", "parent"))
    if not str(state["type"]).startswith(READ_OF):
        return kept
    outputs = _only(state.get("outputs") or {}, (*OUTPUTS, *changed))
    inputs = {key: value for key, value in (state.get("inputs") or {}).items() if key != "__defaults"}
    return {**kept, "inputs": inputs, "outputs": {k: v for k, v in outputs.items() if inputs.get(k) != v}}


def _only(document: Mapping[str, Any], keys: Any) -> dict[str, Any]:
    return {key: document[key] for key in keys if key in document}
