"""Runs changed manifests in a cluster that is up: each in a namespace of its own, several at a time."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathways import containers, kueue
from rehearsal.kubernetes import last_words, trouble
from rehearsal.kubernetes.api import Api, ApiError
from rehearsal.pods import CLIENT
from tests.rehearsal.mutation.mutants import Manifests
from tests.rehearsal.mutation.variants import Variant, devices

Json = dict[str, Any]
# How long (seconds) what may pass must last here, where nothing else is to happen in the cluster.
PATIENCE = {"waiting": 4.0, "initializing": 10.0, "unschedulable": 10.0, "queued": 10.0, "refused": 20.0}
READY_SECONDS = 60.0
COLLECTIONS = {
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "Service": "/api/v1/namespaces/{}/services",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "Pod": "/api/v1/namespaces/{}/pods",
    "ResourceFlavor": f"/apis/{kueue.API_VERSION}/resourceflavors",
    "ClusterQueue": f"/apis/{kueue.API_VERSION}/clusterqueues",
    "LocalQueue": f"/apis/{kueue.API_VERSION}/namespaces/{{}}/localqueues",
    "Workload": f"/apis/{kueue.API_VERSION}/namespaces/{{}}/workloads",
}


@dataclass(frozen=True)
class Verdict:
    """What became of manifests: what noticed them, with what words; `by` is empty where nothing did.

    `servers`: what they said last, where a client has no use of them.
    """

    by: str
    message: str
    servers: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return bool(self.by)


SURVIVED = Verdict("", "")


@dataclass(frozen=True)
class Cluster:
    """Where lanes are: a rehearsed cluster's API and folder."""

    api: Api
    folder: Path


class Lane:
    """A namespace with what a variant's stack has, perhaps changed."""

    def __init__(self, cluster: Cluster, variant: Variant, namespace: str, manifests: Manifests) -> None:
        self.api, self.folder = cluster.api, cluster.folder
        self.variant = variant
        self.namespace = namespace
        self._manifests = manifests
        self.job_set = str(variant.manifests["JobSet"]["metadata"]["name"])
        self.devices = devices(variant)
        self._queued = bool(variant.plan.queues)

    def make(self) -> Verdict | None:
        """Create all of it; the verdict of an API server that refuses."""
        self.api.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        while self.api.get(f"{self.collection('ServiceAccount')}/default") is None:
            time.sleep(0.1)
        plan = self.variant.plan
        for manifest in plan.workspace:
            self._create(manifest)
        try:
            # The JobSet comes last: whatever else is refused need not wait for it.
            for kind in sorted(self._manifests, key="JobSet".__eq__):
                self._create(self._manifests[kind])
        except ApiError as error:
            return Verdict("the API server", str(error))
        return None

    def remove(self) -> None:
        """Delete what takes room, and wait until it is gone."""
        for kind in ("JobSet", "Job"):
            for each in self.api.items(self.collection(kind)):
                self.api.delete(self.path(kind, each["metadata"]["name"]), dependents=True)
        for pod in self.pods():
            if not pod["metadata"].get("ownerReferences"):
                self.api.delete(self.path("Pod", pod["metadata"]["name"]), at_once=True)
        for service in self.api.items(self.collection("Service")):
            self.api.delete(self.path("Service", service["metadata"]["name"]))
        deadline = time.monotonic() + READY_SECONDS
        while self.pods() and time.monotonic() < deadline:
            time.sleep(0.2)

    def wait(
        self, holds: Callable[[], bool], seconds: float = READY_SECONDS, *, patient: bool = False
    ) -> Verdict | None:
        """What keeps the pods from coming so far, or `patient` only that nothing comes; None once `holds` is so."""
        began, since = time.monotonic(), dict[tuple[str, ...], float]()
        while True:
            now = time.monotonic()
            found = [each for pod in self.pods() for each in trouble.of_pod(pod)]
            found += trouble.refused(self.api, self.namespace)
            if self._queued:
                workloads, queues = (self.api.items(self.collection(kind)) for kind in ("Workload", "ClusterQueue"))
                found += trouble.of_workloads(workloads, queues)
            since = {each.key: since.get(each.key, now) for each in found}
            if not patient and (
                lasting := [each for each in found if now - since[each.key] >= PATIENCE.get(each.kind, 0.0)]
            ):
                return Verdict("the pods", str(lasting[0]))
            if holds():
                return None
            if now - began > seconds:
                return Verdict("silence", f"not after {seconds:.0f} seconds: {self._why()}")
            time.sleep(0.5)

    def ready(self) -> bool:
        """Whether the cluster says what `pulumi up` waits for, and a client's own proxy is ready."""
        ready = {each["name"]: each["ready"] for each in self.status().get("replicatedJobsStatus") or ()}
        wanted = self.variant.manifests["JobSet"]["spec"]["replicatedJobs"]
        jobs = [self.status("Job", each["metadata"]["name"]) for each in self._of("Job")]
        return all(ready.get(job["name"]) == job["replicas"] for job in wanted) and all(j.get("ready") for j in jobs)

    def over(self) -> bool:
        """Whether the JobSet has ended."""
        return bool(self.status().get("terminalState"))

    def status(self, kind: str = "JobSet", name: str = "") -> Json:
        found: Json = (self.api.get(self.path(kind, name or self.job_set)) or {}).get("status") or {}
        return found

    def pods(self, **labels: str) -> list[Json]:
        selector = ",".join(f"jobset.sigs.k8s.io/{key}={value}" for key, value in labels.items())
        return self.api.items(self.collection("Pod"), **({"labelSelector": selector} if selector else {}))

    def client(self, name: str, command: list[str]) -> None:
        """Start a JAX client in the cluster, which finds the proxy by the head's name."""
        proxy = str(self.variant.plan.endpoints.proxy)
        head = proxy.rpartition(":")[0].replace(".default.svc.", f".{self.namespace}.svc.")
        variables = {**containers.client_variables(head), "PATHWAYS_PROXY_CONNECTION_TIMEOUT_SECS": "15"}
        container = {
            "name": name,
            "image": "example.com/client:1",
            "command": command,
            "env": [{"name": key, "value": value} for key, value in variables.items()],
        }
        spec = {
            "restartPolicy": "Never",
            "nodeSelector": {"cloud.google.com/gke-nodepool": "cpu-np"},
            "containers": [container],
        }
        self.api.post(self.collection("Pod"), {"metadata": {"name": name}, "spec": spec})

    def log(self, pod: str) -> str:
        try:
            return self.api.text(f"{self.path('Pod', pod)}/log")
        except ApiError:
            return ""  # it has not started yet

    def path(self, kind: str, name: str) -> str:
        return f"{self.collection(kind)}/{name}"

    def collection(self, kind: str) -> str:
        return COLLECTIONS[kind].format(self.namespace)

    def _of(self, kind: str) -> list[Json]:
        return [self._manifests[kind]] if kind in self._manifests else []

    def _create(self, manifest: Mapping[str, Any]) -> None:
        made = copy.deepcopy(dict(manifest))
        if "namespace" in made["metadata"]:
            made["metadata"]["namespace"] = self.namespace
        self._set_apart(made)
        self.api.create(self.collection(made["kind"]), made)

    def _set_apart(self, made: Json) -> None:
        """Give Kueue's objects that no namespace holds a name of this lane, where they stand and where they are named."""
        own = [made["metadata"]] if made["kind"] in ("ResourceFlavor", "ClusterQueue") else []
        groups = made["spec"].get("resourceGroups") or () if made["kind"] == "ClusterQueue" else ()
        for named in [*own, *(flavor for group in groups for flavor in group["flavors"])]:
            named["name"] += f"-{self.namespace}"
        if made["kind"] == "LocalQueue":
            made["spec"]["clusterQueue"] += f"-{self.namespace}"

    def last_words(self) -> tuple[str, ...]:
        """What the servers said last."""
        return tuple(last_words.of(self.api, self.namespace, CLIENT))

    def _why(self) -> str:
        """What the cluster says of pods that do not come."""
        ready = {each["name"]: each["ready"] for each in self.status().get("replicatedJobsStatus") or ()}
        jobs = self.variant.manifests["JobSet"]["spec"]["replicatedJobs"]
        wanted = {job["name"]: job["replicas"] for job in jobs}
        unready = [
            f"{ready.get(name, 0)} of {replicas} jobs of {name} are ready"
            for name, replicas in wanted.items()
            if ready.get(name) != replicas
        ]
        strange = [f"replicated job {name} is another" for name in ready if name not in wanted]
        waiting = [pod["metadata"]["name"] for pod in self.pods() if not is_ready(pod)]
        said = [each.get("message", "") for each in self.status().get("conditions") or ()]
        events = self.api.items(f"/api/v1/namespaces/{self.namespace}/events")
        warnings = dict.fromkeys(event["message"] for event in events if event.get("type") == "Warning")
        return ", ".join([*unready, *strange, *waiting, *said, *warnings]) or "nobody says why"


def is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
