"""Python environments apart from the program's own: locked, and made once in the user's cache."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rehearsal.errors import RehearsalError

_COMPLETE = "complete"
_COLLECTING = re.compile(r"\s*Collecting ([\w.-]+)")


def is_complete(folder: Path) -> bool:
    """Whether there is an environment in that folder, made to its end."""
    return (folder / _COMPLETE).exists()


@dataclass(frozen=True)
class PythonEnvironment:
    """The packages of a lock file under a name; `contents` says what it is and how large, for those who wait for it."""

    name: str
    lock: Path
    contents: str

    @property
    def folder(self) -> Path:
        """Where the environment of exactly this lock lies, for this version of Python."""
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:16]
        return base / "pulumi-pathways" / self.name / f"{digest}-{version}"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def complete(self) -> bool:
        return is_complete(self.folder)

    def ensure(self) -> Path:
        """Make the environment unless it is there, which takes minutes; its folder. Raises RehearsalError."""
        if not self.complete:
            with self._locked():
                if not self.complete:
                    self._make()
        return self.folder

    def _make(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        venv.create(self.folder, with_pip=True)
        options = ["--no-deps", "--no-compile", "--require-hashes", "--progress-bar", "off"]
        command = ["-m", "pip", "--disable-pip-version-check", "install", *options, "--requirement", str(self.lock)]
        self._install([str(self.python), *command])
        (self.folder / _COMPLETE).touch()

    def _install(self, command: list[str]) -> None:
        # Imported here: programs that only ask where the environment lies start many at once.
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        console.print(f"Installing {self.contents} into {self.folder}, once.", highlight=False, soft_wrap=True)
        lines: list[str] = []
        with (
            Progress(console=console, transient=True) as progress,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip,
        ):
            task = progress.add_task("", total=len(re.findall(r"(?m)^\S+==", self.lock.read_text("utf-8"))))
            for line in pip.stdout or ():
                lines.append(line)
                if found := _COLLECTING.match(line):
                    progress.update(task, advance=1, description=found[1])
                elif line.startswith("Installing"):
                    progress.update(task, description="unpacking")
        if pip.returncode:
            raise RehearsalError(
                f"{self.contents} cannot be installed. pip says:\n{''.join(lines[-15:])}"
                "Check that pip reaches a package index, then try again."
            )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Two processes that need the same environment: the second waits for the first."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with (self.folder.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
