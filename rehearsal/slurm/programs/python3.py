"""The nodes' Python: new enough for JAX, with virtual environments into which nothing is really installed."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

VERSION = (3, 12, 3, "final", 0)
# What a virtual environment can run, by the package that brings it: the module, and what stands in for it.
MODULES = {"maxtext.trainers.pre_train.train": ("maxtext", "rehearsal.standins.trainer")}


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`python3 ARGUMENTS`, where the variable REHEARSAL_VENV names the virtual environment whose Python it is."""
    venv = os.environ.get("REHEARSAL_VENV")
    match arguments:
        case ["--version"]:
            print(f"Python {'.'.join(map(str, VERSION[:3]))}")
            return 0
        case ["-m", "venv", target]:
            return _make(Path(target), folder)
        case ["-m", "pip", "install", *packages]:
            return _install(venv, [package for package in packages if not package.startswith("-")])
        case ["-m", module, *rest] if module in MODULES:
            package, standin = MODULES[module]
            if venv is None or package not in _installed(Path(venv)):
                print(f"{sys.argv[0]}: No module named {module.partition('.')[0]}", file=sys.stderr)
                return 1
            arguments = ["-m", standin, *rest]
        case ["-c", code, *rest]:
            arguments = ["-c", f"import sys; sys.version_info = {VERSION}\n{code}", *rest]
    os.execv(sys.executable, [sys.executable, *arguments])


def _make(venv: Path, folder: Path) -> int:
    """A virtual environment: a Python that knows where it lies, and the file that puts it on PATH."""
    programs = venv / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    python = programs / "python"
    python.write_text(
        f'#!/bin/sh\nexport REHEARSAL_VENV={shlex.quote(str(venv))}\nexec {folder / "bin" / "python3"} "$@"\n'
    )
    python.chmod(0o755)
    (programs / "python3").unlink(missing_ok=True)
    (programs / "python3").symlink_to("python")
    (programs / "activate").write_text(f"export PATH={shlex.quote(str(programs))}:$PATH\n")
    return 0


def _install(venv: str | None, packages: list[str]) -> int:
    if venv is None:
        print("error: externally-managed-environment", file=sys.stderr)
        return 1
    names = sorted({*_installed(Path(venv)), *(package.partition("==")[0] for package in packages)})
    (Path(venv) / "installed").write_text("\n".join(names) + "\n")
    print(f"The rehearsal downloads nothing: {' '.join(packages)} count as installed.")
    return 0


def _installed(venv: Path) -> list[str]:
    path = venv / "installed"
    return path.read_text().split() if path.exists() else []
