"""Saying what is being done and for how long, on a terminal and in a log."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

Report = Callable[[str, float], None]
"""Called every second or so with what is being done and the seconds it has taken."""

EVERY = 15.0
"""Seconds between two lines about the same work in a log."""


@contextmanager
def reporter(console: Console | None = None) -> Iterator[Report]:
    """A live line on a terminal; plain lines elsewhere."""
    console = console or Console(file=sys.stdout)
    if not console.is_terminal:
        yield lines(lambda line: print(line, flush=True))
        return
    with console.status("") as status:
        yield lambda work, seconds: status.update(sentence(work, seconds))


def lines(write: Callable[[str], None]) -> Report:
    """A line when the work changes and every EVERY seconds of the same work."""
    last: tuple[str, float] = ("", 0.0)

    def report(work: str, seconds: float) -> None:
        nonlocal last
        if work != last[0] or seconds - last[1] >= EVERY:
            last = (work, seconds)
            write(sentence(work, seconds))

    return report


def sentence(work: str, seconds: float) -> str:
    """ "building etcd (1 of 8), 1 min 20 s so far"."""
    minutes, rest = divmod(int(seconds), 60)
    if not int(seconds):
        return work
    return f"{work}, {minutes} min {rest} s so far" if minutes else f"{work}, {rest} s so far"


def run(
    argv: Sequence[str],
    work: str,
    *,
    log: Path,
    report: Report,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """Run a command to its end with its output in `log`, reporting meanwhile; the exit code."""
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with (
        log.open("wb") as output,
        subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=cwd, env=env
        ) as process,
    ):
        try:
            while True:
                report(work, time.monotonic() - started)
                try:
                    return process.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.terminate()
