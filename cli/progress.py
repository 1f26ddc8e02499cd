"""Progress of what takes longer than a moment, on standard error and only for a person who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


@contextmanager
def counted(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar of `total` steps; call the yielded function with what a step was about when it is done."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} {task.fields[last]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=total, last="")
        yield lambda about: shown.update(task, advance=1, last=about)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A spinner while something is waited for."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
