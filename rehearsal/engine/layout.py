"""The engine's programs in a rehearsal's `bin` folder, where PATH finds them first."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from rehearsal.home import CHECKOUT
from rehearsal.tools import Tools
from rehearsal.tools.catalogue import KUBERNETES_PROVIDER
from rehearsal.tools.official import Official

LANGUAGE_HOST = "pulumi-language-python"
EXECUTOR = "pulumi-language-python-exec"
DYNAMIC_PROVIDER = "pulumi-resource-pulumi-python"


def lay_out(folder: Path, tools: Tools, official: Official | None = None, pulumi_home: Path | None = None) -> None:
    """Put the CLI and, unless Pulumi is official, the language host into `folder`.

    The Kubernetes provider becomes an installed plugin of `pulumi_home`, or a program in `folder` without one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scripts = (LANGUAGE_HOST, EXECUTOR, DYNAMIC_PROVIDER)
    if official:
        _link(folder / "pulumi", official.pulumi.resolve())
        # The official CLI comes with its own; one of ours on PATH would win over it.
        for name in scripts:
            (folder / name).unlink(missing_ok=True)
    else:
        _place(folder / "pulumi", tools.bin / "pulumi")
        _write(folder / LANGUAGE_HOST, language_host(folder / EXECUTOR))
        for name in (EXECUTOR, DYNAMIC_PROVIDER):
            _write(folder / name, (tools.share / "pulumi" / name).read_text())
    provider = folder / "pulumi-resource-kubernetes"
    if pulumi_home is not None:
        provider.unlink(missing_ok=True)
        provider = plugin(pulumi_home, "kubernetes", KUBERNETES_PROVIDER)
    _link(provider, (official and official.kubernetes) or tools.bin / "pulumi-resource-kubernetes")


def plugin(pulumi_home: Path, name: str, version: str) -> Path:
    """Where the engine finds an installed provider; one on PATH is found as well, but warned of each time."""
    folder = pulumi_home / "plugins" / f"resource-{name}-v{version}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"pulumi-resource-{name}"


def language_host(executor: Path) -> str:
    """A script that starts the host in the Python that runs now, from any folder.

    The checkout is put on the host's own path only: programs must not see it.
    """
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from rehearsal.engine.__main__ import main; main()"
    argv = [sys.executable, "-P", "-c", code, "--use-executor", str(executor)]
    return f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n'


def _place(path: Path, source: Path) -> None:
    """A hard link, else a copy: the CLI takes language hosts for its own when they lie beside its real path."""
    if not path.is_symlink() and path.exists() and path.samefile(source):
        return
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        os.link(source, fresh)
    except OSError:
        shutil.copy2(source, fresh)
    os.replace(fresh, path)


def _link(link: Path, target: Path) -> None:
    fresh = link.with_name(f".{link.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    os.replace(fresh, link)


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.chmod(0o755)
    os.replace(fresh, path)
