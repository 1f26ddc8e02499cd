"""The Cluster Director cluster."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi_gcp import compute, hypercomputecluster

from pathways.director.plan import DirectorPlan

# Creating a cluster with its storage and nodes takes the better part of an hour.
TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# The API calls these immutable, though the provider would plan an update that is then refused.
IMMUTABLE = ["networkResources", "storageResources", "orchestrator.slurm.loginNodes.bootDisk"]


class ClusterDirector(pulumi.ComponentResource):
    """A Slurm cluster with a CPU partition for the service and its clients, and a TPU partition for the slices."""

    cluster: hypercomputecluster.Cluster

    def __init__(
        self,
        name: str,
        plan: DirectorPlan,
        service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:slurm:ClusterDirector", name, None, opts)
        # The plan spells every argument as the SDK does; a type for each would state them a second time.
        arguments: dict[str, Any] = dict(plan.cluster)
        self.cluster = hypercomputecluster.Cluster(
            "cluster",
            **arguments,
            opts=pulumi.ResourceOptions(
                parent=self,
                custom_timeouts=TIMEOUTS,
                replace_on_changes=IMMUTABLE,
                # The id is ours and stays, so the new cluster cannot exist beside the old one.
                delete_before_replace=True,
            ),
        )
        compute.Firewall(
            "service-ports",
            # By way of the cluster, so that the rule is replaced with it: a network that the cluster brings is there
            # after it, and must be empty before it goes.
            name=self.cluster.name.apply(lambda _: f"{plan.settings.name}-pathways"),
            network=plan.network,
            description="Pathways' resource manager, workers and IFRT proxy, from the cluster's own nodes only.",
            allows=[{"protocol": "tcp", "ports": [str(port) for port in plan.ports]}],
            source_service_accounts=[service_account],
            target_service_accounts=[service_account],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"name": self.cluster.name})
