"""Runs changed JobSets in a cluster that is up: each in a namespace of its own, several at a time."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pathways import containers
from pathways.plan import Plan
from rehearsal.client import CHECK
from rehearsal.kubernetes import trouble
from rehearsal.kubernetes.api import Api, ApiError
from tests.rehearsal.mutation.mutants import Mutant

Json = dict[str, Any]
LANES = 3
# How long (seconds) what may pass must last here, where nothing else is to happen in the cluster.
PATIENCE = {"waiting": 4.0, "unschedulable": 10.0}
READY_SECONDS = 60.0
CLIENT_SECONDS = 90
CLIENT = "client"


@dataclass(frozen=True)
class Verdict:
    """What became of a JobSet: by what the rehearsal failed (refused, pods, silence, client), or nothing; its words."""

    by: str
    message: str

    @property
    def failed(self) -> bool:
        return bool(self.by)


SURVIVED = Verdict("", "")


class Lanes:
    """Judges JobSets of one plan. `devices` is what its client has to see."""

    def __init__(self, api: Api, plan: Plan, devices: int) -> None:
        self._api = api
        self._plan = plan
        self._devices = devices

    @property
    def job_set(self) -> Json:
        return self._plan.job_set

    @property
    def bucket(self) -> str:
        return self._plan.scratch.name

    def judge_all(self, mutants: Iterable[Mutant]) -> list[Verdict]:
        """A verdict for each."""
        with ThreadPoolExecutor(LANES) as pool:
            return list(
                pool.map(lambda pair: self.judge(f"m{pair[0]}", pair[1].of(self._plan.job_set)), enumerate(mutants))
            )

    def judge(self, namespace: str, job_set: Json) -> Verdict:
        """Run a JobSet in a new namespace, and let a client use it."""
        self._api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        path = f"/apis/{self._plan.job_set['apiVersion']}/namespaces/{namespace}/jobsets"
        made = copy.deepcopy(job_set)
        made["metadata"]["namespace"] = namespace
        try:
            self._wait_for_account(namespace)
            try:
                self._api.post(path, made)
            except ApiError as error:
                return Verdict("refused", str(error))
            return self._watch(namespace) or self._use(namespace)
        finally:
            self._api.delete(f"{path}/{made['metadata']['name']}", dependents=True)
            self._api.delete(f"/api/v1/namespaces/{namespace}/pods/{CLIENT}", at_once=True)
            self._wait_until_gone(namespace)

    def _watch(self, namespace: str) -> Verdict | None:
        """What keeps the pods from being ready; None once they are."""
        began, since = time.monotonic(), dict[tuple[str, ...], float]()
        while True:
            pods, now = self._pods(namespace), time.monotonic()
            found = [each for pod in pods for each in trouble.of_pod(pod)]
            since = {each.key: since.get(each.key, now) for each in found}
            if lasting := [each for each in found if now - since[each.key] >= PATIENCE.get(each.kind, 0.0)]:
                return Verdict("pods", str(lasting[0]))
            if self._ready(namespace):
                return None
            if now - began > READY_SECONDS:
                waiting = [pod["metadata"]["name"] for pod in pods if not _is_ready(pod)]
                said = [each.get("message", "") for each in self._status(namespace).get("conditions") or ()]
                why = ", ".join([*waiting, *said, *self._warnings(namespace)]) or "nobody says why"
                return Verdict("silence", f"not ready after {READY_SECONDS:.0f} seconds: {why}")
            time.sleep(0.5)

    def _ready(self, namespace: str) -> bool:
        """Whether JobSet says what `pulumi up` waits for."""
        ready = {each["name"]: each["ready"] for each in self._status(namespace).get("replicatedJobsStatus") or ()}
        return all(ready.get(job["name"]) == job["replicas"] for job in self.job_set["spec"]["replicatedJobs"])

    def _status(self, namespace: str) -> Json:
        name = self.job_set["metadata"]["name"]
        path = f"/apis/{self.job_set['apiVersion']}/namespaces/{namespace}/jobsets/{name}"
        found: Json = (self._api.get(path) or {}).get("status") or {}
        return found

    def _use(self, namespace: str) -> Verdict:
        """Let a JAX program in the cluster use the service."""
        slices = self._plan.settings.slices.count
        head = str(self._plan.endpoints.proxy).rpartition(":")[0].replace(".default.svc.", f".{namespace}.svc.")
        variables = containers.client_variables(head)
        command = ["python", os.fspath(CHECK), f"--slices={slices}", f"--devices={self._devices}", "--timeout=15"]
        pod = {
            "metadata": {"name": CLIENT},
            "spec": {
                "restartPolicy": "Never",
                "nodeSelector": {"cloud.google.com/gke-nodepool": "cpu-np"},
                "containers": [
                    {
                        "name": CLIENT,
                        "image": "example.com/client:1",
                        "command": command,
                        "env": [{"name": name, "value": value} for name, value in variables.items()],
                    }
                ],
            },
        }
        path = f"/api/v1/namespaces/{namespace}/pods"
        self._api.post(path, pod)
        deadline = time.monotonic() + CLIENT_SECONDS
        while time.monotonic() < deadline:
            found = self._api.get(f"{path}/{CLIENT}") or {}
            for status in (found.get("status") or {}).get("containerStatuses") or ():
                if end := status["state"].get("terminated"):
                    return SURVIVED if end["exitCode"] == 0 else Verdict("client", end.get("message", ""))
            if lasting := [
                each for pod in self._pods(namespace) for each in trouble.of_pod(pod) if each.kind == "ended"
            ]:
                return Verdict("pods", str(lasting[0]))
            time.sleep(0.5)
        return Verdict("silence", f"the client has not ended after {CLIENT_SECONDS} seconds")

    def _pods(self, namespace: str) -> list[Json]:
        return self._api.items(f"/api/v1/namespaces/{namespace}/pods")

    def _warnings(self, namespace: str) -> list[str]:
        events = self._api.items(f"/api/v1/namespaces/{namespace}/events")
        return list(dict.fromkeys(event["message"] for event in events if event.get("type") == "Warning"))

    def _wait_for_account(self, namespace: str) -> None:
        while self._api.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default") is None:
            time.sleep(0.1)

    def _wait_until_gone(self, namespace: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while self._pods(namespace) and time.monotonic() < deadline:
            time.sleep(0.2)


def _is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
