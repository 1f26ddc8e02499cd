"""The nodes' Python: new enough for JAX, with virtual environments into which nothing is really installed.

What runs in such an environment has the JAX of the rehearsal's own (rehearsal.client), if there is one.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from pathways import images
from rehearsal import client

VERSION = (3, 12, 3, "final", 0)
# What a virtual environment can run, by the package that brings it: the module, and what stands in for it.
MODULES = {"maxtext.trainers.pre_train.train": ("maxtext", "rehearsal.client.trainer")}
# Commands that packages bring, and what stands in for them.
COMMANDS = {"jupyterlab": ("jupyter", "rehearsal.client.notebook")}


def run(_name: str, arguments: list[str], folder: Path) -> int:
    """`python3 ARGUMENTS`, where the variable REHEARSAL_VENV names the virtual environment whose Python it is."""
    named = os.environ.get("REHEARSAL_VENV")
    venv = Path(named) if named else None
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
            if venv is None or package not in _installed(venv):
                return _end(f"No module named {module.partition('.')[0]}")
            arguments = ["-m", standin, *rest]
        case ["-c", code, *rest]:
            arguments = ["-c", f"import sys; sys.version_info = {VERSION}\n{code}", *rest]
    if venv and (fault := _unlike_images(venv)):
        return _end(fault)
    python = venv and client.python() or sys.executable
    os.execv(python, [str(python), *arguments])


def _end(fault: str) -> int:
    print(f"{sys.argv[0]}: {fault}", file=sys.stderr)
    return 1


def _unlike_images(venv: Path) -> str:
    """Why a JAX program there could not talk to a proxy of the images beside it; empty where it could."""
    jax = _installed(venv).get("jax")
    for image in sorted(venv.parent.glob("images/proxy_server-*.sqsh")):
        tag = images.tag_of(image.read_text().strip())
        if jax and images.jax_version(tag) not in (None, jax):
            return f"JAX {jax} is installed in {venv}, and the image {image.name} is for {images.jax_version(tag)}"
    return ""


def _make(venv: Path, folder: Path) -> int:
    """A virtual environment: a Python that knows where it lies, and the file that puts it on PATH."""
    programs = venv / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    python = programs / "python"
    python.write_text(
        f'#!/bin/sh\nexport REHEARSAL_VENV={shlex.quote(str(venv))}\nexec {shlex.quote(str(folder / "bin" / "python3"))} "$@"\n'
    )
    python.chmod(0o755)
    (programs / "python3").unlink(missing_ok=True)
    (programs / "python3").symlink_to("python")
    (programs / "activate").write_text(f"export PATH={shlex.quote(str(programs))}:$PATH\n")
    return 0


def _install(venv: Path | None, packages: list[str]) -> int:
    if venv is None:
        print("error: externally-managed-environment", file=sys.stderr)
        return 1
    known = _installed(venv) | dict(package.partition("==")[::2] for package in packages)
    (venv / "installed").write_text("".join(f"{name}=={version}\n" for name, version in sorted(known.items())))
    for name in known.keys() & COMMANDS.keys():
        command, standin = COMMANDS[name]
        path = venv / "bin" / command
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(str(venv / "bin" / "python"))} -m {standin} "$@"\n')
        path.chmod(0o755)
    print(f"The rehearsal downloads nothing: {' '.join(packages)} count as installed.")
    return 0


def _installed(venv: Path) -> dict[str, str]:
    """Versions by package; empty for any version."""
    path = venv / "installed"
    return dict(line.partition("==")[::2] for line in path.read_text().split()) if path.exists() else {}
