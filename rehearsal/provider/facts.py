"""What the official provider knows about each resource type, read from `facts/*.yaml`.

Every entry is keyed by the type token. Properties are named as in a Pulumi program, dotted, without indices.
A list of properties is either plain, or grouped by the property around them (`.` is the resource itself).

    id, import      templates of the resource's id; `import` lists the forms that `pulumi import` takes
    autoname        the property that gets LOGICAL-NAME plus 7 hex digits when the program leaves it out
    timeout         seconds an operation may take
    labels          the property that holds the user's labels
    include         {property: property of the node pool}: the facts of that subtree are the node pool's
    replaces        a change, addition or removal replaces the resource
    replacesIf      the same under a condition; the conditions are the functions of `conditions.py`
    filled          Google fills it in when the program leaves it out, and leaving it out is no change
    unsent          a change is planned as an update, and no request carries it
    outputs         never an input's business; secrets: outputs that are marked secret
    defaults        the value when the program leaves it out
    enums, patterns, ranges      what a value may be; ranges are `N..M`, `>=N`, `len N..M` or `cidr`
    conflicts, exactlyOne, atLeastOne    groups of which at most, exactly, at least one may be given
    links           compared as resource names: the short name equals the full path
    ignoreCase, unordered        compared without regard to case or order
    keyed           {list: property}: entries of the list are matched by that property
    keyOnly         entries of a keyed list with the same key are equal, whatever else they say
    ignoredKeys     {map: regex}: keys that Google adds and nobody compares
    countless       {list: property}: entries whose property is 0 do not exist
    emptyIs         {property: value}: leaving it out means the same as this value
    emptyWhenFalse  a block of nothing but false equals no block
    api             the field of Google's API, seen from the field of the block around it; `/` starts at the top
    singles         lists that are one object in the API
    apiMaps         {list: property}: a map in the API, whose keys are the entries' values of that property
    local           has no field of its own in the API; what the program said stays in the state
    writeOnly       sent, and never answered
    int64, textBooleans, inverted    numbers sent as text; "TRUE"/"FALSE" for a boolean; true for false
    updates         the request field that carries a change of the property
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import yaml

from rehearsal.provider.paths import Pattern, parse_pattern

# The loader in C reads the same ten times as fast, where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NODE_POOL = "gcp:container/nodePool:NodePool"
_SETS = (
    "replaces",
    "filled",
    "unsent",
    "outputs",
    "secrets",
    "links",
    "ignoreCase",
    "unordered",
    "emptyWhenFalse",
    "singles",
    "keyOnly",
    "local",
    "writeOnly",
    "int64",
    "textBooleans",
    "inverted",
)
_MAPS = (
    "replacesIf",
    "defaults",
    "enums",
    "patterns",
    "ranges",
    "keyed",
    "apiMaps",
    "ignoredKeys",
    "countless",
    "emptyIs",
    "api",
    "updates",
)
_GROUPS = ("conflicts", "exactlyOne", "atLeastOne")
_SCALARS = ("id", "import", "autoname", "timeout", "labels", "deleteBeforeReplace", "include")


@dataclass(frozen=True)
class Autoname:
    """How a name is made up: its property, the longest it may be, and whether it is made lower case."""

    property: str
    max: int
    lower: bool = False


@dataclass(frozen=True)
class Facts:
    """All that is known about one resource type; the fields are explained at the top of this module."""

    token: str
    id: str
    imports: list[str]
    autoname: Autoname | None
    timeout: float
    labels: str | None
    delete_before_replace: bool
    sets: Mapping[str, frozenset[Pattern]] = field(repr=False)
    maps: Mapping[str, Mapping[Pattern, Any]] = field(repr=False)
    groups: Mapping[str, list[list[Pattern]]] = field(repr=False)

    def has(self, rule: str, at: Pattern) -> bool:
        """Whether `rule` lists the property."""
        return at in self.sets[rule]

    def get(self, rule: str, at: Pattern) -> Any:
        """What `rule` says of the property, or None."""
        return self.maps[rule].get(at)


@cache
def all_facts() -> dict[str, Facts]:
    """The facts of every covered type, by type token."""
    raw: dict[str, dict[str, Any]] = {}
    for file in sorted(resources.files("rehearsal.provider").joinpath("facts").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".yaml"):
            raw |= yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    plain = {token: _facts(token, entry, {}) for token, entry in raw.items()}
    return {token: _facts(token, raw[token], plain) for token in raw}


def _facts(token: str, entry: Mapping[str, Any], known: Mapping[str, Facts]) -> Facts:
    unknown = set(entry) - {*_SETS, *_MAPS, *_GROUPS, *_SCALARS}
    if unknown:
        raise ValueError(f"facts of {token}: {', '.join(sorted(unknown))} is no rule; see rehearsal/provider/facts.py")
    sets = {rule: frozenset(_patterns(entry.get(rule, []))) for rule in _SETS}
    maps = {rule: {parse_pattern(k): v for k, v in entry.get(rule, {}).items()} for rule in _MAPS}
    pool = known.get(_NODE_POOL)
    if pool is not None:
        for at, source in entry.get("include", {}).items():
            _include(pool, parse_pattern(at), () if source == "." else parse_pattern(source), sets, maps)
    return Facts(
        token=token,
        id=entry["id"],
        imports=list(entry["import"]),
        autoname=Autoname(**entry["autoname"]) if "autoname" in entry else None,
        timeout=float(entry.get("timeout", 1200)),
        labels=entry.get("labels"),
        delete_before_replace=bool(entry.get("deleteBeforeReplace")),
        sets=sets,
        maps=maps,
        groups={rule: [[parse_pattern(p) for p in group] for group in entry.get(rule, [])] for rule in _GROUPS},
    )


def _patterns(listed: Any) -> Iterator[Pattern]:
    if isinstance(listed, list):
        listed = {".": listed}
    for around, names in listed.items():
        prefix = () if around == "." else parse_pattern(around)
        for name in names:
            yield (*prefix, *parse_pattern(name))


def _include(
    pool: Facts,
    at: Pattern,
    source: Pattern,
    sets: dict[str, frozenset[Pattern]],
    maps: dict[str, dict[Pattern, Any]],
) -> None:
    inner = len(source)

    def moved(pattern: Pattern) -> bool:
        return len(pattern) > inner and pattern[:inner] == source

    for rule in _SETS:
        sets[rule] |= {at + p[inner:] for p in pool.sets[rule] if moved(p)}
    for rule in _MAPS:
        maps[rule] |= {at + p[inner:]: v for p, v in pool.maps[rule].items() if moved(p)}
