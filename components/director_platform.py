"""Pathways on Cluster Director, whole."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_gcp import compute

from components.cluster_director import ClusterDirector
from components.pathways_on_slurm import PathwaysOnSlurm
from components.scratch_bucket import ScratchBucket
from components.services import Services
from pathways.director import plan as director
from pathways.director.plan import DirectorPlan


def build(plan: DirectorPlan) -> dict[str, Any]:
    """Declare every resource of the plan; returns the stack's outputs."""
    services = Services("services", plan.services, platform="slurm")
    after_services = pulumi.ResourceOptions(depends_on=[services])
    account = _service_account(plan, services)
    member = pulumi.Output.concat("serviceAccount:", account)
    scratch = ScratchBucket("scratch", plan, member, after_services)
    # The nodes mount the bucket when they start.
    after_bucket = pulumi.ResourceOptions(depends_on=[services, *scratch.access])
    made = ClusterDirector("cluster-director", plan, account, after_bucket)
    PathwaysOnSlurm("pathways", plan, scratch.bucket, after_services)
    return {**director.outputs(plan), "loginNodes": made.cluster.orchestrator.apply(_login_nodes)}


def _service_account(plan: DirectorPlan, services: Services) -> pulumi.Output[str]:
    """Cluster Director's nodes act as the project's Compute Engine account: its API has no setting for another."""
    stated = plan.settings.director.service_account
    if stated:
        return pulumi.Output.from_input(stated)
    default = compute.get_default_service_account_output(
        project=plan.settings.project, opts=pulumi.InvokeOutputOptions(depends_on=[services])
    )
    return default.email


def _login_nodes(orchestrator: Any) -> list[str]:
    slurm = orchestrator.slurm if orchestrator else None
    instances = slurm.login_nodes.instances if slurm else None
    return [each.instance for each in instances or []]
