"""Faults that can be switched on: what goes wrong on Google Cloud from time to time, when a rehearsal wants it to.

A fault stays until it is switched off, also over a restart of the double. `GET /faults` lists them, `PUT /faults/NAME`
and `DELETE /faults/NAME` switch one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rehearsal.google.api import Answer, Call, Handler
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import not_found

Json = dict[str, Any]
Refuse = Callable[[Cloud, Call], None]
Change = Callable[[Cloud, Call, Json], Json]
PREFIX = "fault/"


@dataclass(frozen=True)
class Fault:
    """One fault. `refuse` and `change` are by method id; "" stands for every method.

    `pool_error` is how the making of a TPU pool ends: a condition's code and its message. `log` are lines that a
    component of Pathways writes: the container and the text. `cluster` names what happens inside a cluster.
    """

    name: str
    what: str
    refuse: dict[str, Refuse] = field(default_factory=dict)
    change: dict[str, Change] = field(default_factory=dict)
    pool_error: tuple[str, str] | None = None
    log: tuple[tuple[str, str], ...] = ()
    cluster: str = ""


def switch(cloud: Cloud, name: str, on: bool) -> None:
    """Switch a fault on or off, in the clusters that run too. Raises GoogleError for a name that is none."""
    fault = _named(name)
    with cloud.store.transaction():
        if on:
            cloud.store.put(PREFIX + name, {})
        else:
            cloud.store.delete(PREFIX + name)
        clusters = [key for key, _ in _clusters(cloud)] if fault.cluster else []
    for key in clusters:
        cloud.runtime.disturb(key, fault.cluster, on)


def active(cloud: Cloud) -> list[Fault]:
    """The faults that are switched on."""
    known = _known()
    names = (key.removeprefix(PREFIX) for key in cloud.store.list(PREFIX))
    return [known[name] for name in names if name in known]


def describe(cloud: Cloud) -> list[Json]:
    """Every fault, and whether it is switched on."""
    on = {fault.name for fault in active(cloud)}
    return [{"name": fault.name, "what": fault.what, "on": fault.name in on} for fault in _known().values()]


def answer(cloud: Cloud, call: Call, handler: Handler) -> Answer:
    """What a handler answers, or what the faults that are on make of it."""
    on = active(cloud)
    for fault in on:
        for id in ("", call.method.id):
            if id in fault.refuse:
                fault.refuse[id](cloud, call)
    found = handler(cloud, call)
    for fault in on:
        if call.method.id in fault.change and isinstance(found, dict):
            found = fault.change[call.method.id](cloud, call, found)
    return found


def pool_error(cloud: Cloud, pool: Json) -> tuple[str, str] | None:
    """How the making of this pool ends badly: a condition's code and its message."""
    from rehearsal.google.tpus import tpu_machine

    if tpu_machine(pool.get("config", {}).get("machineType", "")) is None:
        return None
    return next((fault.pool_error for fault in active(cloud) if fault.pool_error), None)


def _clusters(cloud: Cloud) -> list[tuple[str, str]]:
    from rehearsal.google.services.container.records import clusters_in

    projects = [project.id for project in cloud.projects.all()]
    return [(record.runtime_key, record.name) for id in projects for record in clusters_in(cloud, id)]


def _named(name: str) -> Fault:
    known = _known()
    if name not in known:
        raise not_found(f"There is no fault {name}. There are {', '.join(known)}.")
    return known[name]


def _known() -> dict[str, Fault]:
    from rehearsal.google.fault_list import FAULTS

    return {fault.name: fault for fault in FAULTS}
