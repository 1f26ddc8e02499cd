"""Pathways itself, as a JobSet."""

from __future__ import annotations

import json
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from pathways.plan import Plan


class PathwaysOnGke(pulumi.ComponentResource):
    """The Pathways JobSet. It counts as created when the head and every slice are ready."""

    #: Address of the proxy's load balancer; None where the stack has none.
    load_balancer: pulumi.Output[str] | None

    def __init__(
        self,
        name: str,
        plan: Plan,
        provider: kubernetes.Provider,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:Pathways", name, None, opts)
        manifest, child = plan.job_set, pulumi.ResourceOptions(parent=self, provider=provider)
        self.job_set = kubernetes.apiextensions.CustomResource(
            "jobset",
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata={**manifest["metadata"], "annotations": _awaited(plan)},
            spec=manifest["spec"],
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(
                    # Kueue refuses to move a JobSet that runs to another queue, which is a label.
                    replace_on_changes=["metadata.labels", *(f"spec.{key}" for key in IMMUTABLE)],
                    delete_before_replace=True,
                    # Kueue resumes the JobSet; what it wrote there is not the stack's to undo.
                    ignore_changes=["spec.suspend"] if plan.settings.kueue.enabled else None,
                    custom_timeouts=pulumi.CustomTimeouts(create="30m"),
                ),
            ),
        )
        self.load_balancer = self._reach(plan, child)
        self.register_outputs({"jobSet": manifest["metadata"]["name"]})

    def _reach(self, plan: Plan, child: pulumi.ResourceOptions) -> pulumi.Output[str] | None:
        if plan.proxy_service is None or plan.proxy_policy is None:
            return None
        policy, balancer = plan.proxy_policy, plan.proxy_service
        kubernetes.networking.v1.NetworkPolicy(
            "proxy-policy", metadata=policy["metadata"], spec=policy["spec"], opts=child
        )
        service = kubernetes.core.v1.Service(
            "proxy-service", metadata=balancer["metadata"], spec=balancer["spec"], opts=child
        )
        status: pulumi.Output[Any] = service.status
        return status.apply(lambda known: str(known.load_balancer.ingress[0].ip))


# What the JobSet webhook refuses to change in a JobSet that exists; its name being fixed, it is deleted first.
IMMUTABLE = ("coordinator", "failurePolicy", "network", "replicatedJobs", "startupPolicy", "successPolicy")


def _awaited(plan: Plan) -> dict[str, str]:
    """Annotations that make Pulumi wait until every replicated job is ready, unless nothing is to start yet."""
    if plan.job_set["spec"]["suspend"]:
        return {"pulumi.com/skipAwait": "true"}
    ready = [
        f'jsonpath={{.status.replicatedJobsStatus[?(@.name=="{job["name"]}")].ready}}={job["replicas"]}'
        for job in plan.job_set["spec"]["replicatedJobs"]
    ]
    return {"pulumi.com/waitFor": json.dumps(ready)}
