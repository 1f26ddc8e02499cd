"""Values of a preview document: finding them by path, and showing them without a secret."""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from cli.report.model import Resource

# Pulumi writes a secret, and a value known only after the update, as these in its documents.
_SIGNATURE, _SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
_UNKNOWN = {
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}
ABSENT: Final = "(none)"
SECRET: Final = "[secret]"
UNKNOWN: Final = "(known after the update)"
LONGEST = 90

_PATH = re.compile(r"""\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)""")
# Whoever forgets to mark these as secret must not read them in a pull request.
_SENSITIVE_KEY = re.compile(
    r"passw(or)?d|secret(?!Name|KeyRef|Ref|s?Store)|token(?!Request)|credential|private_?key|api_?key|kubeconfig"
    r"|masterAuth|access_?key",
    re.IGNORECASE,
)
_SENSITIVE_TEXT = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\bya29\.[\w-]{10,}|\bgh[pousr]_\w{20,}|\bAIza[\w-]{30,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",
    re.DOTALL,
)


@cache
def parse(path: str) -> tuple[str | int, ...]:
    """The steps of a property path: `spec.jobs[0].labels["a.b/c"]`."""
    return tuple(
        int(index) if index else quoted.replace('\\"', '"') if quoted else plain
        for quoted, index, plain in _PATH.findall(path)
    )


def lookup(properties: Any, path: str) -> Any:
    """The value at a path, ABSENT where there is none."""
    for step in parse(path):
        if isinstance(step, int) and isinstance(properties, list) and step < len(properties):
            properties = properties[step]
        elif isinstance(properties, Mapping) and str(step) in properties:
            properties = properties[str(step)]
        else:
            return ABSENT
    return properties


def named(resource: Resource, path: str) -> str:
    """A path that says `containers[pathways-rm]` for `containers[1]`, where a list's elements have names or ids."""
    found: Any = resource.inputs
    readable = ""
    for step in parse(path):
        if isinstance(step, int):
            found = found[step] if isinstance(found, list) and step < len(found) else None
            label = (found.get("name") or found.get("id")) if isinstance(found, Mapping) else None
            readable += f"[{label}]" if isinstance(label, str) else f"[{step}]"
        else:
            found = found.get(step) if isinstance(found, Mapping) else None
            readable += f'["{step}"]' if re.search(r"[^\w-]", step) else f".{step}"
    return readable.removeprefix(".")


def shown(resource: Resource | None, path: str, outputs_first: bool) -> str:
    """The value at a path of a resource as a short text."""
    if resource is None:
        return ABSENT
    sides = (resource.outputs, resource.inputs) if outputs_first else (resource.inputs, resource.outputs)
    value = next((found for side in sides if (found := lookup(side, path)) is not ABSENT), ABSENT)
    if value is not ABSENT and _is_sensitive(resource, path):
        return SECRET
    return as_text(value)


def as_text(value: Any) -> str:
    """A value on one line, secrets masked."""
    if value is ABSENT:
        return ABSENT
    cleaned = _cleaned(value)
    line = cleaned if isinstance(cleaned, str) else json.dumps(cleaned, ensure_ascii=False, sort_keys=True)
    return " ".join(str(line).split()) if line else '""'


def cut(old: str, new: str) -> tuple[str, str]:
    """Both values of a property, long ones cut to what surrounds their first difference."""
    same = len(os.path.commonprefix([old, new]))
    start = max(0, same - LONGEST // 2) if min(len(old), len(new)) > LONGEST else 0
    return _window(old, start), _window(new, start)


def _window(line: str, start: int) -> str:
    start = max(0, min(start, len(line) - LONGEST))
    shown = line[start : start + LONGEST]
    return f"{'…' if start else ''}{shown}{'…' if start + LONGEST < len(line) else ''}"


def mask(message: str) -> str:
    """A message without what looks like a credential."""
    return _SENSITIVE_TEXT.sub(SECRET, message)


def _cleaned(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.get(_SIGNATURE) == _SECRET:
            return SECRET
        if "name" in value and _SENSITIVE_KEY.search(str(value["name"])) and "value" in value:
            return {**{key: _cleaned(each) for key, each in value.items()}, "value": SECRET}
        return {
            key: SECRET if _SENSITIVE_KEY.search(str(key)) and not isinstance(each, bool) else _cleaned(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if isinstance(value, str):
        return UNKNOWN if value in _UNKNOWN else mask(value)
    return value


def _is_sensitive(resource: Resource, path: str) -> bool:
    steps = parse(path)
    if any(isinstance(step, str) and _SENSITIVE_KEY.search(step) for step in steps):
        return True
    if resource.type.endswith(":Secret") and steps and steps[0] in ("data", "stringData"):
        return True
    if steps and steps[-1] == "value":
        # A variable's value is as sensitive as the variable's name says.
        owner = path.rpartition(".")[0]
        names = (lookup(side, f"{owner}.name") for side in (resource.inputs, resource.outputs))
        return any(isinstance(name, str) and _SENSITIVE_KEY.search(name) for name in names)
    return False
