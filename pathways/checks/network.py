"""The VPC's address ranges."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from pathways.checks.paths import COUNT, SHAPE
from pathways.checks.registry import Finding, check, shape_of
from pathways.node_pools import HEAD_MAX_PODS, TPU_MAX_PODS
from pathways.settings import Settings


@check("address-ranges", *SHAPE, COUNT, "pathways:head.nodeCount", "pathways:network")
def _address_ranges(settings: Settings) -> Iterator[Finding]:
    """The subnet's ranges are valid, apart from each other, and large enough for every node and pod."""
    ranges: dict[str, ipaddress.IPv4Network] = {}
    for key, text in [
        ("nodeRange", settings.network.node_range),
        ("podRange", settings.network.pod_range),
        ("serviceRange", settings.network.service_range),
    ]:
        path = f"pathways:network.{key}"
        try:
            ranges[path] = ipaddress.IPv4Network(text)
        except ValueError as error:
            yield Finding(
                path, str(error), "write the network address and its prefix length, such as 10.0.0.0/20"
            )
            return
        for other, taken in ranges.items():
            if other != path and taken.overlaps(ranges[path]):
                yield Finding(
                    path, f"{text} overlaps {other.rpartition('.')[2]} {taken}", "choose a separate range"
                )
                return
    nodes_range, pods_range, _ = ranges.values()
    tpu_nodes = settings.slices.count * shape_of(settings).vms
    nodes = tpu_nodes + settings.head.node_count
    # Google keeps four addresses of every subnet for itself.
    if nodes > nodes_range.num_addresses - 4:
        yield Finding(
            "pathways:network.nodeRange",
            f"{nodes} nodes do not fit into {nodes_range}, which has "
            f"{nodes_range.num_addresses - 4} usable addresses",
            "use a shorter prefix",
        )
    needed = tpu_nodes * _pod_addresses(TPU_MAX_PODS) + settings.head.node_count * _pod_addresses(
        HEAD_MAX_PODS
    )
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
