"""Pathways on GKE, whole."""

from __future__ import annotations

from typing import Any

import pulumi

from components import controllers
from components.gke_cluster import GkeCluster
from components.identity import NodeIdentity
from components.network import Network
from components.node_pools import HeadPool, TpuSlices
from components.pathways_on_gke import PathwaysOnGke
from components.scratch_bucket import ScratchBucket
from components.services import Services
from components.workspace import Workspace
from pathways import endpoints, summary
from pathways.plan import SERVICES, Plan


def build(plan: Plan) -> dict[str, Any]:
    """Declare every resource of the plan; returns the stack's outputs."""
    services = Services("services", SERVICES)
    after_services = pulumi.ResourceOptions(depends_on=[services])
    network = None if plan.settings.cluster.existing else Network("network", plan, after_services)
    identity = NodeIdentity("identity", plan, after_services)
    scratch = ScratchBucket("scratch", plan, identity.member, after_services)
    gke = GkeCluster("gke", plan, network, identity.email, after_services)
    # Nodes that start before their account may pull images or write scratch files fail at once.
    ready_nodes = pulumi.ResourceOptions(depends_on=[*identity.roles, *scratch.access])
    head = HeadPool("head", plan, gke.id, identity.email, ready_nodes)
    second = network.second if network else None
    slices = TpuSlices("slices", plan, gke.id, identity.email, second, ready_nodes)
    workspace = [Workspace("workspace", plan, gke.provider)] if plan.workspace else []
    installed = controllers.install(plan, gke.provider, after=[head, *workspace])
    after_all = pulumi.ResourceOptions(depends_on=[head, slices, *workspace, *installed])
    pathways = PathwaysOnGke("pathways", plan, gke.provider, after_all)
    outputs = {**summary.outputs(plan), "kubeconfig": gke.kubeconfig}
    if pathways.load_balancer:
        outputs["proxyLoadBalancer"] = pulumi.Output.concat(pathways.load_balancer, f":{endpoints.PROXY_PORT}")
    return outputs
