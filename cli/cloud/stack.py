"""A deployed stack as commands find it: its plan, Google's clients, and the cluster's API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.cloud.kubernetes import Kubernetes, of_cluster
from pathways.labels import JOB_INDEX, JOB_SET, REPLICATED_JOB
from pathways.plan import Plan

POD_INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True)
class Deployed:
    """A GKE stack whose cluster exists. `cluster` is google-cloud-container's."""

    plan: Plan
    google: Google
    cluster: Any
    kubernetes: Kubernetes

    @property
    def namespace(self) -> str:
        return self.plan.settings.workload.namespace

    @property
    def selector(self) -> str:
        """Selects the JobSet's pods."""
        return f"{JOB_SET}={self.plan.settings.workload.name}"

    def pods(self) -> list[dict[str, Any]]:
        """The JobSet's pods, by kind of job, job and index. Raises CloudError."""
        found = self.kubernetes.items(f"/api/v1/namespaces/{self.namespace}/pods", labelSelector=self.selector)
        return sorted(found, key=place)


def cluster_path(plan: Plan) -> str:
    """The cluster as GKE names it."""
    settings = plan.settings
    return f"projects/{settings.project}/locations/{settings.location}/clusters/{plan.names.cluster}"


def find(google: Google, plan: Plan) -> Deployed:
    """The stack's cluster. Raises CloudError, also where it does not exist or has no endpoint."""
    google.authorize()
    try:
        cluster = google.gke("get_cluster", name=cluster_path(plan))
    except CloudError as error:
        if error.kind == "missing":
            fix = f"pulumi up -s {plan.settings.stack}; pathways preflight -s {plan.settings.stack} asks first whether it can be"
            raise CloudError("missing", f"{plan.settings.stack} is not deployed: {error.reason}", fix) from None
        raise
    return Deployed(plan, google, cluster, of_cluster(google, cluster, plan.settings))


def place(pod: dict[str, Any]) -> tuple[str, int, int]:
    """The kind of a pod's job, the job's index and the pod's in it."""
    labels = pod["metadata"].get("labels", {})
    return labels.get(REPLICATED_JOB, ""), int(labels.get(JOB_INDEX, 0)), int(labels.get(POD_INDEX, 0))
