"""What every screen has: troubles, and what could not be seen."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cli.status.diagnoses import Trouble
from cli.status.snapshot import Silent


def trouble(found: Trouble) -> Panel:
    """What is the matter, with its evidence, cause and next command."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, said in (("evidence", found.evidence), ("probably", found.cause), ("next", found.next)):
        grid.add_row(label, Text(said, "bold" if label == "next" else ""))
    return Panel(grid, title=Text(found.id), title_align="left", border_style="red", box=box.ROUNDED)


def silent(unseen: Iterable[Silent]) -> RenderableType:
    """What could not be seen, and what to do about it."""
    lines = Text("could not be seen:", "yellow")
    for each in unseen:
        lines.append(f"\n  {each.part}: {each.reason}", "default")
        lines.append(f"\n    fix: {each.fix}", "dim")
    return lines
