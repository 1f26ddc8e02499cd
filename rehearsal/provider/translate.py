"""Pulumi properties as the fields of Google's APIs, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.provider.facts import Facts
from rehearsal.provider.paths import Pattern, lookup, place
from rehearsal.provider.plan import is_empty
from rehearsal.provider.schema import ListOf, Object, Scalar, Schema, Type

_ABSENT = object()


def to_api(schema: Schema, facts: Facts, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The request body that states all of `inputs` that have a field in the API."""
    body: dict[str, Any] = {}
    _write(schema.inputs, facts, (), inputs, body, body)
    return body


def api_field(facts: Facts, pattern: Pattern) -> str:
    """The dotted field of the API, from the top, that holds a property."""
    field = ""
    for depth in range(1, len(pattern) + 1):
        here = _relative(facts, pattern[:depth])
        field = here[1:] if here.startswith("/") else f"{field}.{here}" if field else here
    return field


def from_api(schema: Schema, facts: Facts, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that Google's answer tells; those it does not tell are missing."""
    return _read(schema.outputs, facts, (), answer, answer)


def keep_stated(schema: Schema, facts: Facts, told: dict[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """`told` by Google, completed by what the program or an earlier state says of what Google never answers.

    These are the properties without a field, and false, 0 and nothing, which answers leave out.
    """
    return _keep(schema.outputs, facts, (), told, stated)


def _relative(facts: Facts, at: Pattern) -> str:
    return str(facts.get("api", at) or at[-1])


def _write(
    type_: Object, facts: Facts, at: Pattern, given: Mapping[str, Any], into: dict[str, Any], top: dict[str, Any]
) -> None:
    for name, value in given.items():
        known = type_.properties.get(name)
        here = (*at, name)
        if known is None or value is None or facts.has("local", here) or facts.has("outputs", here):
            continue
        field = _relative(facts, here)
        target = top if field.startswith("/") else into
        written = _written(known.type, facts, here, value, top)
        # The real provider's requests leave out empty strings, as its Go types say `omitempty`.
        if written is not _ABSENT and written != "":
            place(target, field.lstrip("/"), written)


def _written(type_: Type, facts: Facts, at: Pattern, value: Any, top: dict[str, Any]) -> Any:
    if isinstance(type_, ListOf):
        items = [_written(type_.item, facts, at, item, top) for item in value]
        if facts.has("singles", at):
            return items[0] if items else _ABSENT
        if key := facts.get("apiMaps", at):
            return {item[key]: {name: field for name, field in item.items() if name != key} for item in items}
        return items
    if isinstance(type_, Object):
        block: dict[str, Any] = {}
        _write(type_, facts, at, value, block, top)
        # A block that only says what lies elsewhere in the API has no field of its own.
        return _ABSENT if value and not block and _lies_elsewhere(facts, at) else block
    if isinstance(type_, Scalar):
        return _scalar_out(type_, facts, at, value)
    return value


def _lies_elsewhere(facts: Facts, at: Pattern) -> bool:
    return any(p[: len(at)] == at and str(field).startswith("/") for p, field in facts.maps["api"].items())


def _scalar_out(type_: Scalar, facts: Facts, at: Pattern, value: Any) -> Any:
    if facts.has("textBooleans", at):
        return value == "TRUE"
    if type_.kind == "boolean":
        value = value in (True, "true")
        return not value if facts.has("inverted", at) else value
    if type_.kind == "string" or facts.has("int64", at):
        return str(value)
    return int(value) if type_.kind == "integer" else float(value)


def _read(type_: Object, facts: Facts, at: Pattern, answer: Any, top: Mapping[str, Any]) -> dict[str, Any]:
    told = {}
    for name, known in type_.properties.items():
        here = (*at, name)
        if facts.has("local", here) or facts.has("writeOnly", here):
            continue
        field = _relative(facts, here)
        value = lookup(top, field[1:]) if field.startswith("/") else lookup(answer, field)
        if value is None and isinstance(known.type, Object) and _lies_elsewhere(facts, here):
            value = {}
        if value is not None:
            read = _value_in(known.type, facts, here, value, top)
            if not is_empty(read):
                told[name] = read
    return told


def _value_in(type_: Type, facts: Facts, at: Pattern, value: Any, top: Mapping[str, Any]) -> Any:
    if isinstance(type_, ListOf):
        values = [value] if facts.has("singles", at) else value
        if key := facts.get("apiMaps", at):
            values = [{key: name, **entry} for name, entry in value.items()]
        return [_value_in(type_.item, facts, at, item, top) for item in values]
    if isinstance(type_, Object):
        return _read(type_, facts, at, value, top) if isinstance(value, dict) else None
    if isinstance(type_, Scalar):
        return _scalar_in(type_, facts, at, value)
    return value


def _scalar_in(type_: Scalar, facts: Facts, at: Pattern, value: Any) -> Any:
    if facts.has("textBooleans", at):
        return "TRUE" if value else "FALSE"
    if type_.kind == "boolean":
        return not value if facts.has("inverted", at) else bool(value)
    if type_.kind == "integer":
        return int(value)
    return float(value) if type_.kind == "number" else str(value)


def _keep(type_: Object, facts: Facts, at: Pattern, told: dict[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(told)
    for name, known in type_.properties.items():
        here, said, heard = (*at, name), stated.get(name), told.get(name)
        if said is None:
            continue
        unanswerable = facts.has("local", here) or facts.has("writeOnly", here)
        if isinstance(known.type, Object) and isinstance(said, dict):
            inner = said if unanswerable else _keep(known.type, facts, here, heard or {}, said)
            if inner:
                kept[name] = inner
        elif isinstance(known.type, ListOf) and isinstance(known.type.item, Object) and isinstance(heard, list):
            item = known.type.item
            kept[name] = [
                _keep(item, facts, here, h, said[i]) if i < len(said) and isinstance(said[i], dict) else h
                for i, h in enumerate(heard)
            ]
        elif heard is None and (unanswerable or said in (False, 0, "", [], {})):
            kept[name] = said
    return kept
