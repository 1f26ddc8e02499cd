"""The checkout's Pulumi project, with stack files that a rehearsal may change."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pathways import checks, stackfile
from pathways.faults import StackError
from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT, Home
from rehearsal.tools import DEFAULT, Tools

# What of the checkout is not linked: the rehearsal writes its own.
_OWN = {"Pulumi.yaml", "stacks"}
# Templates of Kueue's visibility API, whose server is off in rehearsals (kubernetes/controllers.py).
NOT_SERVED = ("visibility", "visibility-apf")


@dataclass(frozen=True)
class StackFile:
    """A stack's name and the user's file of it."""

    name: str
    path: Path

    @classmethod
    def find(cls, stack: str) -> StackFile:
        """By the name of a stack in stacks/, or by the path of a file Pulumi.<stack>.yaml anywhere.

        Raises RehearsalError naming the stacks that exist.
        """
        path = Path(stack) if stack.endswith(".yaml") else CHECKOUT / "stacks" / f"Pulumi.{stack}.yaml"
        name = _name(path)
        if not path.exists() or not name:
            known = sorted(filter(None, map(_name, (CHECKOUT / "stacks").iterdir())))
            raise RehearsalError(
                f"There is no stack {stack}: {path.name} does not exist. Stacks here: {', '.join(known)}; "
                "the path of a file named Pulumi.STACK.yaml does as well."
            )
        return cls(name, path)


def _name(path: Path) -> str:
    found = re.fullmatch(r"Pulumi\.([A-Za-z0-9_.-]+)\.yaml", path.name)
    return found.group(1) if found else ""


def protected(file: StackFile) -> str:
    """The setting that protects the stack from being destroyed; empty where nothing does."""
    config = _read(file.path).get("config")
    sections: dict[str, Any] = config if isinstance(config, dict) else {}
    if _on_director(sections):
        unprotected = (sections.get("pathways:director") or {}).get("deletionProtection", True) is False
        return "" if unprotected else "pathways:director.deletionProtection"
    if (sections.get("pathways:cluster") or {}).get("deletionProtection", True):
        return "pathways:cluster.deletionProtection"
    if (sections.get("pathways:slices") or {}).get("protect", False):
        return "pathways:slices.protect"
    return ""


def needs(file: StackFile) -> tuple[str, ...]:
    """The Go programs that the stack's rehearsal needs."""
    config = _read(file.path).get("config")
    if not isinstance(config, dict):
        return DEFAULT
    if _on_director(config):
        return ("pulumi",)
    return (*DEFAULT, *(["kueue"] if _kueue_enabled(config) else []))


def on_director(file: StackFile) -> bool:
    """Whether the stack is for Cluster Director, and so for Slurm."""
    config = _read(file.path).get("config")
    return isinstance(config, dict) and _on_director(config)


def tpu_vms(file: StackFile) -> int:
    """TPU VMs of a stack's slices; 0 of a faulty file, which the program itself refuses."""
    try:
        settings, _ = stackfile.from_file(file.path)
    except StackError:
        return 0
    return settings.slices.count * checks.shape_of(settings).vms


def lay(home: Home, tools: Tools, stack: StackFile) -> None:
    """Lay the project into the rehearsal: the program by links, so that it runs unmodified, and the stack's file."""
    for item in CHECKOUT.iterdir():
        link = home.project / item.name
        if item.name in _OWN or item.name.startswith(".") or link.is_symlink():
            continue
        link.symlink_to(item)
    for link in home.project.iterdir():
        if link.is_symlink() and not link.exists():
            link.unlink()
    project = _read(CHECKOUT / "Pulumi.yaml")
    project["stackConfigDir"] = "stacks"
    # Named here, they are used without a warning for each that they are not the official ones.
    plugins = [{"name": name, "path": str(home.bin)} for name in ("gcp", "kubernetes")]
    project["plugins"] = {"providers": plugins}
    project["runtime"]["options"]["virtualenv"] = sys.prefix
    _write(home.project / "Pulumi.yaml", project)

    target = home.project / "stacks" / f"Pulumi.{stack.name}.yaml"
    document = _read(stack.path)
    if not isinstance(document.get("config"), dict):
        # The program says what is wrong with the file; there is nothing to lay over.
        document = {**document, "config": document.get("config")}
    else:
        _overlay(document["config"], home, tools)
    if target.exists():
        # Pulumi keeps the salt of the stack's secrets in the stack file.
        document.update({key: value for key, value in _read(target).items() if key.startswith("encryption")})
    target.parent.mkdir(exist_ok=True)
    _write(target, document)


def _overlay(config: dict[str, Any], home: Home, tools: Tools) -> None:
    """What a machine without the internet must take from elsewhere."""
    if _on_director(config):
        return
    charts = ["jobset", *(["kueue"] if _kueue_enabled(config) else [])]
    for name in charts:
        section = config.get(f"pathways:{name}", {})
        if isinstance(section, dict):
            chart = {"chart": str(_chart(name, home, tools)), "version": None}
            config[f"pathways:{name}"] = {**section, **chart}


def _chart(name: str, home: Home, tools: Tools) -> Path:
    """A copy of a controller's chart, without APIs that nobody serves in a rehearsal."""
    built, copy = tools.share / name / "chart", home.root / "charts" / name
    # A preview of a new cluster does not open the chart, so it need not be built; `up` says that it must.
    if built.exists() and not copy.exists():
        # While an API is unavailable, no namespace of its cluster can be deleted.
        shutil.copytree(built, copy, ignore=shutil.ignore_patterns(*NOT_SERVED))
    return copy


def _on_director(config: Mapping[str, Any]) -> bool:
    return config.get("pathways:platform") == "clusterDirector"


def _kueue_enabled(config: Mapping[str, Any]) -> bool:
    section = config.get("pathways:kueue")
    return isinstance(section, dict) and bool(section.get("enabled"))


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise RehearsalError(f"{path.name} is not YAML: {error}") from error
    return document if isinstance(document, dict) else {}


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
