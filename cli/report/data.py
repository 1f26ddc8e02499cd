"""The report as JSON, for programs. Nothing is left out of it, and its keys are stable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from cli.report.summary import Group, StackReport, Verdict, worst
from pathways.prices import Cost, Prices

VERSION = 1


def render(reports: Sequence[StackReport], prices: Prices) -> dict[str, Any]:
    """A document of plain values. Amounts are of changed resources only where `complete` is false."""
    return {
        "version": VERSION,
        "verdict": _name(worst(reports)),
        "exitCode": int(worst(reports)),
        "prices": {"asOf": prices.as_of, "source": prices.source, "currency": prices.currency},
        "stacks": [_stack(report) for report in reports],
    }


def _stack(report: StackReport) -> dict[str, Any]:
    preview = report.preview
    return {
        "stack": report.stack,
        "verdict": _name(report.verdict),
        "exitCode": int(report.verdict),
        "complete": preview.complete,
        "counts": dict(report.counts),
        "losses": list(report.losses),
        "before": {**_amount(report.before), "costPerHour": _cost(report.cost_before)},
        "after": {**_amount(report.after), "costPerHour": _cost(report.cost_after)},
        "slicesKnown": report.slices_known,
        "components": [
            {"name": each.name, "type": each.type, "changes": [_group(group) for group in each.groups]}
            for each in report.components
        ],
        "errors": list(preview.errors),
        "warnings": list(preview.warnings),
        "policies": {
            "packs": None if preview.policies is None else list(preview.policies),
            "violations": [asdict(violation) for violation in preview.violations],
            "remediated": dict(preview.remediated),
        },
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "op": group.op,
        "type": group.type,
        "names": list(group.names),
        "destructive": group.destructive,
        "properties": [asdict(each) for each in group.properties],
        "consequences": [asdict(each) for each in group.consequences],
    }


def _amount(amount: Any) -> dict[str, int]:
    return {"slices": amount.slices, "vms": amount.vms, "tpuVms": amount.tpu_vms, "chips": amount.chips}


def _cost(cost: Cost) -> dict[str, Any]:
    return {"amount": round(cost.per_hour, 4), "unpriced": list(cost.unpriced)}


def _name(verdict: Verdict) -> str:
    return verdict.name.lower()
