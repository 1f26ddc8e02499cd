"""The checkout's Pulumi project, with stack files that a rehearsal may change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT, Home
from rehearsal.tools import Tools

# What of the checkout is not linked: the rehearsal writes its own.
_OWN = {"Pulumi.yaml", "stacks"}


def stack_file(stack: str) -> Path:
    """The user's file of a stack. Raises RehearsalError naming the stacks that exist."""
    path = CHECKOUT / "stacks" / f"Pulumi.{stack}.yaml"
    if not path.exists():
        known = sorted(file.name[len("Pulumi.") : -len(".yaml")] for file in path.parent.glob("Pulumi.*.yaml"))
        raise RehearsalError(f"There is no stack {stack}: stacks/{path.name} does not exist. "
                             f"Stacks here: {', '.join(known)}.")
    return path


def lay(home: Home, tools: Tools, stack: str) -> None:
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
    project["runtime"]["options"]["virtualenv"] = sys.prefix
    _write(home.project / "Pulumi.yaml", project)

    source, target = stack_file(stack), home.project / "stacks" / f"Pulumi.{stack}.yaml"
    document = _read(source)
    if not isinstance(document.get("config"), dict):
        # The program says what is wrong with the file; there is nothing to lay over.
        document = {**document, "config": document.get("config")}
    else:
        _overlay(document["config"], tools)
    if target.exists():
        # Pulumi keeps the salt of the stack's secrets in the stack file.
        document.update({key: value for key, value in _read(target).items() if key.startswith("encryption")})
    target.parent.mkdir(exist_ok=True)
    _write(target, document)


def _overlay(config: dict[str, Any], tools: Tools) -> None:
    """What a machine without the internet must take from elsewhere."""
    jobset = config.get("pathways:jobset", {})
    if isinstance(jobset, dict):
        config["pathways:jobset"] = {**jobset, "chart": str(tools.share / "jobset" / "chart"), "version": None}


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise RehearsalError(f"{path.name} is not YAML: {error}") from error
    return document if isinstance(document, dict) else {}


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
