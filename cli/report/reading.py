"""Reads what `pulumi preview` writes: the JSON document of --json, or one engine event per line.

Shapes: pulumi's pkg/display/json.go (PreviewDigest) and sdk/go/common/apitype/events.go (EngineEvent). Only the event
log tells about policies and about resources that stay as they are.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.report import values
from cli.report.model import Change, Op, Preview, Property, ReportError, Resource, Violation

_OPS: Mapping[str, Op] = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "delete": "delete",
    "import": "import",
    "import-replacement": "replace",
}
_WHERE_A_PLUGIN_LIES = re.compile(r"using pulumi-[\w-]+ from \$PATH")
# What the engine adds to every error that it has told already.
_SAYS_NOTHING = re.compile(r"(preview|update|refresh|destroy) failed")
_REFRESH = re.compile(r'"op": ?"refresh"')
# A line begins with its sequence number and time, then comes the event's name.
_BEFORE_THE_EVENT = 100
_COLOUR = re.compile(r"<\{%.*?%\}>")
Document = Mapping[str, Any]


def read_file(path: Path, stack: str | None = None) -> Preview:
    """The preview in a file. Its stack is the one the document names, else `stack`, else the file's name."""
    try:
        content = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    return read(content, stack or path.name.split(".")[0], path.name)


def read(content: str, stack: str, source: str = "the document") -> Preview:
    """The preview in a text. An empty text is a preview that failed before it said anything."""
    stripped = content.lstrip()
    if not stripped:
        return _preview(stack, [], [], [], [], Counter(), None, ["The preview wrote nothing."], True, False)
    first, _, rest = stripped.partition("\n")
    one_line = first.startswith("{") and first.rstrip().endswith("}")
    if one_line and (rest or _is_event(first, source)):
        return _from_events(stripped, stack, source)
    return _from_digest(_decode(stripped, source), stack)


def _from_digest(document: Document, stack: str) -> Preview:
    steps = document.get("steps") or []
    summary: Mapping[str, int] = document.get("changeSummary") or {}
    same = sum(step["op"] == "same" for step in steps)
    diagnostics = [
        (str(each.get("severity")), f"{each.get('prefix') or ''}{each.get('message') or ''}")
        for each in document.get("diagnostics") or []
    ]
    metadata = [_digest_step(step) for step in steps]
    # The root stack is always listed, so it says nothing about completeness.
    complete = same == summary.get("same", 0)
    return _preview(stack, metadata, diagnostics, [], [], Counter(), None, [], complete, bool(summary) or bool(steps))


def _from_events(content: str, stack: str, source: str) -> Preview:
    steps: dict[str, Document] = {}
    diagnostics: list[tuple[str, str]] = []
    violations: list[Document] = []
    policies: list[str] = []
    remediated: Counter[str] = Counter()
    ran_policies, finished, errors = False, False, []
    # What came of a step says more than the step itself only after a refresh; it is half of a large log.
    unread = () if _REFRESH.search(content) else ("resOutputsEvent",)
    for event in _events(content, source, unread):
        if step := event.get("resourcePreEvent"):
            metadata = step["metadata"]
            # A replacement has three steps; the logical one says it all.
            if metadata["op"] in _OPS or metadata["op"] in ("same", "refresh"):
                steps[metadata["urn"]] = metadata
        elif outputs := event.get("resOutputsEvent"):
            metadata = outputs["metadata"]
            # What a refresh found is known only afterwards.
            if steps.get(metadata["urn"], {}).get("op") == "refresh":
                steps[metadata["urn"]] = {**metadata, "found": True}
        elif diagnostic := event.get("diagnosticEvent"):
            if not diagnostic.get("ephemeral"):
                message = f"{diagnostic.get('prefix') or ''}{diagnostic.get('message') or ''}"
                diagnostics.append((str(diagnostic.get("severity")), message))
        elif violation := event.get("policyEvent"):
            violations.append(violation)
        elif event.get("policyLoadEvent") is not None:
            ran_policies = True
        elif correction := event.get("policyRemediationEvent"):
            remediated[correction["policyName"]] += 1
        elif summary := event.get("summaryEvent"):
            finished = True
            packs = summary.get("PolicyPacks") or {}
            policies = [f"{name.partition('|')[0]} {version}".strip() for name, version in packs.items()]
        elif error := event.get("errorEvent"):
            errors.append(str(error.get("error")))
    known = policies if policies or violations or ran_policies else None
    return _preview(stack, list(steps.values()), diagnostics, violations, errors, remediated, known, [], True, finished)


def _preview(
    stack: str,
    steps: list[Document],
    diagnostics: Iterable[tuple[str, str]],
    violations: Iterable[Document],
    errors: Iterable[str],
    remediated: Mapping[str, int],
    policies: list[str] | None,
    notes: list[str],
    complete: bool,
    finished: bool,
) -> Preview:
    warnings, failures = [], [*notes, *errors]
    for severity, message in diagnostics:
        if severity == "warning" and not _WHERE_A_PLUGIN_LIES.match(_plain(message)):
            warnings.append(_plain(message))
        elif severity == "error":
            failures.append(_plain(message))
    told = [message for message in failures if not _SAYS_NOTHING.fullmatch(message)]
    said = tuple(dict.fromkeys(map(_violation, violations)))
    if told or said:
        failures = told
    changes, unchanged = [], []
    for step in steps:
        change = _change(step)
        if change is None:
            continue
        if isinstance(change, Change):
            changes.append(change)
        else:
            unchanged.append(change)
    return Preview(
        stack=_stack_of(steps) or stack,
        changes=tuple(changes),
        unchanged=tuple(unchanged),
        complete=complete,
        warnings=tuple(dict.fromkeys(warnings)),
        errors=tuple(dict.fromkeys(failures)),
        violations=said,
        remediated=dict(remediated),
        policies=None if policies is None else tuple(policies),
        finished=finished,
    )


def _change(step: Document) -> Change | Resource | None:
    """A change, a resource that stays as it is, or nothing for what is only read."""
    old, new = _resource(step, "old"), _resource(step, "new")
    op = _OPS.get(step["op"])
    if op is None:
        return new or old if step["op"] in ("same", "refresh") else None
    if op == "create":
        old = None
    elif op == "delete":
        new = None
    if old is None and new is None:
        return None
    return Change(op, old, new, _properties(step, old, new) if old and new else ())


def _properties(step: Document, old: Resource, new: Resource) -> tuple[Property, ...]:
    detailed: Mapping[str, Mapping[str, Any]] = step.get("detailedDiff") or {}
    keys = set(step.get("keys") or [])
    if not detailed:
        names = dict.fromkeys([*(step.get("keys") or []), *(step.get("diffs") or [])])
        detailed = {name: {"kind": "update", "inputDiff": True} for name in names}
    found = []
    for path, difference in detailed.items():
        kind = str(difference.get("diffKind") or difference.get("kind") or "update")
        added, deleted = kind.startswith("add"), kind.startswith("delete")
        was, will = values.cut(
            values.ABSENT if added else values.shown(old, path, not difference.get("inputDiff")),
            values.ABSENT if deleted else values.shown(new, path, bool(step.get("found"))),
        )
        where = values.named(old if deleted else new, path)
        found.append(Property(where, was, will, replaces=kind.endswith("-replace") or path in keys))
    # What forces the replacement comes first; the rest as Pulumi sorted it.
    return tuple(sorted(found, key=lambda each: (not each.replaces, each.path)))


def _resource(step: Document, side: str) -> Resource | None:
    state = step.get(side)
    if not state:
        return None
    urn = str(step["urn"])
    return Resource(
        urn=urn,
        type=str(state.get("type") or step.get("type") or ""),
        name=urn.rpartition("::")[2],
        parent=str(state.get("parent") or ""),
        custom=bool(state.get("custom")),
        inputs=state.get("inputs") or {},
        outputs=state.get("outputs") or {},
    )


def _digest_step(step: Document) -> Document:
    """A step of --json with the names that the event log uses."""
    return {
        "op": step["op"],
        "urn": step["urn"],
        "old": step.get("oldState"),
        "new": step.get("newState"),
        "keys": step.get("replaceReasons"),
        "diffs": step.get("diffReasons"),
        "detailedDiff": step.get("detailedDiff"),
    }


def _violation(event: Document) -> Violation:
    # The library puts the policy's description on a line before the message.
    lines = [line for line in _plain(str(event.get("message") or "")).splitlines() if line.strip()]
    return Violation(
        policy=str(event.get("policyName")),
        level="mandatory" if event.get("enforcementLevel") == "mandatory" else "advisory",
        resource=str(event.get("resourceUrn") or "").rpartition("::")[2],
        message=" ".join(line.strip() for line in (lines[1:] or lines)),
    )


def _stack_of(steps: Iterable[Document]) -> str | None:
    for step in steps:
        parts = str(step["urn"]).split("::")
        if len(parts) >= 2:
            return parts[0].rpartition(":")[2]
    return None


def _events(content: str, source: str, unread: tuple[str, ...]) -> Iterator[Document]:
    lines = content.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or any(f'"{name}"' in line[:_BEFORE_THE_EVENT] for name in unread):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            # A preview that was killed leaves half a line; it then has no summary either, which says that it failed.
            if number >= len(lines) - 1:
                return
            raise ReportError(f"{source}, line {number}, is not JSON. {_HOW}") from None
        if not isinstance(event, Mapping):
            raise ReportError(f"{source}, line {number}, is no engine event. {_HOW}")
        yield event


def _is_event(line: str, source: str) -> bool:
    return any(key in ("sequence", "timestamp") or key.endswith("Event") for key in _decode(line, source))


def _decode(content: str, source: str) -> Document:
    try:
        document = json.loads(content)
    except ValueError as error:
        raise ReportError(f"{source} is not JSON ({error}). {_HOW}") from error
    if not isinstance(document, Mapping):
        raise ReportError(f"{source} is no preview. {_HOW}")
    return document


_HOW = "Write it with: PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true pulumi preview --json --non-interactive > STACK.jsonl"


def _plain(message: str) -> str:
    """A message without Pulumi's colour marks, its severity prefix and anything that looks like a credential."""
    message = _COLOUR.sub("", message).strip()
    for prefix in ("warning: ", "error: ", "Error: "):
        message = message.removeprefix(prefix)
    return values.mask(message)
