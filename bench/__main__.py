"""`python -m bench`: print every measurement; with names, such as `python -m bench scale`, only those."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import report, scale, stack
from rehearsal.home import CHECKOUT, Home
from rehearsal.session import Session
from rehearsal.tools import Tools

# Wide enough for every table, also in a file.
console = Console(width=120)


def main() -> None:
    asked = sys.argv[1:] or list(MEASUREMENTS)
    if unknown := set(asked) - MEASUREMENTS.keys():
        raise SystemExit(f"There is no measurement {', '.join(sorted(unknown))}. There are: {', '.join(MEASUREMENTS)}")
    # One that is cut off ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cut off"))
    for name in asked:
        MEASUREMENTS[name]()


def _in_a_rehearsal(measure: Callable[[Session], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Home(Path(folder) / "rehearsal"), Tools.locate())
        session.build()
        try:
            measure(session)
        finally:
            session.stop()


def _up(session: Session) -> None:
    """The time of `make up` with built tools, step by step, in a new rehearsal."""
    home, began = session.home, time.perf_counter()
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


MEASUREMENTS: dict[str, Callable[[], None]] = {
    "report": report.main,
    "up": lambda: _in_a_rehearsal(_up),
    "stack": lambda: _in_a_rehearsal(lambda session: stack.compare(session, console)),
    "scale": lambda: _in_a_rehearsal(lambda session: scale.measure(session.home, console)),
}


if __name__ == "__main__":
    main()
