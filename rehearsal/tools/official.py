"""The official Pulumi where it is installed: used as it is instead of being built."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rehearsal.tools import catalogue

_LANGUAGE_HOST = "pulumi-language-python"
_PROVIDER = "pulumi-resource-kubernetes"


@dataclass(frozen=True)
class Official:
    """What is installed: the CLI, with its language hosts beside it, and the Kubernetes provider if there."""

    pulumi: Path
    kubernetes: Path | None = None

    @property
    def provides(self) -> frozenset[str]:
        """Names of the programs that need not be built."""
        return frozenset({"pulumi", _PROVIDER} if self.kubernetes else {"pulumi"})


def find(path: str | None = None, pulumi_home: Path | None = None, ignore: Iterable[Path] = ()) -> Official | None:
    """The first `pulumi` on PATH that has the official Python language host beside it; None when there is none.

    `ignore` names folders of ours that may be on PATH: a rehearsal's own `bin`.
    """
    ignored = {folder.resolve() for folder in ignore}
    for entry in (os.environ.get("PATH", "") if path is None else path).split(os.pathsep):
        if not entry or Path(entry).resolve() in ignored:
            continue
        pulumi = Path(entry) / "pulumi"
        if _program(pulumi) and _program(pulumi.resolve().with_name(_LANGUAGE_HOST)):
            return Official(pulumi, _kubernetes(pulumi_home or Path.home() / ".pulumi"))
    return None


def _kubernetes(pulumi_home: Path) -> Path | None:
    name = f"resource-kubernetes-v{catalogue.KUBERNETES_PROVIDER}"
    plugin = pulumi_home / "plugins" / name / _PROVIDER
    return plugin if _program(plugin) else None


def _program(path: Path) -> bool:
    """Whether it is a compiled program: the rehearsal's own language host is a script."""
    if not (path.is_file() and os.access(path, os.X_OK)):
        return False
    with path.open("rb") as file:
        return file.read(2) != b"#!"
