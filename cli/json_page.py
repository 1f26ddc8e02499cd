"""The page docs/json.md: what `--json` of the commands of the day after prints, read off the classes that are printed."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

from cli.events.command import Event
from cli.logs.lines import Line
from cli.preflight.findings import Finding
from cli.status.diagnoses import Trouble
from cli.status.slurm import Director
from cli.status.snapshot import Snapshot

_INTRODUCTION = """\
# What the commands print with --json

`preflight` and `status` print one object, `logs` and `events` one a line. Fields are added over time; none is renamed
or removed without a new major version of this project. Times are RFC 3339 in UTC. `null` is what is not there, or
could not be seen: then `silent` says why. Errors go to standard error, in words; the exit code tells them apart.

| Exit code | |
|---|---|
| 0 | asked, and nothing is the matter; `connect`: the program's own |
| 1 | `preflight`: something stands against `pulumi up`; `status`: something is the matter |
| 2 | the stack file or the command line is wrong |
| 3 | nobody can be asked: no credentials, no permission, no network, no answer in time, not deployed |

*Generated from the classes that are printed; `make docs` writes it.*
"""
_COMMANDS: tuple[tuple[str, str, tuple[type, ...]], ...] = (
    ("preflight", '{"stack": NAME, "findings": [Finding, …]}', (Finding,)),
    (
        "status",
        '{"troubles": [Trouble, …], …} and the fields of Snapshot; on Cluster Director, of Director',
        (Trouble,),
    ),
    ("logs", "Line, one a line", (Line,)),
    ("events", "Event, one a line", (Event,)),
)


def page() -> str:
    """Every command's form, and every class in it."""
    parts = [_INTRODUCTION]
    for command, form, classes in _COMMANDS:
        parts.append(f"\n## {command}\n\n`{form}`\n")
        wanted = [*classes, *((Snapshot, Director) if command == "status" else ())]
        parts += [_table(each) for each in _with_inner(wanted)]
    return "".join(parts)


def _with_inner(classes: list[Any]) -> list[Any]:
    """The classes, and those of their fields, each once; lines have a section of their own."""
    found: list[Any] = []
    for each in classes:
        inner = [name for hint in typing.get_type_hints(each).values() for name in _named(hint) if name is not Line]
        found += [known for known in (each, *_with_inner(inner)) if known not in found]
    return list(dict.fromkeys(found))


def _named(hint: Any) -> Iterator[Any]:
    if dataclasses.is_dataclass(hint):
        yield hint
    for argument in typing.get_args(hint):
        yield from _named(argument)


def _table(cls: Any) -> str:
    said = " ".join((cls.__doc__ or "").split())
    rows = "".join(f"| `{name}` | {_type(hint)} |\n" for name, hint in typing.get_type_hints(cls).items())
    return f"\n### {cls.__name__}\n\n{said}\n\n| Field | Type |\n|---|---|\n{rows}"


def _type(hint: Any) -> str:
    """A type in JSON's words."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(_type, arguments))
    if origin is typing.Literal:
        return " or ".join(f'"{each}"' for each in arguments)
    if origin in (list, tuple):
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"object of {_type(arguments[1])}"
    words = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null"}
    return words.get(hint) or re.sub(r"^.*\.", "", hint.__name__)
