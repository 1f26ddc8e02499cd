"""Rules on Pathways itself: ports that must be the same on both sides, images, elastic slices, shapes.

Source: Introduction to Pathways on Cloud (flags); pathwaysutils (tags).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pathways import images, labels
from pathways.catalogue import MachineType
from pathways.inventory import NODE_POOL
from pathways.workloads import Container, port_of
from policies.resources import UNKNOWN, Resource, Stack
from policies.rule import Config, stack_rule

TITLE = "Pathways"

# The newer name is in the Cluster Director documentation, the older one in every published program.
ELASTIC_FLAGS = ("num_elastic_slices", "num_elastic_instances")
# What decides the shape and number of a pool's slices.
_DECIDING = ("nodeConfig.machineType", "nodeCount", "nodeLocations", "placementPolicy")


@stack_rule(
    "pathways-ports",
    fix="Give the resource manager and the proxy one port each, and state that port in every address",
)
def ports(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """Proxy, workers and client name the ports on which the resource manager and the proxy listen."""
    managers = _listening(stack, "resource_manager")
    proxies = _listening(stack, "proxy")
    for resource, container in stack.containers:
        if container.role in ("proxy", "worker"):
            port = container.port("resource_manager_address")
            expected = managers.of(resource)
            if port and expected and port not in expected:
                yield (
                    resource,
                    (
                        f"{container.name} looks for the resource manager on port {port}, it listens on {_listed(expected)}"
                    ),
                )
        if container.role == "client":
            port = port_of(container.env.get("JAX_BACKEND_TARGET"))
            expected = proxies.of(resource)
            if port and expected and port not in expected:
                yield (
                    resource,
                    f"{container.name} looks for the proxy on port {port}, it listens on {_listed(expected)}",
                )
        server = container.port("server_port")
        if server and container.ports and server not in container.ports:
            yield resource, f"{container.name} listens on {server} and declares {_listed(set(container.ports))}"
    yield from _taken_twice(stack)


@stack_rule(
    "pathways-image-fixed",
    fix="Name the images by a tag with a version, such as jax-0.11.1, or by digest",
    level="advisory",
)
def image_fixed(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """Pathways runs the image that was tested, not whatever a moving tag points to. For production."""
    for resource, container in stack.containers:
        if container.image and tag_of(container.image) in ("", "latest"):
            yield resource, f"{container.name} runs {container.image}"


@stack_rule(
    "pathways-image-jax",
    fix="Use the images of one JAX version, the client's",
)
def image_jax(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """All Pathways images are of one JAX version; otherwise they find no common protocol."""
    for resource in stack.workloads:
        versions: dict[str, list[str]] = {}
        for container in resource.pathways:
            version = images.jax_version(tag_of(container.image)) if container.image else None
            if version and container.role != "client":
                versions.setdefault(version, []).append(container.name)
        if len(versions) > 1:
            told = ", ".join(f"{' and '.join(names)} {version}" for version, names in sorted(versions.items()))
            yield resource, f"the images are of different JAX versions: {told}"


@stack_rule("elastic-slices", fix="Lower the number of elastic slices, or raise the number of slices")
def elastic_slices(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """No more slices may be missing than there are."""
    for resource, container in stack.containers:
        elastic = next(
            (int(container.flags[flag]) for flag in ELASTIC_FLAGS if container.flags.get(flag, "").isdigit()), 0
        )
        counts = [
            int(each.flags["instance_count"])
            for each in resource.pathways
            if each.flags.get("instance_count", "").isdigit()
        ]
        if counts and elastic > max(counts):
            yield resource, f"{container.name} lets {elastic} slices be missing, of {max(counts)}"


@stack_rule(
    "instance-type-matches-pools",
    fix="Make the resource manager's --instance_type and --instance_count, the workers' node selector and the node "
    "pools state one shape",
)
def instance_type(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """The shape that Pathways is told is the shape of the node pools, and there are enough of them."""
    pools: dict[str, int] = {}
    # A pool whose machines are not known yet may be any; then nothing can be said.
    if any(UNKNOWN in map(pool.at, _DECIDING) for pool in stack.of_type(NODE_POOL)):
        return
    for pool, machines in stack.tpu_pools:
        kind = _pool_instance_type(pool, machines.tpu)
        if kind is None:
            return
        pools[kind] = pools.get(kind, 0) + (machines.slices or 0)
    if not pools:
        return
    for resource, container in stack.containers:
        wanted = container.flags.get("instance_type")
        if container.role != "resource_manager" or not wanted:
            continue
        if wanted not in pools:
            yield resource, f"{container.name} expects slices of {wanted}, the pools are {_listed(set(pools))}"
        else:
            count = container.flags.get("instance_count", "")
            if count.isdigit() and int(count) > pools[wanted]:
                yield resource, f"{container.name} expects {count} slices of {wanted}, there are {pools[wanted]}"
    yield from _selectors(stack, set(pools))


@dataclass(frozen=True)
class _Ports:
    """Ports by resource, and those of the whole stack for resources that have none of their own."""

    by_resource: dict[str, set[int]]
    every: set[int]

    def of(self, resource: Resource) -> set[int]:
        return self.by_resource.get(resource.urn) or self.every


def _listening(stack: Stack, role: str) -> _Ports:
    found: dict[str, set[int]] = {}
    for resource, container in stack.containers:
        port = container.port("server_port")
        if container.role == role and port:
            found.setdefault(resource.urn, set()).add(port)
    return _Ports(found, {port for ports_ in found.values() for port in ports_})


def _taken_twice(stack: Stack) -> Iterator[tuple[Resource, str]]:
    """Containers of a pod share one network, with the host's network the node's too."""
    for resource in stack.workloads:
        taken: dict[tuple[int, int], Container] = {}
        for container in resource.pathways:
            port = container.port("server_port")
            if not port or container.role == "client":
                continue
            other = taken.setdefault((id(container.pod.spec), port), container)
            if other is not container:
                yield resource, f"{other.name} and {container.name} both listen on {port} in one pod"


def _selectors(stack: Stack, pools: set[str]) -> Iterator[tuple[Resource, str]]:
    topologies = {kind.partition(":")[2] for kind in pools}
    for resource, container in stack.containers:
        topology = container.pod.node_selector.get(labels.TOPOLOGY)
        if container.role == "worker" and isinstance(topology, str) and topology not in topologies:
            yield resource, f"{container.name} wants nodes of topology {topology}, the pools have {_listed(topologies)}"


def _pool_instance_type(pool: Resource, machine: MachineType | None) -> str | None:
    """The instance type of a pool's slices; one without a topology has slices of a single VM."""
    if machine is None or machine.pathways_prefix is None:
        return None
    topology = pool.at("placementPolicy.tpuTopology")
    if topology is None and pool.at("placementPolicy.policyName") is None:
        topology = next((str(each) for each in machine.topologies if machine.vms(each) == 1), None)
    return f"{machine.pathways_prefix}:{topology}" if isinstance(topology, str) else None


def tag_of(image: str) -> str:
    """The tag of an image name; a digest counts as fixed and is returned as it is."""
    if "@" in image:
        return image.partition("@")[2]
    return image.rpartition("/")[2].partition(":")[2]


def _listed(values: set[int] | set[str]) -> str:
    return " or ".join(str(value) for value in sorted(values, key=str))
