"""The node pools of a GKE stack: the head's, and one per slice."""

from __future__ import annotations

import pulumi
from pulumi_gcp import compute, container

from pathways.node_pools import NodePool, Reservation, TpuPool
from pathways.plan import Plan

TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# GKE fills these in for TPU machines; the provider would replace the pool for them at the next `up`.
FILLED_IN_BY_GKE = [
    "nodeConfig.advancedMachineFeatures",
    "nodeConfig.guestAccelerators",
    "nodeConfig.kubeletConfig",
    "nodeConfig.metadata",
    "nodeConfig.shieldedInstanceConfig",
    "nodeConfig.taints",
    "queuedProvisioning",
    "upgradeSettings",
]
# The provider plans a change of these as an update and sends nothing, and a slice cannot change its shape in place.
SHAPE = ["placementPolicy", "nodeConfig.machineType", "nodeCount"]


def node_config(pool: NodePool, service_account: pulumi.Input[str]) -> container.NodePoolNodeConfigArgs:
    """The nodes of a pool."""
    config = container.NodePoolNodeConfigArgs(
        machine_type=pool.machine_type,
        service_account=service_account,
        oauth_scopes=["https://www.googleapis.com/auth/cloud-platform"],
        # Pods on the host's network see the node's metadata server whatever is asked for here; so ask for that.
        workload_metadata_config=container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GCE_METADATA"),
        resource_labels=dict(pool.labels),
        shielded_instance_config=container.NodePoolNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=False, enable_integrity_monitoring=True
        ),
        metadata={"disable-legacy-endpoints": "true"},
    )
    if isinstance(pool, TpuPool):
        config.spot = pool.spot
        config.reservation_affinity = _reservation_affinity(pool.reservation)
    return config


class HeadPool(pulumi.ComponentResource):
    """CPU nodes for the resource manager, the proxy, a batch client and the controllers."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        cluster: container.Cluster,
        service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:HeadPool", name, None, opts)
        pool = plan.head_pool
        self.pool = container.NodePool(
            pool.name,
            name=pool.name,
            cluster=cluster.id,
            node_locations=[pool.zone],
            node_count=pool.nodes,
            max_pods_per_node=pool.max_pods_per_node,
            node_config=node_config(pool, service_account),
            opts=pulumi.ResourceOptions(
                parent=self,
                ignore_changes=["upgradeSettings", "nodeConfig.kubeletConfig"],
                custom_timeouts=TIMEOUTS,
            ),
        )
        self.register_outputs({"pool": self.pool.name})


class TpuSlices(pulumi.ComponentResource):
    """One node pool per slice."""

    pools: list[container.NodePool]

    def __init__(
        self,
        name: str,
        plan: Plan,
        cluster: container.Cluster,
        service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:TpuSlices", name, None, opts)
        child = pulumi.ResourceOptions(
            parent=self,
            ignore_changes=FILLED_IN_BY_GKE,
            replace_on_changes=SHAPE,
            delete_before_replace=True,
            custom_timeouts=TIMEOUTS,
        )
        placement = self._placement(plan)
        self.pools = [
            container.NodePool(
                pool.name,
                name=pool.name,
                cluster=cluster.id,
                node_locations=[pool.zone],
                node_count=pool.nodes,
                max_pods_per_node=pool.max_pods_per_node,
                placement_policy=placement,
                node_config=node_config(pool, service_account),
                opts=child,
            )
            for pool in plan.tpu_pools
        ]
        self.register_outputs({"pools": [pool.name for pool in self.pools]})

    def _placement(self, plan: Plan) -> container.NodePoolPlacementPolicyArgs | None:
        """How GKE must place a slice's VMs together; all slices of a stack are placed alike."""
        topology = str(plan.shape.topology)
        if plan.shape.placement == "none":
            return None
        if plan.shape.placement == "compact":
            return container.NodePoolPlacementPolicyArgs(type="COMPACT", tpu_topology=topology)
        policy = compute.ResourcePolicy(
            "slices",
            name=plan.names.workload_policy,
            region=plan.settings.region,
            workload_policy=compute.ResourcePolicyWorkloadPolicyArgs(
                type="HIGH_THROUGHPUT", accelerator_topology=topology
            ),
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        # GKE stores no type beside a workload policy; a stated one would differ from it for ever.
        return container.NodePoolPlacementPolicyArgs(type="", policy_name=policy.name, tpu_topology=topology)


def _reservation_affinity(reservation: Reservation) -> container.NodePoolNodeConfigReservationAffinityArgs:
    affinity = container.NodePoolNodeConfigReservationAffinityArgs(
        consume_reservation_type=reservation.consume
    )
    if reservation.name is not None:
        affinity.key = "compute.googleapis.com/reservation-name"
        affinity.values = [reservation.name]
    return affinity
