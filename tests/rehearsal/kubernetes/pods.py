"""Pods of a rehearsed stack as `kubectl` shows them: what they log, and commands inside."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kubernetes import client
from kubernetes.stream import stream

from pathways.labels import JOB_SET
from rehearsal import view
from rehearsal.kubernetes.api import Api
from tests.rehearsal.conftest import Rehearsal

Json = dict[str, Any]
# What a control plane takes, on a machine that does other things too, to do what a test has asked of it.
PATIENCE_SECONDS = 120


class Pods:
    """The pods of a rehearsal's only cluster."""

    def __init__(self, rehearsal: Rehearsal, job_set: str = "pathways") -> None:
        self.rehearsal = rehearsal
        self.job_set = job_set
        session = rehearsal.session()
        [self.cluster] = view.clusters(session, "example-ml")
        self.api: Api = view.api(session, self.cluster)

    def all(self) -> list[view.Pod]:
        return view.pods(self.api, "default", self.job_set)

    def head(self) -> view.Pod:
        [found] = [pod for pod in self.all() if pod.job == "pathways-head"]
        return found

    def log(self, pod: str, container: str) -> str:
        return self.api.text(f"/api/v1/namespaces/default/pods/{pod}/log", container=container)

    def run(self, pod: str, container: str, *command: str) -> str:
        """What a command prints in a container."""
        configuration = client.Configuration(host=f"https://{self.cluster['endpoint']}")
        configuration.ssl_ca_cert = str(self.rehearsal.home.root / f"{self.cluster['name']}.ca.pem")
        configuration.api_key = {"authorization": f"Bearer {self.rehearsal.home.token.read_text()}"}
        core = client.CoreV1Api(client.ApiClient(configuration))
        said: str = stream(
            core.connect_get_namespaced_pod_exec,
            pod,
            "default",
            container=container,
            command=list(command),
            stdout=True,
            stderr=True,
            stdin=False,
            tty=False,
        )
        return said

    def until(self, what: str, holds: Callable[[], object]) -> None:
        """Wait until it is so; the state of the pods is what a failure shows."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, (what, self.all())
            time.sleep(0.5)

    def all_ready(self) -> bool:
        pods = self.api.items("/api/v1/namespaces/default/pods", labelSelector=JOB_SET)
        return bool(pods) and all(_ready(pod) for pod in pods)

    def restarts(self) -> int:
        """How often JobSet has begun anew."""
        path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/{self.job_set}"
        return int((self.api.get(path) or {}).get("status", {}).get("restarts", 0))


def _ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
