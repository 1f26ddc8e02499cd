"""The report as a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cli.report import wording
from cli.report.model import Property, Violation
from cli.report.summary import Component, Group, StackReport, Verdict
from pathways.geometry import count
from pathways.prices import Prices

# GitHub refuses a comment of more characters.
GITHUB_LIMIT = 65536
# By this line a later run finds the comment that it has to update.
MARKER = "<!-- pathways report -->"
_MARKS = {
    Verdict.NOTHING: "⚪",
    Verdict.CHANGES: "🟢",
    Verdict.DESTRUCTIVE: "🟠",
    Verdict.VIOLATION: "⛔",
    Verdict.FAILURE: "🔴",
}


def render(reports: Sequence[StackReport], prices: Prices, limit: int = GITHUB_LIMIT) -> str:
    """The comment, within `limit` characters: what hurts most is told in full, the rest ever shorter."""
    ordered = wording.by_weight(reports)
    busy = [report for report in ordered if report.verdict is not Verdict.NOTHING]
    quiet = [report.stack for report in ordered if report.verdict is Verdict.NOTHING]
    head = [MARKER, f"## Preview: {_text(wording.headline(ordered))}", ""]
    foot = [*_quiet(quiet), *_footnotes(reports, prices)]
    # The table keeps at least half of the room for the stacks' own sections.
    table = _fitting(_overview(busy, prices), (limit - _length(head) - _length(foot)) // 2)
    room = limit - _length([*head, *table, *foot]) - 200
    return "\n".join([*head, *table, *_sections(busy, prices, room), *foot]).rstrip() + "\n"


def _sections(reports: Sequence[StackReport], prices: Prices, room: int) -> list[str]:
    """Each stack's section in the longest form for which there is room, in the order of their weight."""
    forms = [[_full(report, prices), _brief(report)] for report in reports]
    chosen = [form[1] for form in forms]
    while chosen and sum(map(_length, chosen)) > room:
        chosen.pop()
    left = room - sum(map(_length, chosen))
    for index, form in enumerate(forms[: len(chosen)]):
        longer = _length(form[0]) - _length(chosen[index])
        if longer <= left:
            chosen[index] = form[0]
            left -= longer
    lines = [line for section in chosen for line in section]
    untold = len(forms) - len(chosen)
    if untold:
        lines += [f"The details of {count(untold, 'more stack')} do not fit here; the JSON report has them.", ""]
    return lines


def _overview(reports: Sequence[StackReport], prices: Prices) -> list[str]:
    if not reports:
        return []
    rows = [
        "| | Stack | Created | Updated | Replaced | Deleted | Slices | Chips | Cost per hour |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for report in reports:
        numbers = [str(report.counts.get(op, "")) for op in ("create", "update", "replace", "delete")]
        amounts = dict(wording.amounts(report))
        cells = [
            _MARKS[report.verdict],
            f"{_code(report.stack)} {wording.TITLES[report.verdict]}",
            *numbers,
            amounts["slices"],
            amounts["chips"],
            wording.cost(report, prices.currency),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return [*rows, ""]


def _full(report: StackReport, prices: Prices) -> list[str]:
    lines = _heading(report)
    sums = [f"{name} {value}" for name, value in wording.amounts(report)]
    if report.components:
        lines += [f"{wording.counts(report)}; {', '.join(sums)}; {wording.cost(report, prices.currency)} per hour.", ""]
    lines += _problems(report)
    told = [component for component in report.components if any(group.destructive for group in component.groups)]
    for component in told:
        lines += _component(component, [group for group in component.groups if group.destructive])
    rest = [
        (component, [group for group in component.groups if not group.destructive]) for component in report.components
    ]
    rest = [(component, groups) for component, groups in rest if groups]
    if rest:
        number = sum(len(group.names) for _, groups in rest for group in groups)
        lines += [
            f"<details><summary>{'Other changes' if told else 'Changes'}: {count(number, 'resource')}</summary>",
            "",
        ]
        for component, groups in rest:
            lines += _component(component, groups)
        lines += ["</details>", ""]
    return lines + _folded("Warning", report.preview.warnings) + _policies(report)


def _brief(report: StackReport) -> list[str]:
    """What cannot be left out: what is lost and why, and what refuses."""
    lines = [*_heading(report), *_problems(report, most=3)]
    hard = [group for component in report.components for group in component.groups if group.destructive]
    for group in hard[:3]:
        lines += _group(group, properties=2)
    if len(hard) > 3:
        lines.append(f"- and {count(len(hard) - 3, 'more destructive change')}")
    return [*lines, ""] if hard else lines


def _heading(report: StackReport) -> list[str]:
    lines = [f"### {_MARKS[report.verdict]} {_code(report.stack)}: {wording.TITLES[report.verdict]}", ""]
    if report.losses:
        lines += ["> [!CAUTION]", *(f"> {_text(loss)}  " for loss in report.losses[:8])]
        if len(report.losses) > 8:
            lines.append(f"> and {len(report.losses) - 8} more")
        lines.append("")
    return lines


def _problems(report: StackReport, most: int = 20) -> list[str]:
    """Errors and violations that stop the stack."""
    lines = [f"- {_text(error)}" for error in report.preview.errors[:most]]
    if not report.preview.errors and report.failed:
        lines.append("- The preview ended before it was complete.")
    lines += [_violation(violation) for violation in report.mandatory[:most]]
    untold = len(report.preview.errors[most:]) + len(report.mandatory[most:])
    if untold:
        lines.append(f"- and {untold} more")
    return [*lines, ""] if lines else []


def _violation(violation: Violation) -> str:
    where = f" on {_code(violation.resource)}" if violation.resource else ""
    return f"- ⛔ {_code(violation.policy)}{where}: {_text(violation.message)}"


def _policies(report: StackReport) -> list[str]:
    advice = [
        f"{_code(each.policy)}{f' on {_code(each.resource)}' if each.resource else ''}: {_text(each.message)}"
        for each in report.advisory
    ]
    advice += [
        f"{_code(policy)} corrected {count(number, 'resource')}" for policy, number in report.preview.remediated.items()
    ]
    return _folded("Policy advice", advice, escape=False)


def _component(component: Component, groups: Sequence[Group]) -> list[str]:
    kind = f" ({_code(component.type)})" if component.type else ""
    return [f"**{_text(component.name)}**{kind}", *(line for group in groups for line in _group(group)), ""]


def _group(group: Group, properties: int = wording.MOST_PROPERTIES) -> Iterator[str]:
    yield f"- **{group.op}** {wording.what(group)} {_code(wording.names(group))}"
    for each in group.properties[:properties]:
        yield f"  - {_property(each, group)}"
    if len(group.properties) > properties:
        yield f"  - and {count(len(group.properties) - properties, 'more propert')}".replace("propertys", "properties")
    apart = "each: " if len(group.names) > 1 else ""
    for consequence in group.consequences:
        yield f"  - ⚠️ {apart}{_text(consequence.text)}"


def _property(each: Property, group: Group) -> str:
    why = "because of " if each.replaces and group.op == "replace" else ""
    return f"{why}{_code(each.path)}: {_code(each.old)} → {_code(each.new)}"


def _folded(title: str, entries: Iterable[str], escape: bool = True, most: int = 30) -> list[str]:
    every = [_text(entry) if escape else entry for entry in entries]
    if not every:
        return []
    more = [f"- and {len(every) - most} more"] if len(every) > most else []
    shown = [f"- {' '.join(entry.split())}" for entry in every[:most]]
    return [f"<details><summary>{title}: {len(every)}</summary>", "", *shown, *more, "</details>", ""]


def _quiet(stacks: Sequence[str]) -> list[str]:
    if not stacks:
        return []
    listed = ", ".join(map(_code, stacks)) if len(stacks) <= 50 else f"{count(len(stacks), 'stack')}"
    return [f"⚪ Nothing to do: {listed}", ""]


def _footnotes(reports: Sequence[StackReport], prices: Prices) -> list[str]:
    lines = []
    missing = wording.all_unpriced(reports)
    if missing:
        shown = "; ".join(missing[:5]) + (f"; and {len(missing) - 5} more" if len(missing) > 5 else "")
        lines.append(f"<sub>\\* Without what the price file does not state: {_text(shown)}.</sub>  ")
    lines.append(f"<sub>Prices as of {_text(prices.as_of)}: VMs only, at their largest number.</sub>")
    return lines


def _fitting(rows: list[str], room: int) -> list[str]:
    if _length(rows) <= room:
        return rows
    kept, used = rows[:2], _length(rows[:2])
    for row in rows[2:-1]:
        used += len(row) + 1
        if used > room - 80:
            break
        kept.append(row)
    return [*kept, "", f"… and {count(len(rows) - 1 - len(kept), 'more stack')}.", ""]


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _code(value: str) -> str:
    """A code span that no value can break out of, in a table or not."""
    fence = "`" * (max((len(run) for run in re.findall("`+", value)), default=0) + 1)
    pad = " " if value.startswith("`") or value.endswith("`") else ""
    return f"{fence}{pad}{value}{pad}{fence}".replace("|", "\\|")


def _text(value: str) -> str:
    """Words in which nothing is markup, and nobody is mentioned."""
    value = " ".join(value.split())
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    return re.sub(r"([\\`*_|\[\]~])", r"\\\1", value)
