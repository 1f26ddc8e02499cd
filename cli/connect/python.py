"""A Python environment whose JAX is the one that the images are for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cli import progress, stacks
from cli.cloud.errors import CloudError
from pathways.slurm.scripts import OLDEST_PYTHON

_NEWER = ("python3.14", "python3.13", "python3.12", "python3")
#: Names an environment, as --venv does.
VARIABLE = "PATHWAYS_VENV"
#: Holds what makes JAX know the proxy in programs that do not say pathwaysutils.initialize().
PLUGIN = Path(__file__).with_name("plugin")
LOCK = Path(__file__).resolve().parents[2] / "requirements-client.lock"
#: The lock's line of JAX for the Pythons that it has a wheel for; older ones have a line of their own.
_PINNED = re.compile(rf"(?m)^jax==(\S+) ; python_full_version >= '{re.escape(OLDEST_PYTHON)}'")
_ASK = "import importlib.metadata as m; print(m.version('jax'))"


def environment(jax: str, asked: Path | None, jupyter: bool) -> Path:
    """The bin folder of the environment: the one asked for, else a kept one, which is made at first.

    Raises CloudError where its JAX is another one, or it cannot be made.
    """
    root = asked or _cache() / f"jax-{jax}"
    python = root / "bin" / "python"
    if python.exists():
        _check(python, jax, root, named=asked is not None)
        if jupyter and not (root / "bin" / "jupyter").exists():
            _install(python, ["jupyterlab"], "Jupyter")
    elif asked:
        raise CloudError("missing", f"{root} is no virtual environment", "leave --venv out, and one is made")
    else:
        _make(root, jax, jupyter)
    return python.parent


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pathways" / "venvs"


def _make(root: Path, jax: str, jupyter: bool) -> None:
    root.parent.mkdir(parents=True, exist_ok=True)
    made = False
    try:
        done = subprocess.run([_interpreter(), "-m", "venv", str(root)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise CloudError(
                "refused", f"no virtual environment: {done.stderr.strip()}", "install Python's venv module"
            )
        _install(root / "bin" / "python", packages(jax), f"JAX {jax}")
        if jupyter:
            _install(root / "bin" / "python", ["jupyterlab"], "Jupyter")
        made = True
    finally:
        # A half-made one must not be taken for a whole one.
        if not made:
            shutil.rmtree(root, ignore_errors=True)


def packages(jax: str) -> list[str]:
    """What pip is to install: the lock where it is of that JAX, else that JAX and the newest of the rest."""
    pinned = _PINNED.search(LOCK.read_text("utf-8"))
    if pinned and pinned[1] == jax:
        return ["--require-hashes", "--no-deps", "--requirement", str(LOCK)]
    return [f"jax=={jax}", "pathwaysutils"]


def _install(python: Path, wanted: list[str], what: str) -> None:
    with progress.waiting(f"installing {what}, once: a minute or two"):
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["pip does not say why"]
        raise CloudError(
            "refused", f"{what} cannot be installed: {last[0]}", "name an environment that has it with --venv"
        )


def _interpreter() -> str:
    """A Python that JAX has wheels for. Raises CloudError."""
    oldest = tuple(map(int, OLDEST_PYTHON.split(".")))
    if sys.version_info[:2] >= oldest:
        return sys.executable
    for name in _NEWER:
        found = shutil.which(name)
        if found and _version(found) >= oldest:
            return found
    raise CloudError(
        "missing",
        f"JAX needs Python {OLDEST_PYTHON} or newer, and there is none on PATH",
        f"install python{OLDEST_PYTHON}, or name an environment with --venv",
    )


def _version(python: str) -> tuple[int, ...]:
    ask = "import sys; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()


def _check(python: Path, jax: str, root: Path, named: bool) -> None:
    """Of an environment that the user named, another JAX is said; of one that was made here, it is refused."""
    done = subprocess.run([str(python), "-c", _ASK], capture_output=True, text=True, check=False)
    found = done.stdout.strip()
    if found == jax:
        return
    fix = f"{python} -m pip install jax=={jax} pathwaysutils, or leave --venv and {VARIABLE} out"
    if not found:
        raise CloudError("missing", f"{root} has no JAX", fix)
    reason = f"{root} has JAX {found}, the stack's images are for {jax}: their protocols may not fit together"
    if not named:
        raise CloudError("refused", reason, f"rm -r {root}, and it is made anew")
    stacks.say(f"{reason}\n  fix: {fix}", "[yellow]warning:[/] ")
