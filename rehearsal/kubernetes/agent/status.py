"""A pod's status as the kubelet writes it: container states, phase and conditions.

Source: Kubernetes documentation, "Pod Lifecycle", and what the Job and JobSet controllers read.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
SIDECAR = "Always"


def now() -> str:
    """This moment, as the API writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class ContainerState:
    """What is known of one container of a pod. `spec` is the container as the pod states it."""

    spec: Json
    init: bool = False
    restarts: int = 0
    started: bool = False
    ready: bool = False
    state: Json = field(default_factory=lambda: {"waiting": {"reason": "PodInitializing"}})
    last: Json = field(default_factory=dict)
    id: str = ""

    @property
    def sidecar(self) -> bool:
        return self.init and self.spec.get("restartPolicy") == SIDECAR

    @property
    def running(self) -> bool:
        return "running" in self.state

    @property
    def exit_code(self) -> int | None:
        """None while it has not ended for good."""
        code: int | None = self.state.get("terminated", {}).get("exitCode")
        return code

    def wait(self, reason: str, message: str = "") -> None:
        if "terminated" in self.state:
            self.last = self.state
        self.state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
        self.started = self.ready = False

    def run(self, id: str, started: float) -> None:
        if "terminated" in self.state:
            self.last = self.state
        self.id = id
        self.state = {"running": {"startedAt": moment(started)}}

    def end(self, code: int, reason: str, message: str, started: float, finished: float) -> None:
        self.state = {
            "terminated": {
                "exitCode": code,
                "reason": reason,
                "startedAt": moment(started),
                "finishedAt": moment(finished),
                "containerID": self.id,
                **({"message": message} if message else {}),
            }
        }
        self.started = self.ready = False

    def json(self) -> Json:
        return {
            "name": self.spec["name"],
            "image": self.spec["image"],
            "imageID": self.spec["image"] if self.id else "",
            "containerID": self.id,
            "restartCount": self.restarts,
            "started": self.started,
            "ready": self.ready,
            "state": self.state,
            "lastState": self.last,
        }


def phase(containers: list[ContainerState], policy: str) -> str:
    """The phase of a pod from its containers and its restart policy."""
    inits = [c for c in containers if c.init and not c.sidecar]
    main = [c for c in containers if not c.init]
    if any(c.exit_code for c in inits) and policy == "Never":
        return "Failed"
    if any(c.exit_code != 0 for c in inits):
        return "Pending"
    codes = [c.exit_code for c in main]
    if all(code is not None for code in codes):
        # A pod is over when its sidecars are: until then they have its ports.
        if any(c.sidecar and c.running for c in containers):
            return "Running"
        if policy == "Always":
            return "Running"
        if not any(codes):
            return "Succeeded"
        return "Failed" if policy == "Never" else "Running"
    never_ran = [c for c in main if "waiting" in c.state and not c.last]
    return "Pending" if never_ran else "Running"


def conditions(containers: list[ContainerState], phase: str, before: list[Json], ready_to_start: bool) -> list[Json]:
    """The kubelet's conditions; one that has not changed keeps the time of its last change."""
    waiting_inits = [c for c in containers if c.init and not (c.started if c.sidecar else c.exit_code == 0)]
    unready = [c.spec["name"] for c in containers if (not c.init or c.sidecar) and not c.ready]
    message = f"containers with unready status: [{' '.join(unready)}]"
    if phase == "Succeeded":
        readiness = ("False", "PodCompleted", "")
    elif phase == "Failed":
        readiness = ("False", "PodFailed", "")
    else:
        readiness = ("False", "ContainersNotReady", message) if unready else ("True", "", "")
    initialized = ("True", "", "")
    if waiting_inits and phase in ("Pending", "Failed"):
        names = " ".join(c.spec["name"] for c in waiting_inits)
        initialized = ("False", "ContainersNotInitialized", f"containers with incomplete status: [{names}]")
    wanted = {
        "PodReadyToStartContainers": ("True" if ready_to_start else "False", "", ""),
        "Initialized": initialized,
        "ContainersReady": readiness,
        "Ready": readiness,
    }
    known = {condition["type"]: condition for condition in before}
    found = []
    for kind, (status, reason, text) in wanted.items():
        old = known.get(kind, {})
        since = old.get("lastTransitionTime") if old.get("status") == status else None
        found.append(
            {
                "type": kind,
                "status": status,
                "lastTransitionTime": since or now(),
                "reason": reason or None,
                "message": text or None,
            }
        )
    return found
