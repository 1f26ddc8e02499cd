"""The form of a diagnosis: what is looked for, what it means, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True)
class Match:
    """Evidence that a diagnosis fits. `names` fill further places of its next command."""

    evidence: str
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Diagnosis(Generic[S]):
    """One thing that may be the matter with what a snapshot S shows.

    `pattern` says for people what is looked for, `next` is a command with the snapshot's fields in braces; one with
    `hides` explains the diagnoses of those ids, which then need not be told; a `last` one is told only alone.
    """

    id: str
    pattern: str
    cause: str
    next: str
    find: Callable[[S], Iterable[Match]]
    hides: tuple[str, ...] = ()
    last: bool = False


@dataclass(frozen=True)
class Trouble:
    """A diagnosis that fits: the evidence, the probable cause, and the next command."""

    id: str
    evidence: str
    cause: str
    next: str


def diagnose(snapshot: S, diagnoses: Iterable[Diagnosis[S]]) -> list[Trouble]:
    """What is the matter, the most probable cause first: diagnoses are in this order, and one may hide others."""
    hidden: set[str] = set()
    found: list[tuple[Diagnosis[S], Match]] = []
    for diagnosis in diagnoses:
        if diagnosis.last and found:
            break
        for match in diagnosis.find(snapshot):
            found.append((diagnosis, match))
            hidden.update(diagnosis.hides)
    return list(_told(snapshot, ((d, m) for d, m in found if d.id not in hidden)))


def _told(snapshot: S, found: Iterable[tuple[Diagnosis[Any], Match]]) -> Iterator[Trouble]:
    facts = {key: value for key, value in vars(snapshot).items() if isinstance(value, str | int)}
    for diagnosis, match in found:
        places = {**facts, **match.names}
        yield Trouble(diagnosis.id, match.evidence, diagnosis.cause.format(**places), diagnosis.next.format(**places))
