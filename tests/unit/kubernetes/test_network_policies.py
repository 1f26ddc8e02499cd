"""Who comes to the proxy, by the Service and the NetworkPolicy of a stack and the pods that are there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from pathways import labels, plan, stackfile
from rehearsal.home import CHECKOUT
from rehearsal.kubernetes.network_policies import faults

Json = dict[str, Any]
FILE = CHECKOUT / "stacks" / "Pulumi.gke-v6e-reserved.yaml"
RANGE = yaml.safe_load(FILE.read_text())["config"]["pathways:reach"]["loadBalancer"]["allowedRanges"][0]


def objects() -> tuple[Json, Json, list[Json]]:
    """The Service, the policy and the pods of a stack with a load balancer."""
    settings, _ = stackfile.from_file(FILE)
    made = plan.make(settings)
    pods = [
        {
            "metadata": {
                "name": f"{job['name']}-0",
                "labels": {labels.JOB_SET: settings.workload.name, labels.REPLICATED_JOB: job["name"]},
            },
            "spec": job["template"]["spec"]["template"]["spec"],
        }
        for job in made.job_set["spec"]["replicatedJobs"]
    ]
    return copy.deepcopy(dict(made.proxy_service or {})), copy.deepcopy(dict(made.proxy_policy or {})), pods


def test_a_stacks_own_let_in_the_same() -> None:
    service, policy, pods = objects()
    assert faults(service, [policy], pods) == []


def _set(value: Any, *path: Any) -> Callable[[Json], None]:
    def change(owner: Any) -> None:
        for key in path[:-1]:
            owner = owner[key]
        owner[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("of_service", "change", "said"),
    [
        (True, _set("worker-x", "spec", "selector", labels.REPLICATED_JOB), "Service trillium-proxy selects no pod"),
        (False, _set("x", "spec", "podSelector", "matchLabels", labels.JOB_SET), "trillium-proxy selects no pod"),
        (False, _set(["Egress"], "spec", "policyTypes"), "does not limit who connects"),
        (True, _set(["10.0.0.0/8"], "spec", "loadBalancerSourceRanges"), "does not admit 10.0.0.0/8 to port 29000"),
        (True, _set(["10.0.0.0/8"], "spec", "loadBalancerSourceRanges"), f"admits {RANGE} to port 29000"),
        (True, _set(29001, "spec", "ports", 0, "targetPort"), f"does not admit {RANGE} to port 29001"),
        (False, _set(29003, "spec", "ingress", 1, "ports", 2, "port"), "JobSet trillium to port 29002"),
        (False, _set("UDP", "spec", "ingress", 0, "ports", 0, "protocol"), f"does not admit {RANGE} to port 29000/TCP"),
        (False, _set("UDP", "spec", "ingress", 0, "ports", 0, "protocol"), "from outside to 29000/UDP of pod"),
        (
            False,
            _set([], "spec", "ingress", 0, "ports"),
            "from outside to every port of pod pathways-head-0, and Service",
        ),
        (True, _set("Cluster", "spec", "externalTrafficPolicy"), "externalTrafficPolicy: Cluster, so that its clients"),
        (True, _set("UDP", "spec", "ports", 0, "protocol"), f"does not admit {RANGE} to port 29000/UDP"),
    ],
)
def test_what_does_not_fit_together_is_named(of_service: bool, change: Callable[[Json], None], said: str) -> None:
    service, policy, pods = objects()
    change(service if of_service else policy)
    assert any(said in fault for fault in faults(service, [policy], pods)), faults(service, [policy], pods)


def test_without_a_policy_the_service_alone_decides() -> None:
    service, _, pods = objects()
    assert faults(service, [], pods) == []
