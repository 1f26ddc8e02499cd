"""Numbers, names and verdicts as the reader sees them, the same in every form of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cli.report.model import Op
from cli.report.summary import Group, StackReport, Verdict
from pathways.geometry import count

TITLES: Mapping[Verdict, str] = {
    Verdict.NOTHING: "nothing to do",
    Verdict.CHANGES: "changes",
    Verdict.DESTRUCTIVE: "destructive changes",
    Verdict.VIOLATION: "policy violation",
    Verdict.FAILURE: "preview failed",
}
PAST: Mapping[Op, str] = {
    "create": "created",
    "update": "updated",
    "replace": "replaced",
    "delete": "deleted",
    "import": "imported",
}
# More properties than this, and the rest is only counted.
MOST_PROPERTIES = 12


def headline(reports: Sequence[StackReport]) -> str:
    """How many of the stacks change."""
    changing = sum(bool(report.components) for report in reports)
    if len(reports) == 1:
        return f"{reports[0].stack}: {TITLES[reports[0].verdict]}"
    return f"{count(changing, 'stack')} of {len(reports)} change"


def by_weight(reports: Sequence[StackReport]) -> list[StackReport]:
    """What needs attention first, then by name."""
    return sorted(reports, key=lambda report: (*(-int(part) for part in report.verdict.weight), report.stack))


def counts(report: StackReport) -> str:
    """As in "3 created, 1 replaced"."""
    return ", ".join(f"{number} {PAST[op]}" for op, number in report.counts.items()) or "no resource changes"


def names(group: Group, most: int = 4) -> str:
    """The names of a group, the middle ones left out of a long list."""
    if len(group.names) <= most:
        return ", ".join(group.names)
    return f"{group.names[0]}, {group.names[1]}, … {group.names[-1]}"


def what(group: Group) -> str:
    """How many of which type, as in "2 × container:NodePool"."""
    package, module, kind = ([*group.type.split(":"), "", ""])[:3]
    short = f"{module.partition('/')[0]}:{kind}" if package == "gcp" else f"{module}:{kind}" if kind else group.type
    return short if len(group.names) == 1 else f"{len(group.names)} × {short}"


def amounts(report: StackReport) -> list[tuple[str, str]]:
    """Slices, VMs, chips and cost that change, as (what, from and to)."""
    before, after, whole = report.before, report.after, report.preview.complete
    slices = moved(before.slices, after.slices, whole)
    if not report.slices_known:
        slices = "chosen by each job"
    return [
        ("slices", slices),
        ("TPU VMs", moved(before.tpu_vms, after.tpu_vms, whole)),
        ("chips", moved(before.chips, after.chips, whole)),
        ("VMs in all", moved(before.vms, after.vms, whole)),
    ]


def moved(before: int, after: int, whole: bool) -> str:
    """A number before and after; only the difference where the rest of the stack is not known."""
    if not whole:
        return f"{after - before:+,}" if after != before else "±0"
    return f"{after:,}" if after == before else f"{before:,} → {after:,} ({after - before:+,})"


def cost(report: StackReport, currency: str) -> str:
    """The cost per hour before and after. A star says that the price file does not cover all of it."""
    before, after = report.cost_before.per_hour, report.cost_after.per_hour
    star = "*" if unpriced(report) else ""
    if abs(after - before) < 0.005:
        return f"{currency} {after:,.2f}{star}" if report.preview.complete else f"±0{star}"
    difference = f"{after - before:+,.2f}"
    if not report.preview.complete:
        return f"{currency} {difference}{star}"
    return f"{currency} {before:,.2f} → {after:,.2f} ({difference}){star}"


def unpriced(report: StackReport) -> tuple[str, ...]:
    """Machines that the price file has no price for."""
    return tuple(dict.fromkeys((*report.cost_before.unpriced, *report.cost_after.unpriced)))


def all_unpriced(reports: Sequence[StackReport]) -> list[str]:
    return list(dict.fromkeys(each for report in reports for each in unpriced(report)))
