"""The GKE cluster."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_gcp import container

from components.network import Network
from pathways.kubeconfig import kubeconfig
from pathways.plan import Plan


class GkeCluster(pulumi.ComponentResource):
    """A Standard cluster without its default pool, and the way into it."""

    cluster: container.Cluster
    kubeconfig: pulumi.Output[str]
    provider: kubernetes.Provider

    def __init__(
        self,
        name: str,
        plan: Plan,
        network: Network,
        service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:GkeCluster", name, None, opts)
        settings, names = plan.settings, plan.names
        self.cluster = container.Cluster(
            "cluster",
            name=names.cluster,
            location=settings.region,
            node_locations=[settings.slices.zone],
            network=network.network.id,
            subnetwork=network.subnetwork.id,
            networking_mode="VPC_NATIVE",
            ip_allocation_policy={
                "cluster_secondary_range_name": names.POD_RANGE,
                "services_secondary_range_name": names.SERVICE_RANGE,
            },
            datapath_provider="ADVANCED_DATAPATH",
            release_channel={"channel": settings.cluster.release_channel},
            min_master_version=settings.cluster.version,
            workload_identity_config={"workload_pool": f"{settings.project}.svc.id.goog"},
            private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": False},
            # GKE cannot make a cluster without a pool; this one lives for a minute, but not as the default account.
            initial_node_count=1,
            remove_default_node_pool=True,
            node_config={"machine_type": "e2-medium", "service_account": service_account},
            deletion_protection=settings.cluster.deletion_protection,
            resource_labels=dict(settings.labels),
            opts=pulumi.ResourceOptions(
                parent=self,
                # What GKE reports here is another pool's once the default one is gone.
                ignore_changes=["nodeConfig", "nodePools"],
                depends_on=[network.nat],
                custom_timeouts=pulumi.CustomTimeouts(create="1h", update="2h", delete="1h"),
            ),
        )
        self.kubeconfig = pulumi.Output.secret(
            pulumi.Output.json_dumps(
                pulumi.Output.all(self.cluster.endpoint, self.cluster.master_auth).apply(
                    lambda known: kubeconfig(names.cluster, known[0], known[1]["cluster_ca_certificate"])
                )
            )
        )
        self.provider = kubernetes.Provider(
            "kubernetes", kubeconfig=self.kubeconfig, opts=pulumi.ResourceOptions(parent=self)
        )
        self.register_outputs({"name": self.cluster.name, "endpoint": self.cluster.endpoint})
