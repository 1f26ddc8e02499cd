"""`python -m bench`: print every measurement."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import report, stack
from rehearsal.home import CHECKOUT, Home
from rehearsal.session import Session
from rehearsal.tools import Tools

console = Console()


def main() -> None:
    report.main()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "rehearsal")
        session = Session(home, Tools.locate())
        session.build()
        try:
            _up(home)
            stack.compare(session, console)
        finally:
            session.stop()


def _up(home: Home) -> None:
    """The time of `make up` with built tools, step by step, in a new rehearsal."""
    began = time.perf_counter()
    environment = {**os.environ, "REHEARSAL_HOME": str(home.root)}
    with console.status("up of the default stack from nothing"):
        subprocess.run(
            [sys.executable, "-m", "rehearsal", "up", "gke-v6e"],
            cwd=CHECKOUT,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    total = time.perf_counter() - began
    steps = json.loads((home.root / "timings.json").read_text())
    table = Table("make up, step", "s", "share", box=None)
    for name, seconds in steps.items():
        table.add_row(name, f"{seconds:.1f}", f"{seconds / total:.0%}")
    table.add_row("start of Python and the rest", f"{total - sum(steps.values()):.1f}", "")
    table.add_row("all", f"{total:.1f}", "goal: under 60 s")
    console.print(table)


if __name__ == "__main__":
    main()
