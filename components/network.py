"""The VPC of a GKE stack."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_gcp import compute

from pathways.plan import Plan


class Network(pulumi.ComponentResource):
    """A VPC with one subnet for nodes, pods and services, and NAT so that private nodes can pull images.

    Where the stack names an existing VPC, only the second network and nothing of the first is created.
    """

    network: pulumi.Input[str]
    subnetwork: pulumi.Input[str]
    #: VPC and subnet of the TPU VMs' second network card.
    second: tuple[pulumi.Output[str], pulumi.Output[str]] | None
    #: What must be there before private nodes start.
    egress: Sequence[pulumi.Resource]

    def __init__(self, name: str, plan: Plan, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("pathways:gke:Network", name, None, opts)
        existing = plan.settings.network
        if existing.existing and existing.existing_subnetwork:
            self.network, self.subnetwork, self.egress = existing.existing, existing.existing_subnetwork, []
        else:
            self._create(plan)
        self.second = self._second(plan)
        self.register_outputs({"network": self.network, "subnetwork": self.subnetwork})

    def _create(self, plan: Plan) -> None:
        child = pulumi.ResourceOptions(parent=self)
        names, ranges, region = plan.names, plan.settings.network, plan.settings.region
        network = compute.Network(
            "network", name=names.network, auto_create_subnetworks=False, mtu=ranges.mtu, opts=child
        )
        subnetwork = compute.Subnetwork(
            "subnetwork",
            name=names.subnetwork,
            network=network.id,
            region=region,
            ip_cidr_range=ranges.node_range,
            secondary_ip_ranges=[
                {"range_name": ranges.pod_range_name, "ip_cidr_range": ranges.pod_range},
                {"range_name": ranges.service_range_name, "ip_cidr_range": ranges.service_range},
            ],
            private_ip_google_access=True,
            opts=child,
        )
        router = compute.Router("router", name=names.router, network=network.id, region=region, opts=child)
        nat = compute.RouterNat(
            "nat",
            name=names.nat,
            router=router.name,
            region=region,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            opts=child,
        )
        self.network, self.subnetwork, self.egress = network.id, subnetwork.id, [nat]

    def _second(self, plan: Plan) -> tuple[pulumi.Output[str], pulumi.Output[str]] | None:
        ranges = plan.settings.network
        if ranges.second is None:
            return None
        child = pulumi.ResourceOptions(parent=self)
        name = plan.names.second_network
        network = compute.Network(
            "second-network", name=name, auto_create_subnetworks=False, mtu=ranges.mtu, opts=child
        )
        subnetwork = compute.Subnetwork(
            "second-subnetwork",
            name=f"{name}-{plan.settings.region}",
            network=network.id,
            region=plan.settings.region,
            ip_cidr_range=ranges.second,
            private_ip_google_access=True,
            opts=child,
        )
        compute.Firewall(
            "second-internal",
            name=f"{name}-internal",
            network=network.id,
            source_ranges=[ranges.second],
            allows=[{"protocol": protocol} for protocol in ("tcp", "udp", "icmp")],
            opts=child,
        )
        return network.name, subnetwork.name
