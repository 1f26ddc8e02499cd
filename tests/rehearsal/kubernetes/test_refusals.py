"""What a real API server says when it refuses the pods and jobs of a JobSet, and what that is taken for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from rehearsal.kubernetes.api import Api
from rehearsal.kubernetes.trouble import Trouble, Watcher
from tests.rehearsal.kubernetes.test_runtime import Clusters, cluster, clusters, jobset, pytestmark, until

__all__ = ["cluster", "clusters"]
pytestmark = [pytestmark, pytest.mark.extended]

Json = dict[str, Any]
HOST_PORT = {"containerPort": 29001, "hostPort": 29001, "protocol": "TCP"}


@dataclass
class Case:
    """What is wrong in a namespace of that name, and what is to be said of it."""

    namespace: str
    subject: str
    says: str
    fix: str
    labels: dict[str, str] = field(default_factory=dict)
    objects: dict[str, Json] = field(default_factory=dict)
    pod: Callable[[Json], object] = lambda pod: None


def quota(**hard: str) -> dict[str, Json]:
    return {"resourcequotas": {"metadata": {"name": "small"}, "spec": {"hard": hard}}}


CASES = [
    Case(
        "pod-quota", "Job a-pathways-head-0", "exceeded quota: small", "describe resourcequota", objects=quota(pods="0")
    ),
    Case(
        "job-quota",
        "JobSet a",
        "exceeded quota: small",
        "describe resourcequota",
        objects=quota(**{"count/jobs.batch": "0"}),
    ),
    Case(
        "pod-security",
        "Job a-pathways-head-0",
        "violates PodSecurity",
        "kubectl label namespace pod-security --overwrite",
        labels={"pod-security.kubernetes.io/enforce": "baseline"},
    ),
    Case(
        "account",
        "Job a-pathways-head-0",
        'serviceaccount "ghost" not found',
        "kubectl create serviceaccount ghost -n account",
        pod=lambda pod: pod.update(serviceAccountName="ghost"),
    ),
    Case(
        "priority",
        "Job a-pathways-head-0",
        "no PriorityClass with name gold was found",
        "pathways:workload.priorityClass",
        pod=lambda pod: pod.update(priorityClassName="gold"),
    ),
    Case(
        "limits",
        "Job a-pathways-head-0",
        "maximum cpu usage per Container is 2, but limit is 8",
        "describe limitrange",
        objects={
            "limitranges": {
                "metadata": {"name": "small"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]},
            }
        },
    ),
    Case(
        "port-twice",
        "JobSet a",
        "hostPort: Duplicate value",
        "the field spec.template.spec.containers[1].ports[0].hostPort is not what Kubernetes takes",
        pod=lambda pod: pod.update(
            containers=[{**pod["containers"][0], "name": name, "ports": [HOST_PORT]} for name in ("rm", "proxy")]
        ),
    ),
    Case(
        "webhook",
        "Job a-pathways-head-0",
        'failed calling webhook "nobody.example.com"',
        "the webhook nobody.example.com does not answer",
    ),
]
WEBHOOK = {
    "metadata": {"name": "nobody"},
    "webhooks": [
        {
            "name": "nobody.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"service": {"name": "nobody", "namespace": "webhook"}},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "webhook"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        }
    ],
}


def begin(api: Api, case: Case) -> None:
    """Make the namespace, what is wrong in it, and a JobSet."""
    api.create("/api/v1/namespaces", {"metadata": {"name": case.namespace, "labels": case.labels}})
    here = f"/api/v1/namespaces/{case.namespace}"
    for kind, body in case.objects.items():
        api.create(f"{here}/{kind}", body)
    if "resourcequotas" in case.objects:
        until(lambda: (api.get(f"{here}/resourcequotas/small") or {}).get("status", {}).get("hard"))
    made = jobset("a", slices=1)
    case.pod(made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"])
    api.create(f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{case.namespace}/jobsets", made)


def test_each_refusal_names_who_lacks_what_and_the_fix(clusters: Clusters, cluster: str) -> None:
    with clusters.api(cluster) as api:
        api.create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", WEBHOOK)
        # A clock on which everything has lasted at the next look.
        watcher = Watcher(api, itertools.count(0.0, 1000.0).__next__)
        assert watcher.look() == []
        for case in CASES:
            begin(api, case)
        found: dict[str, Trouble] = {}

        def all_told() -> bool:
            wanted = {(case.namespace, case.subject.split()[1]) for case in CASES}
            found.update({each.namespace: each for each in watcher.look() if (each.namespace, each.name) in wanted})
            return len(found) == len(CASES)

        try:
            until(all_told)
        finally:
            print("\n".join(map(str, found.values())))
    for case in CASES:
        told = str(found[case.namespace])
        assert told.startswith(f"{case.subject} lacks ") and case.says in told
        assert case.fix in told.partition("\n  fix: ")[2]
