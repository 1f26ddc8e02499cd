"""Small operations on JSON documents."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def merge(old: Json, new: Json) -> Json:
    """JSON merge patch: objects are merged, null removes, all else replaces. Neither input is changed."""
    merged = dict(old)
    for key, value in new.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            before = merged.get(key)
            merged[key] = merge(before if isinstance(before, dict) else {}, value)
        else:
            merged[key] = value
    return merged


def get_path(document: Json, path: str, default: Any = None) -> Any:
    """The value at a dotted path, `default` where a part is missing."""
    value: Any = document
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return default
        value = value[part]
    return value


def set_path(document: Json, path: str, value: Any) -> None:
    """Set the value at a dotted path, making the objects on the way."""
    *parents, last = path.split(".")
    for part in parents:
        document = document.setdefault(part, {})
    document[last] = value
