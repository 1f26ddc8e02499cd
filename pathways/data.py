"""The project's own tables: YAML files beside the code."""

from __future__ import annotations

from typing import Any

import yaml

# The C loader is many times faster, but not in every build of PyYAML.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text: str) -> Any:
    """The content of a YAML table, as plain lists and dictionaries."""
    return yaml.load(text, Loader=_LOADER)
