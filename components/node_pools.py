"""The node pools of a GKE stack: the head's, and one per slice."""

from __future__ import annotations

import pulumi
from pulumi_gcp import compute, container

from pathways.node_pools import DRANET_LABELS, DRANET_PROFILE, NodePool, Reservation, TpuPool
from pathways.plan import Plan

TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# GKE fills these in for TPU machines; the provider would replace the pool for them at the next `up`.
FILLED_IN_BY_GKE = [
    "nodeConfig.advancedMachineFeatures",
    "nodeConfig.ephemeralStorageLocalSsdConfig",
    "nodeConfig.guestAccelerators",
    "nodeConfig.kubeletConfig",
    "nodeConfig.maxRunDuration",
    "nodeConfig.metadata",
    "nodeConfig.shieldedInstanceConfig",
    "nodeConfig.taints",
    "queuedProvisioning",
    "upgradeSettings",
]
# The provider plans a change of these as an update and sends nothing, and a slice cannot change its shape in place.
SHAPE = ["placementPolicy", "nodeConfig.machineType", "nodeCount"]


class HeadPool(pulumi.ComponentResource):
    """CPU nodes for the resource manager, the proxy, a batch client and the controllers."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        cluster: pulumi.Input[str],
        service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:HeadPool", name, None, opts)
        pool = plan.head_pool
        self.pool = container.NodePool(
            pool.name,
            name=pool.name,
            cluster=cluster,
            node_locations=[pool.zone],
            node_count=pool.nodes,
            max_pods_per_node=pool.max_pods_per_node,
            node_config=_node_config(pool, service_account),
            opts=pulumi.ResourceOptions(
                parent=self, ignore_changes=["upgradeSettings", "nodeConfig.kubeletConfig"], custom_timeouts=TIMEOUTS
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
        cluster: pulumi.Input[str],
        service_account: pulumi.Input[str],
        second_network: tuple[pulumi.Output[str], pulumi.Output[str]] | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("pathways:gke:TpuSlices", name, None, opts)
        placement = self._placement(plan)
        self.pools = [
            container.NodePool(
                pool.name,
                name=pool.name,
                cluster=cluster,
                node_locations=[pool.zone],
                node_count=None if pool.autoscaled else pool.nodes,
                autoscaling=_autoscaling(pool) if pool.autoscaled else None,
                # GKE does not repair nodes of flex-start pools, and refuses to be asked to.
                management=container.NodePoolManagementArgs(auto_repair=pool.flex_start is None, auto_upgrade=True),
                max_pods_per_node=pool.max_pods_per_node,
                placement_policy=placement,
                queued_provisioning=container.NodePoolQueuedProvisioningArgs(enabled=True)
                if pool.flex_start and pool.flex_start.queued
                else None,
                network_config=_network(second_network, pool),
                node_config=_node_config(pool, service_account),
                opts=pulumi.ResourceOptions(
                    parent=self,
                    ignore_changes=_ignored(pool),
                    replace_on_changes=SHAPE,
                    delete_before_replace=True,
                    protect=pool.protected,
                    custom_timeouts=TIMEOUTS,
                ),
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


def _node_config(pool: NodePool, service_account: pulumi.Input[str]) -> container.NodePoolNodeConfigArgs:
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
        config.labels = dict(DRANET_LABELS) if pool.dranet else None
        config.gvnic = container.NodePoolNodeConfigGvnicArgs(enabled=True)
        if pool.flex_start:
            config.flex_start = True
            config.max_run_duration = f"{pool.flex_start.max_run_seconds}s"
    return config


def _autoscaling(pool: TpuPool) -> container.NodePoolAutoscalingArgs:
    # Limits per zone: GKE checks a slice against the zone's limit and takes a total for none.
    return container.NodePoolAutoscalingArgs(
        min_node_count=0, max_node_count=pool.nodes, location_policy="ANY" if pool.flex_start else "BALANCED"
    )


def _network(
    second: tuple[pulumi.Output[str], pulumi.Output[str]] | None, pool: TpuPool
) -> container.NodePoolNetworkConfigArgs | None:
    if pool.dranet:
        return container.NodePoolNetworkConfigArgs(accelerator_network_profile=DRANET_PROFILE)
    if second is None:
        return None
    network, subnetwork = second
    return container.NodePoolNetworkConfigArgs(
        additional_node_network_configs=[
            container.NodePoolNetworkConfigAdditionalNodeNetworkConfigArgs(network=network, subnetwork=subnetwork)
        ]
    )


def _ignored(pool: TpuPool) -> list[str]:
    ignored = set(FILLED_IN_BY_GKE)
    if pool.flex_start:
        # Here they are the stack's own choice, and a change of them is meant.
        ignored -= {"nodeConfig.maxRunDuration", "queuedProvisioning"}
    if pool.autoscaled:
        ignored |= {"nodeCount", "initialNodeCount"}
    return sorted(ignored)


def _reservation_affinity(reservation: Reservation) -> container.NodePoolNodeConfigReservationAffinityArgs:
    affinity = container.NodePoolNodeConfigReservationAffinityArgs(consume_reservation_type=reservation.consume)
    if reservation.name is not None:
        affinity.key = "compute.googleapis.com/reservation-name"
        affinity.values = [reservation.name]
    return affinity
