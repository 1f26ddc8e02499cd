"""Pathways itself, as a JobSet."""

from __future__ import annotations

import json

import pulumi
import pulumi_kubernetes as kubernetes

from pathways.plan import Plan


class PathwaysOnGke(pulumi.ComponentResource):
    """The Pathways JobSet. It counts as created when the head and every slice are ready."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        provider: kubernetes.Provider,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:Pathways", name, None, opts)
        manifest = plan.job_set
        ready = [
            f'jsonpath={{.status.replicatedJobsStatus[?(@.name=="{job["name"]}")].ready}}={job["replicas"]}'
            for job in manifest["spec"]["replicatedJobs"]
        ]
        self.job_set = kubernetes.apiextensions.CustomResource(
            "jobset",
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata={**manifest["metadata"], "annotations": {"pulumi.com/waitFor": json.dumps(ready)}},
            spec=manifest["spec"],
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=provider,
                # JobSet refuses nearly every change of its spec, and its name is fixed.
                replace_on_changes=["spec"],
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create="30m"),
            ),
        )
        self.register_outputs({"jobSet": manifest["metadata"]["name"]})
