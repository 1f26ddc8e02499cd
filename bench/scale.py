"""`python -m bench scale`: how long the rehearsal of 64 slices of v5p 4x4x4 takes, and how much memory.

Those are 1,024 VMs and 4,096 chips: every one a Node of a real control plane, with a real pod on it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from rehearsal.home import CHECKOUT, Home
from rehearsal.processes import Processes

STACK = Path(__file__).parent / "stacks" / "Pulumi.scale-v5p.yaml"
SAMPLE_SECONDS = 0.5
MIB = 2**20


class Memory:
    """The most memory that the rehearsal's processes held, in MiB: in all, and by program.

    Sums of resident sets: pages that processes share count for each of them.
    """

    def __init__(self, home: Home) -> None:
        self.most = 0.0
        self.by_program: dict[str, float] = defaultdict(float)
        self._home = home
        self._ended = threading.Event()

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        thread = threading.Thread(target=self._sample, daemon=True)
        thread.start()
        yield
        self._ended.set()
        thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            held: dict[str, float] = defaultdict(float)
            for process in self._processes():
                with contextlib.suppress(psutil.Error):
                    held[_program(process)] += process.memory_info().rss / MIB
            self.most = max(self.most, sum(held.values()))
            for name, size in held.items():
                self.by_program[name] = max(self.by_program[name], size)

    def _processes(self) -> set[psutil.Process]:
        """What the rehearsal started to stay, what runs now on behalf of the command, and all their children."""
        found: set[psutil.Process] = set()
        for pid in [os.getpid(), *(process.pid for process in Processes(self._home.processes).all())]:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                found |= {process, *process.children(recursive=True)}
        return found - {psutil.Process()}


def measure(home: Home, console: Console) -> None:
    """Bring the stack up, preview it, and take it down; prints seconds and memory."""
    environment = {**os.environ, "REHEARSAL_HOME": str(home.root)}
    memory, seconds = Memory(home), {}
    with memory.watch():
        for command, what in (("up", "up"), ("preview", "preview with nothing to do"), ("down", "down")):
            with console.status(f"{command} of 64 slices, 1,024 VMs"):
                began = time.perf_counter()
                _run(command, environment, home)
                seconds[what] = time.perf_counter() - began
            if command == "up":
                timings = json.loads((home.root / "timings.json").read_text())
    table = Table("64 slices of v5p 4x4x4, 1,024 VMs", "s", box=None)
    for what, taken in seconds.items():
        table.add_row(what, f"{taken:.0f}")
        if what == "up":
            table.add_row("  of it pulumi up", f"{timings['pulumi up']:.0f}")
    console.print(table)
    table = Table("peak memory", "MiB", box=None)
    table.add_row("all processes together", f"{memory.most:.0f}")
    for name, size in sorted(memory.by_program.items(), key=lambda each: -each[1])[:8]:
        table.add_row(f"  {name}", f"{size:.0f}")
    console.print(table)


def _run(command: str, environment: Mapping[str, str], home: Home) -> None:
    argv = [sys.executable, "-m", "rehearsal", command, str(STACK)]
    done = subprocess.run(argv, cwd=CHECKOUT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"rehearsal {command} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _program(process: psutil.Process) -> str:
    """What a process is; those of Python have the same name, and differ by their module."""
    argv = process.cmdline()
    if not Path(process.name()).name.startswith("python"):
        return process.name()
    if "-m" in argv:
        return argv[argv.index("-m") + 1]
    words = " ".join(argv)
    for part, name in (("rehearsal.provider", "pulumi-resource-gcp"), ("language-python-exec", "the program")):
        if part in words:
            return name
    return "other Python"
