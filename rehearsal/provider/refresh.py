"""Inputs that agree with what was read from the cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.provider.check import DEFAULTS
from rehearsal.provider.facts import Facts
from rehearsal.provider.paths import Pattern, lookup
from rehearsal.provider.plan import is_empty, same
from rehearsal.provider.schema import ListOf, Object, Schema, Type


def refreshed(schema: Schema, facts: Facts, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """The program's inputs with the values that have drifted; what agrees keeps the program's way of writing it."""
    stated = {name: value for name, value in inputs.items() if name != DEFAULTS}
    kept = {DEFAULTS: inputs[DEFAULTS]} if DEFAULTS in inputs else {}
    return {**_object(schema.inputs, facts, (), stated, state), **kept}


def imported(schema: Schema, facts: Facts, state: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a resource that no program has stated yet: everything in its state that could be stated.

    Of what cannot be stated together, what Google fills in is left out.
    """
    found = _inputs_only(schema.inputs, facts, (), state)
    for group in facts.groups["conflicts"]:
        given = [pattern for pattern in group if lookup(found, ".".join(pattern)) is not None]
        filled = [pattern for pattern in given if facts.has("filled", pattern)]
        for pattern in filled[: len(given) - 1]:
            around = lookup(found, ".".join(pattern[:-1])) if len(pattern) > 1 else found
            del around[pattern[-1]]
    return {**found, DEFAULTS: []}


def _object(
    type_: Object, facts: Facts, at: Pattern, inputs: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, Any]:
    result = {}
    for name, said in inputs.items():
        known = type_.properties.get(name)
        value = _value(known.type, facts, (*at, name), said, state.get(name)) if known else said
        if value is not None:
            result[name] = value
    return result


def _value(type_: Type, facts: Facts, at: Pattern, said: Any, heard: Any) -> Any:
    if facts.has("local", at) or facts.has("writeOnly", at):
        return said
    if isinstance(type_, Object) and isinstance(said, dict):
        inner = _object(type_, facts, at, said, heard or {})
        return inner if inner or heard is not None else None
    if isinstance(type_, ListOf) and isinstance(type_.item, Object) and isinstance(heard, list):
        item = type_.item
        paired = [_object(item, facts, at, s, h) for s, h in zip(said, heard, strict=False)]
        return paired + [_inputs_only(item, facts, at, h) for h in heard[len(said) :]]
    return said if same(facts, at, heard, said) else heard


def _inputs_only(type_: Object, facts: Facts, at: Pattern, state: Mapping[str, Any]) -> dict[str, Any]:
    result = {}
    for name, known in type_.properties.items():
        value, here = state.get(name), (*at, name)
        if value is None or facts.has("outputs", here):
            continue
        if isinstance(known.type, Object):
            value = _inputs_only(known.type, facts, here, value)
        elif isinstance(known.type, ListOf) and isinstance(known.type.item, Object):
            value = [_inputs_only(known.type.item, facts, here, entry) for entry in value]
        if not is_empty(value):
            result[name] = value
    return result
