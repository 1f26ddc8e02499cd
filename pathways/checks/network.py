"""The VPC's address ranges."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from pathways import tpu
from pathways.catalogue import FurtherNetworks
from pathways.checks.paths import ACCELERATOR, COUNT, SHAPE
from pathways.checks.registry import Finding, gke_check, shape_of
from pathways.node_pools import HEAD_MAX_PODS, TPU_MAX_PODS
from pathways.settings import Settings


@gke_check("address-ranges", *SHAPE, COUNT, "pathways:head.nodeCount", "pathways:network")
def _address_ranges(settings: Settings) -> Iterator[Finding]:
    """The subnet's ranges are valid, apart from each other, and large enough for every node and pod."""
    ranges: dict[str, ipaddress.IPv4Network] = {}
    for key, text in [
        ("nodeRange", settings.network.node_range),
        ("podRange", settings.network.pod_range),
        ("serviceRange", settings.network.service_range),
        *([("second", settings.network.second)] if settings.network.second else []),
    ]:
        path = f"pathways:network.{key}"
        try:
            ranges[path] = ipaddress.IPv4Network(text)
        except ValueError as error:
            yield Finding(path, str(error), "write the network address and its prefix length, such as 10.0.0.0/20")
            return
        for other, taken in ranges.items():
            if other != path and taken.overlaps(ranges[path]):
                yield Finding(path, f"{text} overlaps {other.rpartition('.')[2]} {taken}", "choose a separate range")
                return
    nodes_range, pods_range, *_ = ranges.values()
    if settings.network.existing or settings.cluster.existing:
        return
    tpu_nodes = settings.slices.count * shape_of(settings).vms
    nodes = tpu_nodes + settings.head.node_count
    # Google keeps four addresses of every subnet for itself.
    if nodes > nodes_range.num_addresses - 4:
        yield Finding(
            "pathways:network.nodeRange",
            f"{nodes} nodes do not fit into {nodes_range}, which has {nodes_range.num_addresses - 4} usable addresses",
            "use a shorter prefix",
        )
    needed = tpu_nodes * _pod_addresses(TPU_MAX_PODS) + settings.head.node_count * _pod_addresses(HEAD_MAX_PODS)
    if needed > pods_range.num_addresses:
        yield Finding(
            "pathways:network.podRange",
            f"{nodes} nodes take {needed} pod addresses; {pods_range} has {pods_range.num_addresses}",
            "use a shorter prefix",
        )


def _pod_addresses(max_pods: int) -> int:
    """Addresses GKE sets aside per node: the power of two that is at least twice the node's pods."""
    addresses: int = 1 << (2 * max_pods - 1).bit_length()
    return addresses


@gke_check("existing-network", "pathways:network")
def _existing_network(settings: Settings) -> Iterator[Finding]:
    """An existing VPC is named with its subnet, and is not given ranges or an MTU."""
    network = settings.network
    if bool(network.existing) != bool(network.existing_subnetwork):
        missing = "existingSubnetwork" if network.existing else "existing"
        yield Finding(
            f"pathways:network.{missing}",
            "an existing VPC and its subnet are named together",
            f"add {missing}: NAME",
        )
    if network.existing:
        for key in ("node_range", "pod_range", "service_range", "mtu"):
            if key in network.model_fields_set:
                yield Finding(
                    f"pathways:network.{to_camel(key)}",
                    f"the VPC {network.existing} exists, and the stack does not change it",
                    "leave it out",
                )
    elif {"pod_range_name", "service_range_name"} & network.model_fields_set:
        yield Finding(
            "pathways:network.podRangeName",
            "the names of secondary ranges are the stack's own choice in a VPC that it creates",
            "leave podRangeName and serviceRangeName out",
        )


@gke_check("second-network", "pathways:network", ACCELERATOR)
def _second_network(settings: Settings) -> Iterator[Finding]:
    """A second network serves generations whose VMs have a second network card for it."""
    generation = tpu.generation(settings.slices.accelerator)
    if settings.network.second and "second" not in generation.networks:
        yield Finding(
            "pathways:network.second",
            f"{generation.name} VMs have no second network card",
            f"leave it out; it serves {_served('second')}",
        )


@gke_check("dranet", "pathways:slices.dranet", "pathways:network.second", ACCELERATOR)
def _dranet(settings: Settings) -> Iterator[Finding]:
    """DRANET gives each VM its further network cards, where GKE offers it, and so takes the second network's place."""
    path, generation = "pathways:slices.dranet", tpu.generation(settings.slices.accelerator)
    if not settings.slices.dranet:
        return
    if "dranet" not in generation.networks:
        yield Finding(path, f"GKE has no DRANET for {generation.name}", f"leave it out; it serves {_served('dranet')}")
    if settings.network.second:
        yield Finding(
            path, "a VM's further network cards come by DRANET or from network.second", "leave one of the two out"
        )


def _served(networks: FurtherNetworks) -> str:
    return ", ".join(name for name, each in tpu.catalogue().generations.items() if networks in each.networks)
