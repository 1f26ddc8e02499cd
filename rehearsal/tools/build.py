"""Building Go programs into the tools' folder, one at a time, each put in place whole."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rehearsal.errors import RehearsalError
from rehearsal.tools import catalogue
from rehearsal.tools.catalogue import Copy, Program
from rehearsal.tools.go import Go, parse, toolchain
from rehearsal.tools.progress import Report, run

VERSIONS = "versions.json"
"""In the tools' folder: program -> package, module and version it was built from."""


def missing(root: Path, names: Sequence[str]) -> list[str]:
    """Those of `names` that are not built; a program is put in place after all that belongs to it."""
    return [name for name in names if not (root / "bin" / name).exists()]


def build(root: Path, names: Sequence[str], report: Report) -> None:
    """Build what is missing; waits while another process builds it, and no longer."""
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root, report, unless=lambda: not missing(root, names)):
        wanted = missing(root, names)
        if not wanted:
            return
        _clear_interrupted(root)
        go = toolchain(root, root / "logs" / "go.log", report)
        for position, name in enumerate(wanted, start=1):
            _build_one(root, catalogue.PROGRAMS[name], go, f"({position} of {len(wanted)})", report)


def _build_one(root: Path, program: Program, go: Go, position: str, report: Report) -> None:
    folder = catalogue.workspace(program)
    module = _module(go, program.module, folder)
    log = root / "logs" / f"{program.name}.log"
    with _scratch(root) as scratch:
        binary = scratch / program.name
        argv = [str(go.command), "build", *catalogue.BUILD_FLAGS]
        argv += ["-ldflags", linker_flags(program, module["Version"]), "-o", str(binary), program.package]
        work = f"building {program.name} {position}"
        code = run(argv, work, log=log, report=report, cwd=folder, env=go.environment())
        if code != 0:
            tail = "\n".join(log.read_text(errors="replace").strip().splitlines()[-8:])
            raise RehearsalError(f"{program.name} cannot be built; the end of {log}:\n{tail}")
        for copy in program.copies:
            _copy(root, copy, Path(_module(go, copy.module, folder)["Dir"]), scratch)
        _record(root, program, module["Version"])
        (root / "bin").mkdir(exist_ok=True)
        os.replace(binary, root / "bin" / program.name)


def linker_flags(program: Program, version: str) -> str:
    """No symbol table, and the version where the program reads its own."""
    major, minor = parse(version)[:2]
    stamps = [
        f"-X {variable}={value.format(version=version, major=major, minor=minor)}"
        for variable, value in program.stamps.items()
    ]
    return " ".join(["-s", "-w", *stamps])


def _module(go: Go, path: str, folder: Path) -> dict[str, Any]:
    """Version and folder of a module, downloaded when it is not there."""
    found: dict[str, Any] = json.loads(go.output(["mod", "download", "-json", path], folder))
    return found


def _copy(root: Path, copy: Copy, module: Path, scratch: Path) -> None:
    """Copy by way of `scratch`, so that nothing half written is ever found. Module files are read-only."""
    source, target = module / copy.source, root / copy.target
    fresh = Path(tempfile.mkdtemp(dir=scratch)) / target.name
    if source.is_dir():
        shutil.copytree(source, fresh)
    elif copy.version:
        fresh.write_text(json.dumps({**json.loads(source.read_text()), "version": copy.version}))
    else:
        shutil.copyfile(source, fresh)
    for path in (fresh, *fresh.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        shutil.rmtree(target)
    os.replace(fresh, target)


def _record(root: Path, program: Program, version: str) -> None:
    path = root / VERSIONS
    known = json.loads(path.read_text()) if path.exists() else {}
    known[program.name] = {"package": program.package, "module": program.module, "version": version}
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    os.replace(fresh, path)


@contextmanager
def _locked(root: Path, report: Report, unless: Callable[[], bool]) -> Iterator[None]:
    """Hold the folder's lock, or nothing as soon as `unless`; the kernel lets go of it when a builder dies."""
    started = time.monotonic()
    with (root / ".lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if unless():
                    break
                report(
                    "waiting for the tools that another process builds in the same cache",
                    time.monotonic() - started,
                )
                time.sleep(1)
        yield


@contextmanager
def _scratch(root: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=".building-", dir=root) as scratch:
        yield Path(scratch)


def _clear_interrupted(root: Path) -> None:
    """Remove what a killed builder left. Only the holder of the lock may call it."""
    for pattern in (".building-*", ".go-*"):
        for leftover in root.glob(pattern):
            shutil.rmtree(leftover, ignore_errors=True)
