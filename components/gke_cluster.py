"""The GKE cluster."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_gcp import container

from components.network import Network
from pathways.kubeconfig import kubeconfig
from pathways.plan import Plan
from pathways.settings import Cluster, Reach, Workload


class GkeCluster(pulumi.ComponentResource):
    """A Standard cluster without its default pool, or one that exists, and the way into it."""

    id: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    provider: kubernetes.Provider

    def __init__(
        self,
        name: str,
        plan: Plan,
        network: Network | None,
        service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:GkeCluster", name, None, opts)
        if network is None:
            cluster = container.Cluster.get(
                "cluster",
                f"projects/{plan.settings.project}/locations/{plan.settings.location}/clusters/{plan.settings.cluster.existing}",
                opts=pulumi.ResourceOptions(parent=self),
            )
        else:
            cluster = self._create(plan, network, service_account)
        self.id = cluster.id
        self.kubeconfig = pulumi.Output.secret(
            pulumi.Output.json_dumps(
                pulumi.Output.all(cluster.name, _endpoint(cluster, plan.settings.cluster), cluster.master_auth).apply(
                    # A DNS endpoint has a certificate that everyone trusts; the cluster's own CA did not sign it.
                    lambda known: kubeconfig(
                        known[0],
                        known[1],
                        None if plan.settings.cluster.dns_endpoint else known[2]["cluster_ca_certificate"],
                    )
                )
            )
        )
        self.provider = kubernetes.Provider(
            "kubernetes", kubeconfig=self.kubeconfig, opts=pulumi.ResourceOptions(parent=self)
        )
        self.register_outputs({"name": cluster.name})

    def _create(self, plan: Plan, network: Network, service_account: pulumi.Input[str]) -> container.Cluster:
        settings, asked = plan.settings, plan.settings.cluster
        return container.Cluster(
            "cluster",
            name=plan.names.cluster,
            location=settings.location,
            node_locations=[settings.slices.zone] if asked.location != settings.slices.zone else None,
            network=network.network,
            subnetwork=network.subnetwork,
            networking_mode="VPC_NATIVE",
            ip_allocation_policy={
                "cluster_secondary_range_name": settings.network.pod_range_name,
                "services_secondary_range_name": settings.network.service_range_name,
            },
            datapath_provider="ADVANCED_DATAPATH",
            enable_multi_networking=True if network.second else None,
            release_channel={"channel": asked.release_channel},
            min_master_version=asked.version,
            maintenance_policy=_maintenance(asked),
            workload_identity_config={"workload_pool": f"{settings.project}.svc.id.goog"},
            private_cluster_config={
                "enable_private_nodes": True,
                "enable_private_endpoint": asked.private_endpoint,
            },
            control_plane_endpoints_config=_dns_endpoint(asked),
            master_authorized_networks_config=_authorized_networks(asked),
            dns_config=_dns(settings.reach),
            addons_config=_addons(settings.workload),
            # GKE cannot make a cluster without a pool; this one lives for a minute, but not as the default account.
            initial_node_count=1,
            remove_default_node_pool=True,
            node_config={"machine_type": "e2-medium", "service_account": service_account},
            deletion_protection=asked.deletion_protection,
            resource_labels=dict(settings.labels),
            opts=pulumi.ResourceOptions(
                parent=self,
                # What GKE reports here is another pool's once the default one is gone.
                ignore_changes=["nodeConfig", "nodePools"],
                depends_on=network.egress,
                custom_timeouts=pulumi.CustomTimeouts(create="1h", update="2h", delete="1h"),
            ),
        )


def _endpoint(cluster: container.Cluster, asked: Cluster) -> pulumi.Output[str]:
    if not asked.dns_endpoint:
        return cluster.endpoint
    return cluster.control_plane_endpoints_config.apply(lambda config: str(config["dns_endpoint_config"]["endpoint"]))


def _dns_endpoint(asked: Cluster) -> container.ClusterControlPlaneEndpointsConfigArgs | None:
    if not asked.dns_endpoint:
        return None
    return container.ClusterControlPlaneEndpointsConfigArgs(
        dns_endpoint_config=container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
            allow_external_traffic=True
        )
    )


def _authorized_networks(asked: Cluster) -> container.ClusterMasterAuthorizedNetworksConfigArgs | None:
    if not asked.authorized_networks and not asked.private_endpoint:
        return None
    return container.ClusterMasterAuthorizedNetworksConfigArgs(
        cidr_blocks=[
            container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs(cidr_block=cidr)
            for cidr in asked.authorized_networks
        ]
    )


def _dns(reach: Reach) -> container.ClusterDnsConfigArgs | None:
    if not reach.dns_domain:
        return None
    return container.ClusterDnsConfigArgs(
        cluster_dns="CLOUD_DNS", cluster_dns_scope="VPC_SCOPE", cluster_dns_domain=reach.dns_domain
    )


def _addons(workload: Workload) -> container.ClusterAddonsConfigArgs | None:
    if not workload.mounts:
        return None
    return container.ClusterAddonsConfigArgs(
        gcs_fuse_csi_driver_config=container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(enabled=True)
    )


def _maintenance(asked: Cluster) -> container.ClusterMaintenancePolicyArgs | None:
    if not asked.maintenance_exclusions:
        return None
    return container.ClusterMaintenancePolicyArgs(
        # GKE takes exclusions only beside a window; this one is its own default.
        daily_maintenance_window=container.ClusterMaintenancePolicyDailyMaintenanceWindowArgs(start_time="03:00"),
        maintenance_exclusions=[
            container.ClusterMaintenancePolicyMaintenanceExclusionArgs(
                exclusion_name=exclusion.name,
                start_time=exclusion.start,
                end_time=exclusion.end,
                exclusion_options=container.ClusterMaintenancePolicyMaintenanceExclusionExclusionOptionsArgs(
                    scope=exclusion.scope
                ),
            )
            for exclusion in asked.maintenance_exclusions
        ],
    )
