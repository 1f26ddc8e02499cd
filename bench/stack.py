"""What our settings and checks cost: the default stack against a bare program that makes the same resources."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import yaml
from rich.console import Console
from rich.live import Live
from rich.table import Table

from bench.measure import Run, median, run
from rehearsal import project
from rehearsal.home import CHECKOUT
from rehearsal.project import StackFile
from rehearsal.session import Session

SLICES = (2, 16, 64)
# Odd, for a median that was measured.
PREVIEWS, UPS = 3, 1
# On a machine that does something else too, processor seconds tell more than those of the clock.
COLUMNS = ("ours s", "bare s", "ratio", "ours CPU s", "bare CPU s", "ratio", "ours MiB", "bare MiB")


class Program:
    """A Pulumi program on a rehearsal, with a stack of its own for each number of slices."""

    def __init__(self, name: str, session: Session, folder: Path) -> None:
        self.name = name
        self._session = session
        self._folder = folder
        self._environment = {**os.environ, **session.environment()}
        self._logs = session.home.logs / "bench"
        self._logs.mkdir(parents=True, exist_ok=True)

    def stack(self, slices: int) -> str:
        """Create the stack; its name."""
        raise NotImplementedError

    def pulumi(self, *arguments: str) -> Run:
        argv = [str(self._session.home.bin / "pulumi"), "--cwd", str(self._folder), "--non-interactive", *arguments]
        return run(argv, self._environment, self._logs / f"{self.name}.log")

    def select(self, stack: str) -> str:
        self.pulumi("stack", "select", "--create", "--stack", stack, "--secrets-provider", "passphrase")
        return stack


class Ours(Program):
    """The checkout's program on the default stack with another number of slices."""

    def __init__(self, session: Session) -> None:
        super().__init__("ours", session, session.home.project)

    def stack(self, slices: int) -> str:
        document = yaml.safe_load((CHECKOUT / "stacks" / "Pulumi.gke-v6e.yaml").read_text())
        document["config"]["pathways:slices"]["count"] = slices
        name = f"ours-{slices}"
        path = self._session.home.root / f"Pulumi.{name}.yaml"
        path.write_text(yaml.safe_dump(document))
        project.lay(self._session.home, self._session.tools, StackFile(name, path))
        return self.select(name)


class Bare(Program):
    """bench/bare, which Pulumi runs as it is."""

    def __init__(self, session: Session) -> None:
        folder = session.home.root / "bare"
        folder.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / "bench" / "bare" / "__main__.py", folder)
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "bare", "runtime": runtime}))
        super().__init__("bare", session, folder)

    def stack(self, slices: int) -> str:
        name = f"bare-{slices}"
        chart = str(self._session.tools.share / "jobset" / "chart")
        config = {"gcp:project": "example-ml", "gcp:region": "us-east5", "bare:slices": slices, "bare:chart": chart}
        (self._folder / f"Pulumi.{name}.yaml").write_text(yaml.safe_dump({"config": config}))
        return self.select(name)


def compare(session: Session, console: Console) -> None:
    """Print preview and up of both programs, run in turn, and their ratios; each row as soon as it is measured."""
    session.start(console.print)
    # What Pulumi does is compared, which waits for pods, and not what their containers do.
    session.home.choose(run_pods=False)
    ours, bare = Ours(session), Bare(session)
    table = Table("slices", "command", *COLUMNS, box=None)
    with Live(table, console=console):
        for slices in SLICES:
            runs = _in_turn(ours, bare, slices, PREVIEWS, _preview)
            table.add_row(str(slices), "preview", *_cells(runs[ours], runs[bare]))
        runs = _in_turn(ours, bare, SLICES[0], UPS, _up)
        table.add_row(str(SLICES[0]), "up", *_cells(runs[ours], runs[bare]))
    console.print("Goal: a ratio of at most 1.05, and seconds that grow in a straight line with the slices.")


def _in_turn(
    ours: Program, bare: Program, slices: int, times: int, measured: Callable[[Program, str], Run]
) -> dict[Program, list[Run]]:
    """Both programs `times` times, so that what else the machine does falls on both."""
    stacks = {program: program.stack(slices) for program in (ours, bare)}
    runs: dict[Program, list[Run]] = {ours: [], bare: []}
    for _ in range(times):
        for program, stack in stacks.items():
            runs[program].append(measured(program, stack))
    return runs


def _preview(program: Program, stack: str) -> Run:
    return program.pulumi("preview", "--stack", stack)


def _up(program: Program, stack: str) -> Run:
    taken = program.pulumi("up", "--yes", "--skip-preview", "--stack", stack)
    program.pulumi("destroy", "--yes", "--skip-preview", "--stack", stack)
    return taken


def _cells(ours: list[Run], bare: list[Run]) -> list[str]:
    def medians(what: Callable[[Run], float]) -> list[str]:
        own, plain = (median(map(what, runs)) for runs in (ours, bare))
        return [f"{own:.2f}", f"{plain:.2f}", f"{own / plain:.3f}"]

    peaks = [f"{max(run.peak_mib for run in runs):.0f}" for runs in (ours, bare)]
    return [*medians(lambda run: run.seconds), *medians(lambda run: run.processor_seconds), *peaks]
