"""What keeps the pods of a stack from running, in sentences that name the container and show what it said last.

Or that name the job which the API server lets create no pods.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pathways import kueue, refusals
from pathways.labels import JOB_SET
from rehearsal.kubernetes.api import Api, ApiError

Json = dict[str, Any]
PODS = "/api/v1/pods"
JOBS = "/apis/batch/v1/jobs"
EVENTS = "/api/v1/events"
_OF_JOBS = "involvedObject.kind!=Pod,involvedObject.kind!=Node"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
CLUSTER_QUEUES = f"/apis/{kueue.API_VERSION}/clusterqueues"
WORKLOADS = f"/apis/{kueue.API_VERSION}/workloads"
# Restarts that are no accident: a worker may well start before what it asks for.
RESTARTS = 2
# For how long (seconds) a state that may pass must last until it counts: kubelets, scheduler and controllers try again.
# The Job controller's next try may be a minute away, and a busy machine's webhook answers late.
PATIENCE = {"waiting": 15.0, "initializing": 60.0, "unschedulable": 60.0, "refused": 90.0, "queued": 60.0}
# For how long (seconds) what was wrong before may last: the update that mends it must come to its pods first.
PATIENCE_WITH_FOUND = 90.0
_WAITING = {"ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError", "ContainerCreating"}


@dataclass(frozen=True)
class Trouble:
    """Something that keeps a pod, or one container of it, from running.

    `kind` is ended, waiting, initializing, unschedulable or rejected (by its node); `said` is the end of the
    container's log. `name` is the pod's; where there is none, that of a Job or JobSet whose pods or jobs are refused,
    or of a JobSet that failed or that Kueue keeps queued.
    """

    namespace: str
    name: str
    container: str
    kind: str
    what: str
    said: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What stays the same while its words change."""
        return (self.namespace, self.name, self.container, self.kind)

    def __str__(self) -> str:
        if self.kind in ("refused", "failed", "queued"):
            return self.what
        subject = f"container {self.container} of pod {self.name}" if self.container else f"pod {self.name}"
        text = f"{subject} {self.what}"
        if not self.container or self.kind != "ended":
            return text
        log = f"kubectl logs -n {self.namespace} {self.name} -c {self.container}"
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
    spec = pod["spec"]
    # Sidecars have a policy of their own: those of a pod that has failed are ended with it, and no cause of that.
    policies = {
        each["name"]: each["restartPolicy"] for each in spec.get("initContainers") or () if "restartPolicy" in each
    }
    for each in status.get("initContainerStatuses") or ():
        if "running" in (each.get("state") or {}) and each["name"] not in policies:
            what = "keeps those after it waiting: to run beside them it needs restartPolicy: Always"
            yield Trouble(*where, each["name"], "initializing", what)
    for each in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
        yield from _of_container(where, each, policies.get(each["name"], spec.get("restartPolicy")))


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
        self.api = api
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
        pods = self.api.items(PODS, labelSelector=JOB_SET)
        job_sets = defined(self.api, JOB_SETS)
        found = [trouble for pod in pods for trouble in of_pod(pod)]
        found = [*found, *refused(self.api, job_sets=job_sets)] or of_job_sets(job_sets)
        return found or of_workloads(defined(self.api, WORKLOADS), defined(self.api, CLUSTER_QUEUES))


def within(collection: str, namespace: str) -> str:
    """The path of a collection's part in a namespace, or of all of it."""
    folder, _, name = collection.rpartition("/")
    return f"{folder}/namespaces/{namespace}/{name}" if namespace else collection


def defined(api: Api, collection: str) -> list[Json]:
    """The objects of a resource that a controller brings."""
    try:
        return api.items(collection)
    except ApiError:
        return []  # its controller is not installed yet, or not at all


def refused(api: Api, namespace: str = "", job_sets: list[Json] | None = None) -> list[Trouble]:
    """Jobs and JobSets, of one namespace or of all, that the API server lets create nothing.

    `job_sets` are those of it, where whoever asks knows them.
    """
    if job_sets is None:
        job_sets = defined(api, within(JOB_SETS, namespace))
    jobs = api.items(within(JOBS, namespace), labelSelector=JOB_SET)
    events = api.items(within(EVENTS, namespace), fieldSelector=_OF_JOBS)
    return [
        Trouble(each.namespace, each.name, "", "refused", f"{each}\n  fix: {each.fix}")
        for each in refusals.find(jobs, job_sets, events)
    ]


def of_job_sets(job_sets: Iterable[Json]) -> list[Trouble]:
    """JobSets that have failed, and whose pods do not say why any more."""
    return [
        Trouble(place["namespace"], place["name"], "", "failed", f"JobSet {place['name']}: {condition.get('message')}")
        for item in job_sets
        for condition in item.get("status", {}).get("conditions") or ()
        if condition["type"] == "Failed" and condition["status"] == "True" and (place := item["metadata"])
    ]


def of_workloads(workloads: Iterable[Json], cluster_queues: Iterable[Json] = ()) -> list[Trouble]:
    """JobSets to which Kueue gives no quota, and so no pods, with what is the matter with their ClusterQueue."""
    inactive = {
        item["metadata"]["name"]: condition.get("message", "")
        for item in cluster_queues
        for condition in item.get("status", {}).get("conditions") or ()
        if condition["type"] == "Active" and condition["status"] == "False"
    }

    def told(condition: Json) -> str:
        message = condition.get("message", "")
        why = [f" ({why})" for name, why in inactive.items() if f"ClusterQueue {name} " in message]
        return f"{message}{''.join(why)}"

    return [
        Trouble(
            item["metadata"]["namespace"],
            owner["name"],
            "",
            "queued",
            f"JobSet {owner['name']} waits in Kueue's queue {item['spec'].get('queueName')}: {told(condition)}",
        )
        for item in workloads
        for owner in item["metadata"].get("ownerReferences") or ()
        for condition in item.get("status", {}).get("conditions") or ()
        if condition["type"] == "QuotaReserved" and condition["status"] == "False"
    ]
