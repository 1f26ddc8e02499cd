"""The Go programs of a rehearsal: found where they are built, built where they are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal.errors import RehearsalError
from rehearsal.tools import build, location
from rehearsal.tools.catalogue import DEFAULT, PROGRAMS
from rehearsal.tools.progress import Report, reporter

__all__ = ["DEFAULT", "Tools"]


@dataclass(frozen=True)
class Tools:
    """A folder of built programs. Using them needs no Go."""

    root: Path

    @classmethod
    def locate(cls) -> Tools:
        """The folder that belongs to this checkout's pins, built or not."""
        return cls(location.folder())

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def share(self) -> Path:
        """Data of the programs' modules: charts, CRDs, kwok stages, Pulumi's scripts for Python."""
        return self.root / "share"

    def program(self, name: str) -> Path:
        """Path of a built program; raises RehearsalError when it is not built."""
        path = self.bin / name
        if not path.exists():
            raise RehearsalError(f"{name} is not built; build it with `python -m rehearsal.tools {name}`")
        return path

    def missing(self, names: Sequence[str] = DEFAULT) -> list[str]:
        """Those of `names` that are not built."""
        return build.missing(self.root, names)

    def ensure(self, names: Sequence[str] = DEFAULT, report: Report | None = None) -> None:
        """Build what is missing, saying so; raises RehearsalError when that fails."""
        unknown = sorted(set(names) - set(PROGRAMS))
        if unknown:
            raise RehearsalError(f"no such tool: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
        if not self.missing(names):
            return
        if report is not None:
            build.build(self.root, names, report)
            return
        with reporter() as chosen:
            build.build(self.root, names, chosen)
