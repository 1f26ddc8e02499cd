"""Cases for the checks, a module for each of pathways/checks; `every.py` has them all.

Each is: the check's id, changes of the base stack that break it, the path that is named, and changes that mend it.
"""

from __future__ import annotations

from typing import Any

from pathways import stackfile
from pathways.faults import Fault, StackError

Changes = dict[str, Any]
Case = tuple[str, Changes, str, Changes]

BASE: dict[str, Any] = {
    "gcp:project": "example-ml",
    "gcp:region": "us-east5",
    "pathways:slices": {"accelerator": "v6e", "topology": "4x4", "count": 2, "zone": "us-east5-b"},
}
SLICES = "pathways:slices"
BATCH: Changes = {"pathways:workload": {"mode": "batch", "image": "client:1"}}


def stack(changes: Changes) -> dict[str, Any]:
    """The base stack with `section.key: value` changes."""
    config: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in BASE.items()}
    for path, value in changes.items():
        key, _, inner = path.partition(".")
        if inner:
            config.setdefault(key, {})[inner] = value
        else:
            config[key] = value
    return config


def run(changes: Changes) -> list[Fault]:
    """What is wrong with the changed base stack, warnings included."""
    try:
        return stackfile.read(stack(changes), "s")[1]
    except StackError as error:
        return list(error.faults)
