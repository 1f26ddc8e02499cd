"""What GKE fills in, from defaults.yaml."""

from __future__ import annotations

import copy
from functools import cache
from importlib import resources
from typing import Any

import yaml

Json = dict[str, Any]


@cache
def _data() -> Json:
    text = resources.files("rehearsal.google.services.container").joinpath("defaults.yaml").read_text("utf-8")
    data: Json = yaml.safe_load(text)
    return data


def default(name: str) -> Any:
    """A fresh copy of one entry of defaults.yaml."""
    return copy.deepcopy(_data()[name])
