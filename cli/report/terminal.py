"""The report as a table in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from cli.report import wording
from cli.report.summary import Group, StackReport, Verdict
from pathways.geometry import count
from pathways.prices import Prices

_STYLES = {
    Verdict.NOTHING: "dim",
    Verdict.CHANGES: "green",
    Verdict.DESTRUCTIVE: "bold yellow",
    Verdict.VIOLATION: "bold red",
    Verdict.FAILURE: "bold red",
}
_OPS = {"create": "green", "update": "yellow", "replace": "bold magenta", "delete": "bold red", "import": "cyan"}
# Stacks that are told in detail; the table has them all.
MOST_DETAILED = 20


def show(console: Console, reports: Sequence[StackReport], prices: Prices) -> None:
    """Print the overview, then the stacks that change, the weightiest first."""
    ordered = wording.by_weight(reports)
    console.print(_overview(ordered, prices))
    busy = [report for report in ordered if report.verdict is not Verdict.NOTHING]
    for report in busy[:MOST_DETAILED]:
        console.print(_stack(report), highlight=False)
        console.print()
    if len(busy) > MOST_DETAILED:
        console.print(f"… and {count(len(busy) - MOST_DETAILED, 'more stack')}; --json has all of them.\n")
    missing = wording.all_unpriced(reports)
    if missing:
        console.print(f"* without what the price file does not state: {escape('; '.join(missing))}", style="dim")
    console.print(f"Prices as of {escape(prices.as_of)}: VMs only, at their largest number.", style="dim")


def _overview(reports: Sequence[StackReport], prices: Prices) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("Stack", no_wrap=True)
    table.add_column("", no_wrap=True)
    for heading in ("New", "Upd", "Repl", "Del", "Slices", "Chips", "Cost per hour"):
        table.add_column(heading, justify="right", no_wrap=True)
    for report in reports:
        amounts = dict(wording.amounts(report))
        table.add_row(
            escape(report.stack),
            wording.TITLES[report.verdict],
            *(str(report.counts.get(op, "")) for op in ("create", "update", "replace", "delete")),
            amounts["slices"],
            amounts["chips"],
            wording.cost(report, prices.currency),
            style=_STYLES[report.verdict],
        )
    return table


def _stack(report: StackReport) -> Tree:
    style = _STYLES[report.verdict]
    tree = Tree(f"[{style}]{escape(report.stack)}[/] {wording.TITLES[report.verdict]}: {wording.counts(report)}")
    for loss in report.losses:
        tree.add(f"[bold red]{escape(loss)}[/]")
    for error in report.preview.errors:
        tree.add(f"[red]error[/] {escape(error)}")
    for violation in (*report.mandatory, *report.advisory):
        colour = "red" if violation.level == "mandatory" else "yellow"
        where = f" on {escape(violation.resource)}" if violation.resource else ""
        tree.add(f"[{colour}]{violation.policy}[/]{where}: {escape(violation.message)}")
    for policy, number in report.preview.remediated.items():
        tree.add(f"[cyan]{policy}[/] corrected {count(number, 'resource')}")
    for component in report.components:
        kind = f" [dim]{escape(component.type)}[/]" if component.type else ""
        branch = tree.add(f"[bold]{escape(component.name)}[/]{kind}")
        for group in component.groups:
            _add(branch, group)
    for warning in report.preview.warnings:
        tree.add(f"[yellow]warning[/] {escape(' '.join(warning.split()))}")
    return tree


def _add(branch: Tree, group: Group) -> None:
    leaf = branch.add(f"[{_OPS[group.op]}]{group.op}[/] {escape(wording.what(group))} {escape(wording.names(group))}")
    for each in group.properties[: wording.MOST_PROPERTIES]:
        why = "[bold]because of[/] " if each.replaces and group.op == "replace" else ""
        leaf.add(f"{why}{escape(each.path)}: {escape(each.old)} → {escape(each.new)}")
    if len(group.properties) > wording.MOST_PROPERTIES:
        leaf.add(f"… and {len(group.properties) - wording.MOST_PROPERTIES} more")
    for consequence in group.consequences:
        leaf.add(f"[red]{'each: ' if len(group.names) > 1 else ''}{escape(consequence.text)}[/]")
