"""A stack on GKE at one moment, as far as it could be seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from cli.logs.lines import Line


@dataclass(frozen=True)
class Condition:
    """A condition of anything, in Google's or Kubernetes' words."""

    type: str
    message: str = ""
    reason: str = ""
    since: str = ""


@dataclass(frozen=True)
class Pool:
    """A node pool. `wanted` nodes are the plan's; an autoscaled pool may have none."""

    name: str
    status: str
    wanted: int
    nodes: int
    ready: int
    autoscaled: bool = False
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    not_ready: tuple[str, ...] = ()


@dataclass(frozen=True)
class Container:
    """A container of the JobSet. `state` is running, or why it is not; `message` what the node says about that."""

    component: str
    pod: str
    slice: int | None
    host: int | None
    state: str
    ready: bool
    restarts: int
    message: str = ""


@dataclass(frozen=True)
class PendingPod:
    """A pod that no node has taken, and the scheduler's reason."""

    name: str
    slice: int | None
    reason: str


@dataclass(frozen=True)
class RefusedPods:
    """A Job or the JobSet, such as "Job pathways-worker-0"; what it lacks; the API server's reason, and what to do."""

    of: str
    lacks: str
    reason: str
    fix: str


@dataclass(frozen=True)
class ClientProxy:
    """The proxy of a client of a shared service: `state` is running, starting or ended; `slices` are the client's."""

    client: str
    slices: int
    state: str
    since: str


@dataclass(frozen=True)
class JobSet:
    """The JobSet. `ready` counts ready jobs by kind."""

    restarts: int
    suspended: bool
    conditions: tuple[Condition, ...]
    ready: dict[str, int]
    created: str

    def has(self, type_: str) -> Condition | None:
        return next((each for each in self.conditions if each.type == type_), None)


@dataclass(frozen=True)
class Admission:
    """What Kueue decided about the JobSet."""

    admitted: bool
    message: str


@dataclass(frozen=True)
class Silent:
    """A part that could not be seen, why, and what to do."""

    part: str
    reason: str
    fix: str


@dataclass
class Snapshot:
    """All of it. What is None or empty is not there, or listed under `silent`. Only a shared service has `clients`."""

    stack: str
    project: str
    location: str
    cluster: str
    namespace: str
    job_set: str
    slices: int
    vms: int
    chips: int
    head: str
    scratch: str
    taken: str = ""
    status: str = ""
    version: str = ""
    message: str = ""
    operations: list[str] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    job: JobSet | None = None
    admission: Admission | None = None
    containers: list[Container] = field(default_factory=list)
    pending: list[PendingPod] = field(default_factory=list)
    refused: list[RefusedPods] = field(default_factory=list)
    proxy_address: str | None = None
    clients: list[ClientProxy] | None = None
    lines: list[Line] = field(default_factory=list)
    silent: list[Silent] = field(default_factory=list)

    def of_slice(self, index: int) -> list[Container]:
        """The workers of a slice."""
        return [each for each in self.containers if each.slice == index and each.component == "worker"]

    def said(self, component: str, phrase: str) -> Line | None:
        """The last line of a component that holds a phrase."""
        return next((x for x in reversed(self.lines) if x.component == component and phrase in x.text), None)
