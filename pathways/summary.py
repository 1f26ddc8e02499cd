"""What a stack amounts to, as numbers and addresses."""

from __future__ import annotations

from typing import Any

from pathways.plan import Plan


def outputs(plan: Plan) -> dict[str, Any]:
    """The stack's outputs that follow from the settings; keys as `pulumi stack output` shows them."""
    return {
        "clusterName": plan.names.cluster,
        "jobSet": f"{plan.settings.workload.namespace}/{plan.settings.workload.name}",
        "proxyAddress": plan.endpoints.proxy,
        "resourceManagerAddress": plan.endpoints.resource_manager,
        "instanceType": plan.shape.instance_type,
        "slices": plan.settings.slices.count,
        "vmsPerSlice": plan.shape.vms,
        "chips": plan.settings.slices.count * plan.shape.chips,
        "scratchLocation": plan.scratch.uri,
    }
