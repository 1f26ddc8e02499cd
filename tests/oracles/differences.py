"""Differences between two manifests by their place, and the list of those that are meant.

Elements of lists are known by their names, flags and variables by theirs, so that a place stays the same when others
come and go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
MEANT = Path(__file__).with_name("differences.yaml")
PAGE = ROOT / "docs" / "differences.md"
ABSENT = "absent"

# Each tool's names for the same container or job.
SAME = {"pathways-worker": "worker", "jax-tpu": "main", "user-workload": "main"}


@dataclass(frozen=True)
class Difference:
    """What stands at a place in ours and in theirs; `absent` where nothing does."""

    place: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.place}: ours {self.ours}, theirs {self.theirs}"


@dataclass(frozen=True)
class Meant:
    """A difference that is meant. In place and values * stands for anything."""

    place: str
    ours: str
    theirs: str
    reason: str

    def covers(self, found: Difference) -> bool:
        pairs = [(found.place, self.place), (found.ours, self.ours), (found.theirs, self.theirs)]
        return all(_matches(value, pattern) for value, pattern in pairs)


def meant(tool: str) -> list[Meant]:
    """The differences from a tool that are meant."""
    entries = yaml.safe_load(MEANT.read_text("utf-8"))[tool]["differences"]
    return [Meant(entry["place"], str(entry["ours"]), str(entry["theirs"]), entry["reason"]) for entry in entries]


def between(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[Difference]:
    """All differences, in the order of ours and then of theirs."""
    mine, other = dict(_leaves(ours, "")), dict(_leaves(theirs, ""))
    return [
        Difference(place, mine.get(place, ABSENT), other.get(place, ABSENT))
        for place in dict.fromkeys([*mine, *other])
        if mine.get(place) != other.get(place)
    ]


def page() -> str:
    """The list as a page for people."""
    document = yaml.safe_load(MEANT.read_text("utf-8"))
    text = [
        "# Differences from other tools\n",
        "For the same request our manifests and node pools equal those of the tools below, but for what is listed "
        "here. `tests/oracles` runs the tools and fails on any other difference, and on an entry that no longer holds."
        "\n\n*Generated from `tests/oracles/differences.yaml`.*",
    ]
    for tool, section in document.items():
        text.append(f"\n## {tool}\n\n{section['about']}\n\n| Where | Ours | Theirs | Why |\n|---|---|---|---|")
        for entry in section["differences"]:
            cells = (f"`{entry['place']}`", _cell(entry["ours"]), _cell(entry["theirs"]), entry["reason"].strip())
            text.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(text) + "\n"


def _cell(value: Any) -> str:
    return "-" if value == ABSENT else f"`{value}`"


def _matches(value: str, pattern: str) -> bool:
    # Brackets are part of places, not sets of letters.
    return fnmatchcase(value, pattern.replace("[", "[[]"))


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        if not value:
            return
        for key, inner in value.items():
            yield from _leaves(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(*_named(inner, index, place))
    elif value is not None:
        yield place, str(value)


def _named(item: Any, index: int, place: str) -> tuple[Any, str]:
    """An element and where it is: by its name, its flag or its port, or else by its number."""
    if isinstance(item, Mapping) and "name" in item:
        name = str(item["name"])
        if "value" in item or "valueFrom" in item:
            return {key: inner for key, inner in item.items() if key != "name"}, f"{place}[{name}]"
        return item, f"{place}[{SAME.get(name, name)}]"
    if isinstance(item, Mapping) and "containerPort" in item:
        return item, f"{place}[{item['containerPort']}]"
    if isinstance(item, str) and item.startswith("--"):
        flag, _, value = item.partition("=")
        return value, f"{place}[{flag}]"
    return item, f"{place}[{index}]"
