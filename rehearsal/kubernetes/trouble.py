"""What keeps the pods of a stack from running, in sentences that name the container and show what it said last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rehearsal.kubernetes.api import Api, ApiError

Json = dict[str, Any]
PODS = "/api/v1/pods"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
OF_JOB_SETS = "jobset.sigs.k8s.io/jobset-name"
# Restarts that are no accident: a worker may well start before what it asks for.
RESTARTS = 2
# For how long (seconds) a state that may pass must last until it counts: kubelets and the scheduler try again.
PATIENCE = {"waiting": 15.0, "unschedulable": 60.0}
# For how long (seconds) what was wrong before may last: the update that mends it must come to its pods first.
PATIENCE_WITH_FOUND = 90.0
_WAITING = {"ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError", "ContainerCreating"}


@dataclass(frozen=True)
class Trouble:
    """Something that keeps a pod, or one container of it, from running.

    `kind` is ended, waiting, unschedulable, rejected, or, of a whole JobSet, failed; `said` is the end of the container's log.
    """

    namespace: str
    pod: str
    container: str
    kind: str
    what: str
    said: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What stays the same while its words change."""
        return (self.namespace, self.pod, self.container, self.kind)

    def __str__(self) -> str:
        if self.kind == "failed":
            return f"JobSet {self.what}"
        subject = f"container {self.container} of pod {self.pod}" if self.container else f"pod {self.pod}"
        text = f"{subject} {self.what}"
        if not self.container or self.kind != "ended":
            return text
        log = f"kubectl logs -n {self.namespace} {self.pod} -c {self.container}"
        return f"{text}. Its log ({log}) ends:\n{self.said}" if self.said else f"{text}; it said nothing ({log})"


def of_pod(pod: Json) -> list[Trouble]:
    """What is the matter with a pod, as its status says."""
    over = pod["status"].get("phase") == "Succeeded" or pod["metadata"].get("deletionTimestamp")
    return [] if over else list(_troubles(pod))


def _troubles(pod: Json) -> Iterator[Trouble]:
    metadata, status = pod["metadata"], pod["status"]
    where = (metadata["namespace"], metadata["name"])
    if status.get("reason"):
        yield Trouble(*where, "", "rejected", f"was refused by its node: {status.get('message', status['reason'])}")
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield Trouble(*where, "", "unschedulable", f"fits on no node: {condition.get('message', '')}")
    for each in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
        yield from _of_container(where, each, pod["spec"].get("restartPolicy"))


def _of_container(where: tuple[str, str], status: Json, policy: str | None) -> Iterator[Trouble]:
    name, state = status["name"], status.get("state") or {}
    waiting = state.get("waiting") or {}
    if waiting.get("reason") in _WAITING and waiting.get("message"):
        yield Trouble(*where, name, "waiting", f"does not start ({waiting['reason']}): {waiting['message']}")
    end = state.get("terminated") or (status.get("lastState") or {}).get("terminated") or {}
    again = status.get("restartCount", 0)
    final = "terminated" in state and policy == "Never"
    if end.get("exitCode") and (final or again >= RESTARTS) and not status.get("ready"):
        times = f" after {again} restarts" if again >= RESTARTS else ""
        if end.get("reason") == "StartError":
            yield Trouble(*where, name, "waiting", f"cannot be started{times}: {end.get('message', '')}")
        else:
            what = f"ended{times} with exit code {end['exitCode']}"
            yield Trouble(*where, name, "ended", what, end.get("message", ""))


class Watcher:
    """Looks at the pods of JobSets again and again. What is wrong at the first look has time to be mended."""

    def __init__(self, api: Api, clock: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._clock = clock
        self._since: dict[tuple[str, ...], float] = {}
        self._found: set[tuple[str, ...]] | None = None

    def look(self) -> list[Trouble]:
        """The troubles that have lasted long enough to count."""
        now, found = self._clock(), self._troubles()
        self._since = {each.key: self._since.get(each.key, now) for each in found}
        if self._found is None:
            self._found = set(self._since)
        return [each for each in found if now - self._since[each.key] >= self._patience(each)]

    def _patience(self, trouble: Trouble) -> float:
        found = self._found or ()
        return PATIENCE_WITH_FOUND if trouble.key in found else PATIENCE.get(trouble.kind, 0.0)

    def _troubles(self) -> list[Trouble]:
        pods = self._api.items(PODS, labelSelector=OF_JOB_SETS)
        return [trouble for pod in pods for trouble in of_pod(pod)] or of_job_sets(self._job_sets())

    def _job_sets(self) -> list[Json]:
        try:
            return self._api.items(JOB_SETS)
        except ApiError:
            return []  # JobSet is not installed yet


def of_job_sets(job_sets: Iterable[Json]) -> list[Trouble]:
    """JobSets that have failed, and whose pods do not say why any more."""
    return [
        Trouble(
            item["metadata"]["namespace"], "", "", "failed", f"{item['metadata']['name']}: {condition.get('message')}"
        )
        for item in job_sets
        for condition in item.get("status", {}).get("conditions") or ()
        if condition["type"] == "Failed" and condition["status"] == "True"
    ]
