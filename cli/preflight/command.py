"""The command: what Google says about a stack, most urgent first."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cli import progress, stacks
from cli.cloud.errors import EXIT_UNREACHABLE, told

if TYPE_CHECKING:
    from cli.preflight.findings import Finding, Severity

_MARKS = {"error": "[bold red]✗[/]", "unknown": "[yellow]?[/]", "warning": "[yellow]![/]", "ok": "[green]✓[/]"}
EXIT_FOUND = 1


def command(
    stack: stacks.StackOption,
    as_json: Annotated[bool, typer.Option("--json", help="Every finding as JSON, for programs.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="End with 1 for warnings and open questions too.")] = False,
) -> None:
    """Ask Google whether a stack can be deployed: versions, machines, quota, permissions, names. Changes nothing.

    Ends with 0 where nothing stands against it, 1 where something does, 2 for a faulty stack file, and 3 where
    Google cannot be asked.
    """
    plan, warnings = stacks.load(stack)
    # Google's clients take seconds to load; other commands do not wait for them.
    from cli.cloud.google import Google
    from cli.preflight.run import PROBES, run

    with told(), progress.counted(f"asking Google about {stack}", len(PROBES)) as answered:
        findings = run(Google(), plan, answered)
    if as_json:
        typer.echo(
            json.dumps({"stack": plan.settings.stack, "findings": [asdict(each) for each in findings]}, indent=2)
        )
    else:
        stacks.warn(warnings)
        _show(findings)
    counted = Counter(each.severity for each in findings)
    if counted["unknown"] == len(findings):
        raise typer.Exit(EXIT_UNREACHABLE)
    if counted["error"] or (strict and (counted["warning"] or counted["unknown"])):
        raise typer.Exit(EXIT_FOUND)


def _show(findings: list[Finding]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    order = list(_MARKS)
    for each in sorted(findings, key=lambda finding: order.index(finding.severity)):
        console.print(f"{_MARKS[each.severity]} {escape(each.evidence)}  [dim]{escape(f'[{each.id}]')}[/]")
        if each.fix:
            console.print(f"    fix: {escape(each.fix)}")
    counted = Counter(each.severity for each in findings)
    words: dict[Severity, str] = {
        "error": "stand against pulumi up",
        "warning": "should be known",
        "unknown": "could not be asked",
    }
    said = [f"{counted[severity]} {text}" for severity, text in words.items() if counted[severity]]
    console.print(
        f"\n{counted['ok']} of {len(findings)} findings are fine" + "".join(f", {each}" for each in said) + "."
    )
