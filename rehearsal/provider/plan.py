"""What an update would change, and which changes replace the resource."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.provider.conditions import CONDITIONS, dropped_without_profile
from rehearsal.provider.facts import Facts
from rehearsal.provider.paths import Path, Pattern, pattern_of, starts_with
from rehearsal.provider.schema import ListOf, MapOf, Object, Schema, Type
from rehearsal.provider.values import UNKNOWN


@dataclass(frozen=True)
class Change:
    """One property that differs; `kind` is add, delete or update."""

    path: Path
    kind: str
    replaces: bool


def changes(
    schema: Schema, facts: Facts, state: Mapping[str, Any], inputs: Mapping[str, Any], ignored: Iterable[Path] = ()
) -> list[Change]:
    """The program's inputs against the state that the last operation left, with what Google filled in.

    Like the official provider: what Google fills in and the program leaves out is no change, unless the
    facts say that it is one; `ignored` are the paths of ignoreChanges.
    """
    skipped = list(ignored)
    found = _Comparison(facts, state, inputs).object(schema.inputs, (), state, inputs)
    return [change for change in found if not any(starts_with(change.path, path) for path in skipped)]


class _Comparison:
    def __init__(self, facts: Facts, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        self._facts, self._state, self._inputs = facts, state, inputs

    def object(self, type_: Object, path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        for name, known in type_.properties.items():
            if not self._facts.has("outputs", (*pattern_of(path), name)):
                yield from self._compare(known.type, (*path, name), old.get(name), new.get(name))

    def _compare(self, type_: Type, path: Path, old: Any, new: Any) -> Iterator[Change]:
        old, new = self._normal(path, old), self._normal(path, new)
        if new is UNKNOWN:
            yield self._change(path, "add" if is_empty(old) else "update", old, new)
        elif is_empty(new):
            yield from self._left_out(type_, path, old)
        elif isinstance(type_, Object):
            if is_empty(old):
                yield self._change(path, "add", old, new)
            else:
                yield from self.object(type_, path, old, new)
        elif isinstance(type_, ListOf) and isinstance(type_.item, Object):
            yield from self._objects(type_, path, old or [], new)
        elif isinstance(type_, MapOf):
            yield from self._map(path, old or {}, new)
        elif not same(self._facts, pattern_of(path), old, new) and not (old is None and _is_zero(new)):
            yield self._change(path, "add" if is_empty(old) else "update", old, new)

    def _left_out(self, type_: Type, path: Path, old: Any) -> Iterator[Change]:
        at = pattern_of(path)
        if is_empty(old) or _is_zero(old) or old == self._facts.get("emptyIs", at):
            return
        if self._facts.has("filled", at):
            condition = self._facts.get("replacesIf", at)
            if condition != "dropped-without-profile" or not dropped_without_profile(self._state, self._inputs):
                return
        yield self._change(path, "delete", old, None)

    def _objects(self, type_: ListOf, path: Path, old: list[Any], new: list[Any]) -> Iterator[Change]:
        partners = self._partners(path, old, new)
        at = pattern_of(path)
        key = self._facts.get("keyed", at) if self._facts.has("keyOnly", at) else None
        for index, entry in enumerate(new):
            partner = partners.get(index)
            same_key = (
                key and partner is not None and isinstance(entry, dict) and entry.get(key) == old[partner].get(key)
            )
            if same_key:
                continue
            if partner is None:
                yield self._change((*path, index), "add", None, entry)
            else:
                yield from self._compare(type_.item, (*path, index), old[partner], entry)
        for index, entry in enumerate(old):
            if index not in partners.values():
                yield self._change((*path, index), "delete", entry, None)

    def _partners(self, path: Path, old: list[Any], new: list[Any]) -> dict[int, int]:
        """For each new entry the old one that it is compared with: that with its key, else the next that is left."""
        at, found = pattern_of(path), dict[int, int]()
        key = self._facts.get("keyed", at)
        for index, entry in enumerate(new if key else ()):
            for candidate, before in enumerate(old):
                same_key = isinstance(entry, dict) and same(self._facts, (*at, key), before.get(key), entry.get(key))
                if same_key and candidate not in found.values():
                    found[index] = candidate
                    break
        left = [index for index in range(len(old)) if index not in found.values()]
        for index in range(len(new)):
            if index not in found and left:
                found[index] = left.pop(0)
        return found

    def _map(self, path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        for key in [*new, *(k for k in old if k not in new)]:
            if key not in new:
                yield self._change((*path, key), "delete", old[key], None, path)
            elif key not in old:
                yield self._change((*path, key), "add", None, new[key], path)
            elif not same(self._facts, pattern_of(path), old[key], new[key]):
                yield self._change((*path, key), "update", old[key], new[key], path)

    def _change(self, path: Path, kind: str, old: Any, new: Any, owner: Path | None = None) -> Change:
        """A key of a map is as final as the map, its `owner`; a block is as final as what is set in it."""
        at = pattern_of(path if owner is None else owner)
        condition = CONDITIONS.get(self._facts.get("replacesIf", at))
        if condition:
            return Change(path, kind, condition(old, new, self._state, self._inputs))
        moved = {"add": new, "delete": old}.get(kind)
        return Change(path, kind, self._facts.has("replaces", at) or self._forces(path, moved, kind))

    def _forces(self, path: Path, value: Any, kind: str) -> bool:
        if isinstance(value, list):
            return any(self._forces(path, item, kind) for item in value)
        if not isinstance(value, dict):
            return False
        for name, item in value.items():
            at = (*pattern_of(path), name)
            final = self._facts.has("replaces", at) and not (kind == "delete" and self._facts.has("filled", at))
            if (final and not is_empty(item) and not _is_zero(item)) or self._forces((*path, name), item, kind):
                return True
        return False

    def _normal(self, path: Path, value: Any) -> Any:
        at = pattern_of(path)
        counter = self._facts.get("countless", at)
        if counter and isinstance(value, list):
            value = [item for item in value if not (isinstance(item, dict) and item.get(counter) == 0)]
        regex = self._facts.get("ignoredKeys", at)
        if regex and isinstance(value, dict):
            value = {key: item for key, item in value.items() if not re.search(regex, key)}
        if self._facts.has("emptyWhenFalse", at) and isinstance(value, dict) and not any(value.values()):
            return None
        return value


def same(facts: Facts, at: Pattern, old: Any, new: Any) -> bool:
    """Whether two values of a property mean the same to Google."""
    if isinstance(new, list) and (old is None or isinstance(old, list)):
        before, after = list(old or []), list(new)
        if facts.has("unordered", at):
            before, after = sorted(before, key=_order), sorted(after, key=_order)
        return len(before) == len(after) and all(same(facts, at, b, a) for b, a in zip(before, after, strict=True))
    if old is None or new is None or new is UNKNOWN:
        return old is new
    if facts.has("links", at):
        return same_link(str(old), str(new))
    if facts.has("ignoreCase", at):
        return str(old).casefold() == str(new).casefold()
    return _text(old) == _text(new)


def planned(
    schema: Schema, facts: Facts, state: Mapping[str, Any], inputs: Mapping[str, Any], *, create: bool
) -> dict[str, Any]:
    """The state that an operation is expected to leave; unknown is what Google will fill in at creation."""
    return _planned(schema.outputs, facts, (), state, inputs, create)


def _planned(
    type_: Object, facts: Facts, at: Pattern, state: Mapping[str, Any], inputs: Mapping[str, Any], create: bool
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, known in type_.properties.items():
        here = (*at, name)
        given, before = inputs.get(name), state.get(name)
        if isinstance(known.type, Object) and isinstance(given, dict):
            result[name] = _planned(known.type, facts, here, before or {}, given, create)
        elif given is not None:
            result[name] = given
        elif facts.has("filled", here) or facts.has("outputs", here):
            result[name] = UNKNOWN if create else before
    return {name: value for name, value in result.items() if value is not None}


def is_empty(value: Any) -> bool:
    """Whether there is nothing: no value, no text, no entry, or a block in which nothing is set."""
    if isinstance(value, dict):
        return all(is_empty(item) for item in value.values())
    return value is None or value == "" or value == []


def _is_zero(value: Any) -> bool:
    return value is False or value == "" or (isinstance(value, int | float) and value == 0)


def same_link(old: str, new: str) -> bool:
    """Whether two ways of naming a Google resource mean the same: short name, path, or URL of any host."""
    if "/" not in old or "/" not in new:
        return old.rsplit("/", 1)[-1] == new.rsplit("/", 1)[-1]
    return re.sub(r"^.*?(?=projects/)", "", old) == re.sub(r"^.*?(?=projects/)", "", new)


def _text(value: Any) -> str:
    """Numbers and booleans may come as text: 5 is "5", true is "true"."""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _order(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
