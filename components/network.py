"""The VPC of a GKE stack."""

from __future__ import annotations

import pulumi
from pulumi_gcp import compute

from pathways.plan import Plan


class Network(pulumi.ComponentResource):
    """A VPC with one subnet for nodes, pods and services, and NAT so that private nodes can pull images."""

    network: compute.Network
    subnetwork: compute.Subnetwork

    def __init__(self, name: str, plan: Plan, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("pathways:gke:Network", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        names, ranges, region = plan.names, plan.settings.network, plan.settings.region
        self.network = compute.Network(
            "network", name=names.network, auto_create_subnetworks=False, opts=child
        )
        self.subnetwork = compute.Subnetwork(
            "subnetwork",
            name=names.subnetwork,
            network=self.network.id,
            region=region,
            ip_cidr_range=ranges.node_range,
            secondary_ip_ranges=[
                {"range_name": names.POD_RANGE, "ip_cidr_range": ranges.pod_range},
                {"range_name": names.SERVICE_RANGE, "ip_cidr_range": ranges.service_range},
            ],
            private_ip_google_access=True,
            opts=child,
        )
        router = compute.Router(
            "router", name=names.router, network=self.network.id, region=region, opts=child
        )
        self.nat = compute.RouterNat(
            "nat",
            name=names.nat,
            router=router.name,
            region=region,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            opts=child,
        )
        self.register_outputs({"network": self.network.id, "subnetwork": self.subnetwork.id})
