"""Controllers that Pathways needs in the cluster: JobSet, and Kueue where the stack asks for it."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes

from pathways.names import CONTROLLER_NAMESPACES
from pathways.plan import Plan


class Controller(pulumi.ComponentResource):
    """A controller installed by its Helm chart, in a namespace of its own."""

    def __init__(
        self,
        name: str,
        chart: str,
        version: str | None,
        provider: kubernetes.Provider,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:Controller", f"{name}-controller", None, opts)
        child = pulumi.ResourceOptions(parent=self, provider=provider)
        namespace_name = CONTROLLER_NAMESPACES[name]
        namespace = kubernetes.core.v1.Namespace(namespace_name, metadata={"name": namespace_name}, opts=child)
        self.chart = kubernetes.helm.v4.Chart(
            name,
            chart=chart,
            version=version,
            namespace=namespace_name,
            opts=pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(depends_on=[namespace], transforms=[_leave_certificates])
            ),
        )
        self.register_outputs({})


def _leave_certificates(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Leave alone what controllers write into the chart's objects: webhook certificates and the CA that signed them."""
    ignored = _WRITTEN_BY_CONTROLLERS.get(args.type_.rpartition(":")[2])
    if ignored is None:
        return None
    opts = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(ignore_changes=ignored))
    return pulumi.ResourceTransformResult(props=args.props, opts=opts)


_WRITTEN_BY_CONTROLLERS = {
    "Secret": ["data"],
    "MutatingWebhookConfiguration": ["webhooks[*].clientConfig.caBundle"],
    "ValidatingWebhookConfiguration": ["webhooks[*].clientConfig.caBundle"],
}


class Queues(pulumi.ComponentResource):
    """Kueue's flavors and queues, with quota for what the stack runs."""

    def __init__(
        self, name: str, plan: Plan, provider: kubernetes.Provider, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("pathways:gke:Queues", name, None, opts)
        self.objects = [
            kubernetes.apiextensions.CustomResource(
                f"{queue['kind'].lower()}-{queue['metadata']['name']}",
                api_version=queue["apiVersion"],
                kind=queue["kind"],
                metadata=queue["metadata"],
                spec=queue["spec"],
                opts=pulumi.ResourceOptions(parent=self, provider=provider),
            )
            for queue in plan.queues
        ]
        self.register_outputs({})


def install(plan: Plan, provider: kubernetes.Provider, after: list[pulumi.Resource]) -> list[pulumi.Resource]:
    """Declare the controllers the stack needs; what the JobSet has to wait for."""
    settings = plan.settings
    installed: list[pulumi.Resource] = []
    if settings.jobset.install:
        chart = settings.jobset
        opts = pulumi.ResourceOptions(depends_on=after)
        installed.append(Controller("jobset", chart.chart, chart.version, provider, opts))
    if settings.kueue.enabled:
        if settings.kueue.install:
            # Kueue watches the kinds it manages from its start, so JobSet's must be there.
            opts = pulumi.ResourceOptions(depends_on=[*after, *installed])
            installed.append(Controller("kueue", settings.kueue.chart, settings.kueue.version, provider, opts))
        installed.append(Queues("queues", plan, provider, pulumi.ResourceOptions(depends_on=[*after, *installed])))
    return installed
