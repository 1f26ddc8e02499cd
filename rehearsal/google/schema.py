"""Strict checks of a JSON body against the schemas of a discovery document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rehearsal.google.errors import bad_fields

Json = dict[str, Any]

OUTPUT_ONLY = re.compile(r"^\W*output.only", re.IGNORECASE)
DURATION = re.compile(r"-?\d+(\.\d{1,9})?s")
INTEGER = re.compile(r"-?\d+")
INT32 = range(-(2**31), 2**31)


def is_output_only(prop: Json) -> bool:
    """Whether Google sets the field and not the caller; compute says so only in the description."""
    return bool(prop.get("readOnly") or OUTPUT_ONLY.match(prop.get("description", "")))


def snake(name: str) -> str:
    """camelCase as the snake_case that Google writes in error texts."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), name)


@dataclass
class Check:
    """One check of one body: what is wrong with it, and the body as Google would read it.

    Cleaned means: snake_case names are camelCase, 64-bit integers are strings, nulls are gone.
    """

    schemas: Mapping[str, Json]
    method: str = ""
    creating: bool = False
    """Output-only fields are refused; otherwise they are dropped, as callers send back what they read."""
    keep_null: bool = False
    """A null clears a field (PATCH)."""
    camel_case: bool = False
    """Field paths in messages as compute and storage write them."""
    enum_name: Callable[[str, str, int], str | None] = lambda _schema, _field, _number: None
    violations: list[tuple[str, str]] = field(default_factory=list)

    def body(self, ref: str, value: Any) -> Json:
        """The cleaned body. Raises GoogleError that lists everything wrong with it."""
        clean = self._object(ref, value, "") if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            self._fault("", "Invalid JSON payload received. Root element must be a message.")
        if self.violations:
            raise bad_fields(self.violations)
        return clean

    def _object(self, ref: str, value: Any, path: str) -> Json:
        if not isinstance(value, dict):
            self._mismatch(path, ref, value)
            return {}
        properties: dict[str, Json] = self.schemas[ref].get("properties", {})
        by_snake = {snake(name): name for name in properties}
        clean: Json = {}
        for key, item in value.items():
            name = key if key in properties else by_snake.get(key)
            if name is None:
                extra = self.schemas[ref].get("additionalProperties")
                if extra is None:
                    where = f" at '{path}'" if path else ""
                    text = f'Invalid JSON payload received. Unknown name "{key}"{where}: Cannot find field.'
                    self._fault(path or key, text)
                else:
                    clean[key] = self.value(extra, item, self._join(path, key), ref, key)
                continue
            prop = properties[name]
            where = self._join(path, name)
            if item is None:
                if self.keep_null:
                    clean[name] = None
            elif is_output_only(prop) and item != prop.get("default"):
                if self.creating:
                    self._fault(where, f"Invalid value for field '{where}': it is output only, Google sets it.")
            else:
                clean[name] = self.value(prop, item, where, ref, name)
        for name, prop in properties.items():
            required = self.creating and self.method in prop.get("annotations", {}).get("required", ())
            if required and name not in clean:
                where = self._join(path, name)
                self._fault(where, f"Required field '{where}' not specified.")
        return clean

    def value(self, prop: Json, value: Any, path: str, owner: str, name: str) -> Any:
        """The cleaned value of one property; what is wrong with it goes to `violations`."""
        if "$ref" in prop:
            return self._object(prop["$ref"], value, path)
        kind = prop.get("type")
        if kind == "array":
            if not isinstance(value, list):
                return self._mismatch(path, "list", value)
            return [self.value(prop["items"], v, f"{path}[{i}]", owner, name) for i, v in enumerate(value)]
        if kind == "object" or "additionalProperties" in prop:
            return self._map(prop, value, path, owner, name)
        if kind == "string":
            return self._string(prop, value, path, owner, name)
        if kind == "integer":
            return self._integer(prop, value, path)
        if kind == "number":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return value if number else self._mismatch(path, "TYPE_DOUBLE", value)
        if kind == "boolean":
            return value if isinstance(value, bool) else self._mismatch(path, "TYPE_BOOL", value)
        return value

    def _map(self, prop: Json, value: Any, path: str, owner: str, name: str) -> Any:
        if not isinstance(value, dict):
            return self._mismatch(path, "map", value)
        items = prop.get("additionalProperties", {})
        kept = {k: v for k, v in value.items() if v is not None or self.keep_null}
        return {k: None if v is None else self.value(items, v, f"{path}[{k}]", owner, name) for k, v in kept.items()}

    def _integer(self, prop: Json, value: Any, path: str) -> Any:
        unsigned = prop.get("format") == "uint32"
        allowed = range(2**32) if unsigned else INT32
        if isinstance(value, str) and INTEGER.fullmatch(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value not in allowed:
            return self._mismatch(path, "TYPE_UINT32" if unsigned else "TYPE_INT32", value)
        return value

    def _string(self, prop: Json, value: Any, path: str, owner: str, name: str) -> Any:
        form = prop.get("format")
        if form in ("int64", "uint64"):
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole and not (isinstance(value, str) and INTEGER.fullmatch(value)):
                return self._mismatch(path, "TYPE_INT64", value)
            return str(value)
        if "enum" in prop:
            return self._enum(prop, value, path, owner, name)
        if not isinstance(value, str):
            return self._mismatch(path, "TYPE_STRING", value)
        if form == "google-duration" and not DURATION.fullmatch(value):
            self._fault(path, f"Invalid value at '{path}' (type.googleapis.com/google.protobuf.Duration), \"{value}\"")
        if form in ("google-datetime", "date-time") and not _is_time(value):
            self._fault(
                path,
                f"Invalid value at '{path}' (type.googleapis.com/google.protobuf.Timestamp), \"{value}\"",
            )
        pattern = prop.get("pattern")
        if pattern and not re.fullmatch(pattern, value):
            text = f"Invalid value for field '{path}': '{value}'. Must be a match of regex '{pattern}'"
            self._fault(path, text)
        return value

    def _enum(self, prop: Json, value: Any, path: str, owner: str, name: str) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            value = self.enum_name(owner, name, value) or value
        if value not in prop["enum"]:
            return self._mismatch(path, f"one of {', '.join(prop['enum'])}", value)
        return value

    def _mismatch(self, path: str, expected: str, value: Any) -> None:
        shown = f'"{value}"' if isinstance(value, str) else value
        self._fault(path, f"Invalid value at '{path}' ({expected}), {shown}")

    def _fault(self, path: str, text: str) -> None:
        self.violations.append((path, text))

    def _join(self, path: str, name: str) -> str:
        written = name if self.camel_case else snake(name)
        return f"{path}.{written}" if path else written


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None or len(text) == len("2026-01-31")
    except ValueError:
        return False
