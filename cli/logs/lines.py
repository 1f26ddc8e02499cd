"""Lines of logs, of which component and slice they are, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pathways import names

#: Names for people, and the containers behind them.
COMPONENTS = {
    "resource-manager": "pathways-rm",
    "proxy": "pathways-proxy",
    "worker": "worker",
    "client": "main",
    "colocated-python": "colocated-python-sidecar",
}
_BY_CONTAINER = {container: name for name, container in COMPONENTS.items()}
# 2027-01-01T00:00:00.123456789Z, as container runtimes write it and Cloud Logging keeps it.
_STAMPED = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z)\s?(.*)")
_MILLISECONDS = 23


@dataclass(frozen=True, order=True)
class Line:
    """One line. `slice` and `host` are None for what belongs to none; times are RFC 3339 in UTC."""

    time: str
    component: str
    slice: int | None
    host: int | None
    pod: str
    text: str

    @property
    def where(self) -> str:
        """The component, and of a slice's which host of which slice."""
        if self.slice is None:
            return self.component
        return f"{self.component} {self.slice}" + ("" if self.host is None else f"/{self.host}")


def component_of(container: str) -> str:
    """The component's name for people; the container's own where it is none of Pathways."""
    return _BY_CONTAINER.get(container, container)


def line(stamped: str, container: str, job: str, index: int, host: int, pod: str) -> Line:
    """A line as the node kept it, with its time in front."""
    found = _STAMPED.match(stamped)
    time, text = (found.group(1), found.group(2)) if found else ("", stamped)
    slice_, at = (index, host) if job == names.WORKER_JOB else (None, None)
    return Line(time, component_of(container), slice_, at, pod, text)


def merged(*sources: Iterable[Line]) -> list[Line]:
    """All lines in order of time, each once: a node and Cloud Logging keep the same line."""
    known: dict[tuple[str, str, str], Line] = {}
    for source in sources:
        for each in source:
            known.setdefault((each.time[:_MILLISECONDS], each.pod, each.text), each)
    return sorted(known.values(), key=lambda each: (each.time, each.component, each.slice or 0, each.host or 0))
