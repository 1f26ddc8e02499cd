"""The registry of checks: each has an id and the settings it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, partial

from pathways.faults import Fault, Severity
from pathways.settings import Platform, Settings
from pathways.topology import SliceShape, resolve


@dataclass(frozen=True)
class Finding:
    """What a check says: the setting, what is wrong with it and what to write instead.

    `severity` is the check's own unless it is stated.
    """

    path: str
    reason: str
    fix: str
    severity: Severity | None = None


Body = Callable[[Settings], Iterator[Finding]]


@dataclass(frozen=True)
class Check:
    """One rule. `reads` are the settings it depends on: it is skipped while one of them is at fault.

    `severities` are all that its findings may have, the usual one first. `platform` is the only one that it is about,
    None where it is about all.
    """

    id: str
    reads: tuple[str, ...]
    body: Body
    severities: tuple[Severity, ...]
    platform: Platform | None = None

    @property
    def title(self) -> str:
        return (self.body.__doc__ or "").strip().splitlines()[0]


CHECKS: list[Check] = []


def check(
    id: str, *reads: str, severities: tuple[Severity, ...] = ("error",), platform: Platform | None = None
) -> Callable[[Body], Body]:
    """Register a check; checks run in the order of their registration."""

    def register(body: Body) -> Body:
        CHECKS.append(Check(id, reads, body, severities, platform))
        return body

    return register


gke_check = partial(check, platform="gke")
director_check = partial(check, platform="clusterDirector")


def run(settings: Settings, faulty: Collection[str] = ()) -> list[Fault]:
    """All faults of the settings, in the order of the checks; those that read a `faulty` path are skipped."""
    unusable = set(faulty)
    faults: list[Fault] = []
    for registered in CHECKS:
        if registered.platform not in (None, settings.platform):
            continue
        if any(_covers(path, bad) for path in registered.reads for bad in unusable):
            continue
        for found in registered.body(settings):
            severity = found.severity or registered.severities[0]
            faults.append(Fault(registered.id, found.path, found.reason, found.fix, severity))
            if severity == "error":
                unusable.add(found.path)
    return faults


def shape_of(settings: Settings) -> SliceShape:
    """The shape of the slices. Raises CatalogueError for what does not exist."""
    return _shape(settings.slices.accelerator, settings.slices.topology, settings.slices.machine_type)


_shape = cache(resolve)


def _covers(path: str, bad: str) -> bool:
    return path == bad or path.startswith((bad + ".", bad + "[")) or bad.startswith((path + ".", path + "["))
