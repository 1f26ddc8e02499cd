"""Pathways on GKE, whole."""

from __future__ import annotations

from typing import Any

import pulumi

from components.gke_cluster import GkeCluster
from components.identity import NodeIdentity
from components.jobset_controller import JobSetController
from components.network import Network
from components.node_pools import HeadPool, TpuSlices
from components.pathways_on_gke import PathwaysOnGke
from components.scratch_bucket import ScratchBucket
from components.services import Services
from pathways import summary
from pathways.plan import SERVICES, Plan


def build(plan: Plan) -> dict[str, Any]:
    """Declare every resource of the plan; returns the stack's outputs."""
    services = Services("services", SERVICES)
    after_services = pulumi.ResourceOptions(depends_on=[services])
    network = Network("network", plan, after_services)
    identity = NodeIdentity("identity", plan, after_services)
    scratch = ScratchBucket("scratch", plan, identity.member, after_services)
    gke = GkeCluster("gke", plan, network, identity.email, after_services)
    # Nodes that start before their account may pull images or write scratch files fail at once.
    ready_nodes = pulumi.ResourceOptions(depends_on=[*identity.roles, *scratch.access])
    head = HeadPool("head", plan, gke.cluster, identity.email, ready_nodes)
    slices = TpuSlices("slices", plan, gke.cluster, identity.email, ready_nodes)
    prerequisites: list[pulumi.Resource] = [head, slices]
    if plan.settings.jobset.install:
        prerequisites.append(
            JobSetController(
                "jobset-controller", plan, gke.provider, pulumi.ResourceOptions(depends_on=[head])
            )
        )
    PathwaysOnGke("pathways", plan, gke.provider, pulumi.ResourceOptions(depends_on=prerequisites))
    return {**summary.outputs(plan), "kubeconfig": gke.kubeconfig}
