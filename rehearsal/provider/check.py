"""What the provider checks and completes before the engine plans anything."""

from __future__ import annotations

import difflib
import hashlib
import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rehearsal.provider.facts import Facts
from rehearsal.provider.paths import Path, Pattern, pattern_of, show
from rehearsal.provider.schema import ListOf, MapOf, Object, Scalar, Schema, Type
from rehearsal.provider.values import UNKNOWN

# Written into the inputs, and hidden by the CLI: the properties that the program did not state itself.
DEFAULTS = "__defaults"


def complete(
    schema: Schema, facts: Facts, inputs: Mapping[str, Any], old: Mapping[str, Any], urn: str, seed: bytes
) -> dict[str, Any]:
    """The program's inputs with defaults and, where it gave none, a name that stays the same from then on."""
    stated = {name: value for name, value in inputs.items() if name != DEFAULTS}
    done = _with_defaults(schema.inputs, facts, (), stated)
    for group in facts.groups["conflicts"]:
        if any(_given(stated, pattern) for pattern in group):
            for pattern in group:
                if len(pattern) == 1 and pattern[0] not in stated:
                    done.pop(pattern[0], None)
    made_up = sorted(set(done) - set(stated))
    naming = facts.autoname
    if naming and naming.property not in stated and "namePrefix" not in stated:
        kept = old.get(naming.property) if naming.property in old.get(DEFAULTS, []) else None
        done[naming.property] = kept or _autoname(naming.max, naming.lower, urn, seed)
        made_up.append(naming.property)
    return {**done, DEFAULTS: made_up}


def explicit_name(facts: Facts, inputs: Mapping[str, Any]) -> bool:
    """Whether the program chose the name, so that two such resources cannot exist side by side."""
    naming = facts.autoname
    return bool(naming and naming.property in inputs and naming.property not in inputs.get(DEFAULTS, []))


def faults(schema: Schema, facts: Facts, inputs: Mapping[str, Any]) -> list[str]:
    """Every reason why the inputs cannot be accepted, one sentence each, beginning with the property's path."""
    stated = {name: value for name, value in inputs.items() if name != DEFAULTS}
    return [*_object_faults(schema.inputs, facts, (), stated), *_group_faults(facts, stated)]


def _with_defaults(type_: Object, facts: Facts, at: Pattern, given: Mapping[str, Any]) -> dict[str, Any]:
    done = {}
    for name, value in given.items():
        known = type_.properties.get(name)
        done[name] = _nested_defaults(known.type, facts, (*at, name), value) if known else value
    for pattern, value in facts.maps["defaults"].items():
        if pattern[:-1] == at and pattern[-1] not in done:
            done[pattern[-1]] = value
    return done


def _nested_defaults(type_: Type, facts: Facts, at: Pattern, value: Any) -> Any:
    if isinstance(type_, Object) and isinstance(value, dict):
        return _with_defaults(type_, facts, at, value)
    if isinstance(type_, ListOf) and isinstance(value, list):
        return [_nested_defaults(type_.item, facts, at, item) for item in value]
    return value


def _autoname(longest: int, lower: bool, urn: str, seed: bytes) -> str:
    logical = urn.rsplit("::", 1)[-1]
    digits = hashlib.sha256(seed or urn.encode()).hexdigest()[:7]
    name = f"{logical[: longest - 8]}-{digits}"
    return name.lower() if lower else name


def _object_faults(type_: Object, facts: Facts, path: Path, given: Mapping[str, Any]) -> Iterator[str]:
    for name in given:
        if name not in type_.properties:
            close = difflib.get_close_matches(name, type_.properties, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            yield f"{show((*path, name))}: {facts.token} has no such input{hint}"
    for name, known in type_.properties.items():
        if name in given:
            yield from _faults(known.type, facts, (*path, name), given[name])
        elif known.required:
            yield f"{show((*path, name))}: required, and missing"


def _faults(type_: Type, facts: Facts, path: Path, value: Any) -> Iterator[str]:
    if value is UNKNOWN:
        return
    wanted = _wanted(type_)
    if not _fits(type_, value):
        yield f"{show(path)}: {wanted} is wanted, {_called(value)} was given"
    elif isinstance(type_, Object):
        yield from _object_faults(type_, facts, path, value)
    elif isinstance(type_, ListOf):
        for index, item in enumerate(value):
            yield from _faults(type_.item, facts, (*path, index), item)
    elif isinstance(type_, MapOf):
        for key, item in value.items():
            yield from _faults(type_.item, facts, (*path, key), item)
    else:
        yield from _value_faults(facts, path, value)


def _fits(type_: Type, value: Any) -> bool:
    if isinstance(type_, Object | MapOf):
        return isinstance(value, dict)
    if isinstance(type_, ListOf):
        return isinstance(value, list)
    if type_.kind == "boolean":
        # Like the official provider: "true" is a boolean, "5" a number, and a number is text.
        return isinstance(value, bool) or value in ("true", "false")
    if type_.kind == "string":
        return isinstance(value, str | int | float)
    if isinstance(value, str):
        return bool(re.fullmatch(r"-?\d+" if type_.kind == "integer" else r"-?\d+(\.\d+)?", value))
    return isinstance(value, int if type_.kind == "integer" else int | float) and not isinstance(value, bool)


def _wanted(type_: Type) -> str:
    if isinstance(type_, Scalar):
        return {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "a boolean"}[
            type_.kind
        ]
    return "a list" if isinstance(type_, ListOf) else "an object"


def _called(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else repr(value)


def _value_faults(facts: Facts, path: Path, value: Any) -> Iterator[str]:
    at = pattern_of(path)
    allowed = facts.get("enums", at)
    if allowed and value not in allowed and not (value == "" and facts.has("filled", at)):
        yield f"{show(path)}: {value!r} is not one of {', '.join(allowed)}"
    regex = facts.get("patterns", at)
    if regex and not re.search(regex, str(value)):
        yield f"{show(path)}: {value!r} does not match {regex}"
    limits = facts.get("ranges", at)
    if limits and not _in_range(limits, value):
        yield f"{show(path)}: {value!r} is not {_range_words(limits)}"
    if at[-1] == "member" and str(value).startswith("deleted"):
        yield f"{show(path)}: {value!r} names a deleted principal"


def _in_range(limits: str, value: Any) -> bool:
    if limits == "cidr":
        try:
            ipaddress.ip_network(value, strict=False)
        except ValueError:
            return value == "" or bool(re.fullmatch(r"/\d+", str(value)))
        return "/" in str(value)
    if limits.startswith(">="):
        return float(value) >= float(limits[2:])
    low, high = (float(bound) for bound in limits.removeprefix("len ").split(".."))
    return low <= (len(str(value)) if limits.startswith("len") else float(value)) <= high


def _range_words(limits: str) -> str:
    if limits == "cidr":
        return "an address range such as 10.0.0.0/20"
    if limits.startswith(">="):
        return f"at least {limits[2:]}"
    low, high = limits.removeprefix("len ").split("..")
    return f"{low} to {high} characters long" if limits.startswith("len") else f"between {low} and {high}"


def _group_faults(facts: Facts, given: Mapping[str, Any]) -> Iterator[str]:
    for rule, group in ((rule, group) for rule, groups in facts.groups.items() for group in groups):
        around = group[0][:-1]
        if rule != "conflicts" and around and not _given(given, around):
            continue
        named = [".".join(pattern) for pattern in group]
        stated = [".".join(pattern) for pattern in group if _given(given, pattern)]
        if rule == "conflicts" and len(stated) > 1:
            yield f"{stated[0]}: cannot be given together with {', '.join(stated[1:])}"
        elif rule == "exactlyOne" and len(stated) != 1:
            yield f"{named[0]}: exactly one of {', '.join(named)} must be given, not {len(stated)}"
        elif rule == "atLeastOne" and not stated:
            yield f"{named[0]}: at least one of {', '.join(named)} must be given"


def _given(tree: Any, pattern: Pattern) -> bool:
    """Whether the program states the property, be it false; an empty list states nothing."""
    if not pattern:
        return tree is not None and tree != []
    if isinstance(tree, list):
        return any(_given(item, pattern) for item in tree)
    return isinstance(tree, dict) and _given(tree.get(pattern[0]), pattern[1:])
