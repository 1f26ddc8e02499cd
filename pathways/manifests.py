"""Every Kubernetes object of a stack, in the order in which the cluster can take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pathways import proxy_job
from pathways.plan import Plan
from pathways.proxy_job import Client

ANY_CLIENT = Client()


def of(plan: Plan) -> list[Mapping[str, Any]]:
    """What `pulumi up` creates in the cluster beside the controllers, from the namespace to the way to the proxy."""
    reach = [plan.proxy_policy, plan.proxy_service]
    return [*plan.workspace, *plan.queues, plan.job_set, *(manifest for manifest in reach if manifest is not None)]


def of_client(plan: Plan, client: Client = ANY_CLIENT) -> list[Mapping[str, Any]]:
    """What a client of a shared service creates for itself; nothing in the other modes."""
    if plan.settings.workload.mode != "service":
        return []
    return [proxy_job.manifest(plan.settings, plan.shape, plan.scratch.uri, client)]
