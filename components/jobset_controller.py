"""The JobSet controller."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes

from pathways.plan import Plan

NAMESPACE = "jobset-system"


class JobSetController(pulumi.ComponentResource):
    """Installs the JobSet controller by its Helm chart, in a namespace of its own."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        provider: kubernetes.Provider,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:JobSetController", name, None, opts)
        controller = plan.settings.jobset
        child = pulumi.ResourceOptions(parent=self, provider=provider)
        namespace = kubernetes.core.v1.Namespace(NAMESPACE, metadata={"name": NAMESPACE}, opts=child)
        self.chart = kubernetes.helm.v4.Chart(
            "jobset",
            chart=controller.chart,
            version=controller.version,
            namespace=NAMESPACE,
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[namespace])),
        )
        self.register_outputs({})
