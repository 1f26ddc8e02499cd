"""What the JobSet needs in a new cluster."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from pathways.plan import Plan

KINDS: dict[str, Any] = {
    "Namespace": kubernetes.core.v1.Namespace,
    "ServiceAccount": kubernetes.core.v1.ServiceAccount,
    "PriorityClass": kubernetes.scheduling.v1.PriorityClass,
}


class Workspace(pulumi.ComponentResource):
    """The workload's namespace, service account and priority class, as far as the plan has them made."""

    def __init__(
        self, name: str, plan: Plan, provider: kubernetes.Provider, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("pathways:gke:Workspace", name, None, opts)
        made: list[pulumi.Resource] = []
        for manifest in plan.workspace:
            fields = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")}
            # Each may lie in the one before.
            opts = pulumi.ResourceOptions(parent=self, provider=provider, depends_on=made[-1:])
            made.append(KINDS[manifest["kind"]](manifest["kind"].lower(), **fields, opts=opts))
        self.register_outputs({})
