"""`pathways checks`: what must hold before anything is deployed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from pathways.checks import CHECKS, Check

_INTRODUCTION = """\
# Checks

Every check runs before the first resource is registered: in `pulumi preview` and `pulumi up`, and in `pathways plan`.
All faults of a stack file are reported at once, each with the check's name in brackets, the setting, the reason and
the fix. An error stops the deployment, a warning does not. A check is skipped while a setting that it reads is at
fault itself, so that no setting is blamed twice.

Before the checks, the form of the file is verified: unknown keys, missing settings, wrong types and choices. Editors
that know [stacks/schema.json](../stacks/schema.json) show those while one types.

*Generated from `pathways/checks/`; `pathways checks --markdown` prints it.*
"""


def command(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the page docs/checks.md.")] = False,
) -> None:
    """List every check that a stack file must pass: its name, what it demands, and the settings it reads."""
    if markdown:
        typer.echo(page(), nl=False)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Check", "Demands", "Severity"):
        table.add_column(heading, overflow="fold")
    for check in CHECKS:
        table.add_row(check.id, check.title, severity(check))
    console = Console() if Console().is_terminal else Console(width=200)
    console.print(table)


def page() -> str:
    """The page of all checks, by what they are about."""
    sections = [
        f"\n## {_subject(module)}\n\n| Check | What it demands | Severity | Reads |\n|---|---|---|---|\n{_rows(checks)}"
        for module, checks in groupby(CHECKS, key=lambda check: check.body.__module__)
    ]
    return _INTRODUCTION + "".join(sections)


def severity(check: Check) -> str:
    """What a finding of the check is; two where the check cannot always tell."""
    return " or ".join(check.severities)


def _subject(module: str) -> str:
    return module.rpartition(".")[2].capitalize()


def _rows(checks: Iterable[Check]) -> str:
    return "".join(
        f"| `{check.id}` | {check.title} | {severity(check)} | {', '.join(f'`{path}`' for path in check.reads)} |\n"
        for check in checks
    )
