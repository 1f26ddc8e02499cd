"""Where a property is: a path has list indices, a pattern has none."""

from __future__ import annotations

import re
from typing import Any

Path = tuple[str | int, ...]
Pattern = tuple[str, ...]


def parse_pattern(text: str) -> Pattern:
    """`nodeConfig.taints.key` as a pattern."""
    return tuple(text.split("."))


def pattern_of(path: Path) -> Pattern:
    """The path without its indices."""
    return tuple(step for step in path if isinstance(step, str))


def show(path: Path) -> str:
    """A path as Pulumi writes it: `nodeConfig.taints[0].key`, `labels["a.b"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z_$][\w$]*", step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def parse(text: str) -> Path:
    """What `show` writes, and the `*` and `[*]` that ignoreChanges allows (kept as "*")."""
    steps: list[str | int] = []
    for quoted, index, name in re.findall(r'\["([^"]*)"\]|\[(\d+|\*)\]|([^.\[\]]+)', text):
        steps.append(quoted or name or ("*" if index == "*" else int(index)))
    return tuple(steps)


def starts_with(path: Path, prefix: Path) -> bool:
    """Whether `prefix`, which may hold "*", leads to `path` or to something around it."""
    return len(path) >= len(prefix) and all(p == "*" or p == s for s, p in zip(path, prefix, strict=False))


def lookup(tree: Any, dotted: str) -> Any:
    """The value at `a.b.c` in nested dicts; None where there is none."""
    for step in dotted.split("."):
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)
    return tree


def place(tree: dict[str, Any], dotted: str, value: Any) -> None:
    """Set `a.b.c` in nested dicts; a dict put where one is already is merged into it."""
    *parents, last = dotted.split(".")
    for step in parents:
        tree = tree.setdefault(step, {})
    if isinstance(value, dict) and isinstance(tree.get(last), dict):
        for key, item in value.items():
            place(tree[last], key, item)
    else:
        tree[last] = value
