"""Wall time, processor time and peak memory of whole commands."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One finished command: seconds, seconds of processors of it and its children, and MiB of the largest of them."""

    seconds: float
    processor_seconds: float
    peak_mib: float


def run(argv: Sequence[str], environment: Mapping[str, str], log: Path) -> Run:
    """Run a command to its end, its output into `log`. Raises RuntimeError when it fails."""
    began = time.perf_counter()
    with log.open("wb") as output:
        child = subprocess.Popen(argv, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)} failed; its output is in {log}")
    return Run(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(values: Iterable[float]) -> float:
    """The middle one, which what else the machine did moves least."""
    return statistics.median(values)
