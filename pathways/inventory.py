"""What a cloud resource amounts to in machines, read from its properties: any program's resources, not only ours.

Properties are spelled as Pulumi's Google provider spells them (camelCase). Node pools: GKE documentation on TPU node
pools; Cluster Director: the provider's schema, in which counts are strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pathways import tpu
from pathways.catalogue import MachineType

NODE_POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
CLUSTER_DIRECTOR = "gcp:hypercomputecluster/cluster:Cluster"
INSTANCE = "gcp:compute/instance:Instance"

Capacity = Literal["on_demand", "spot", "reserved", "flex_start"]

# On a Cluster Director node set: the topology of the slices that its jobs make of it. The API has no field for it.
SLICE_LABEL = "pathways-topology"
# What GKE spreads a regional pool over that names no zones.
ZONES_OF_A_REGIONAL_POOL = 3
_REGION = re.compile(r"[a-z]+-[a-z]+[0-9]+")
_ZONE = re.compile(r"[a-z]+-[a-z]+[0-9]+-[a-z][a-z0-9]*")
# The key of Cluster Director's config that says how its instances are obtained.
_CONFIGS: Mapping[str, Capacity] = {
    "newOnDemandInstances": "on_demand",
    "newSpotInstances": "spot",
    "newReservedInstances": "reserved",
    "newFlexStartInstances": "flex_start",
}


@dataclass(frozen=True)
class Machines:
    """VMs of one kind, counted at the most they can grow to.

    `name` is the pool's or node set's; `machine_type` and `region` are None where the properties do not tell.
    `slices` is None where the shape of slices is chosen later, as on a Slurm node set without SLICE_LABEL.
    """

    name: str
    machine_type: str | None
    vms: int
    region: str | None
    capacity: Capacity
    slices: int | None = 0

    @property
    def tpu(self) -> MachineType | None:
        return tpu.catalogue().machine_types.get(self.machine_type or "")

    @property
    def chips(self) -> int:
        return self.vms * self.tpu.chips_per_vm if self.tpu else 0


@dataclass(frozen=True)
class Amount:
    """A sum of machines. `slices` counts only those whose shape the resources state."""

    slices: int = 0
    vms: int = 0
    tpu_vms: int = 0
    chips: int = 0

    @classmethod
    def of(cls, machines: Iterable[Machines]) -> Amount:
        every = list(machines)
        return cls(
            slices=sum(each.slices or 0 for each in every),
            vms=sum(each.vms for each in every),
            tpu_vms=sum(each.vms for each in every if each.tpu),
            chips=sum(each.chips for each in every),
        )


def machines(type_: str, properties: Mapping[str, Any]) -> list[Machines]:
    """The machines that a resource of this Pulumi type holds; empty for one that holds none."""
    if type_ == NODE_POOL:
        found = node_pool(properties)
        return [found] if found else []
    if type_ == CLUSTER:
        return list(pools_of_cluster(properties))
    if type_ == CLUSTER_DIRECTOR:
        return list(_cluster_director(properties))
    if type_ == INSTANCE and properties.get("machineType"):
        zone = text(properties.get("zone"))
        spot = at(properties, "scheduling.provisioningModel") == "SPOT"
        return [_plain("instance", text(properties["machineType"]), 1, zone, "spot" if spot else "on_demand")]
    return []


def node_pool(properties: Mapping[str, Any], cluster_location: str | None = None) -> Machines | None:
    """The machines of a GKE node pool. None where it has no node."""
    config = mapping(properties.get("nodeConfig"))
    zones = sequence(properties.get("nodeLocations"))
    location = text(properties.get("location")) or cluster_location
    zone = text(zones[0]) if zones else location
    spread = len(zones) or (1 if location is None or _ZONE.fullmatch(location) else ZONES_OF_A_REGIONAL_POOL)
    vms = _most_nodes(properties, spread)
    if vms == 0:
        return None
    machine_type = text(at(config, "machineType"))
    machine = tpu.catalogue().machine_types.get(machine_type or "")
    return Machines(
        name=text(properties.get("name")) or "node pool",
        machine_type=machine_type,
        vms=vms,
        region=region_of(zone),
        capacity=capacity_of(config),
        slices=0 if machine is None else slices_of_pool(properties, vms),
    )


def slices_of_pool(properties: Mapping[str, Any], vms: int) -> int:
    """A pool with a TPU topology is one slice; in one without, every VM is a slice of its own."""
    return 1 if at(properties, "placementPolicy.tpuTopology") or at(properties, "placementPolicy.policyName") else vms


def pools_of_cluster(properties: Mapping[str, Any]) -> Iterator[Machines]:
    """The pools stated inside a cluster resource: its default pool, unless removed, and inline pools."""
    location = text(properties.get("location"))
    for inline in sequence(properties.get("nodePools")):
        found = node_pool({"nodeLocations": properties.get("nodeLocations"), **_stated(mapping(inline))}, location)
        if found:
            yield found
    if properties.get("initialNodeCount") and properties.get("removeDefaultNodePool") is not True:
        default = {
            "name": "default-pool",
            "nodeCount": properties["initialNodeCount"],
            "nodeConfig": properties.get("nodeConfig"),
            "nodeLocations": properties.get("nodeLocations"),
        }
        found = node_pool(default, location)
        if found and not properties.get("enableAutopilot"):
            yield found


def capacity_of(node_config: Mapping[str, Any]) -> Capacity:
    """How a node pool's VMs are obtained."""
    if node_config.get("spot") is True or node_config.get("preemptible") is True:
        return "spot"
    if node_config.get("flexStart") is True:
        return "flex_start"
    consume = at(node_config, "reservationAffinity.consumeReservationType")
    return "reserved" if consume == "SPECIFIC_RESERVATION" else "on_demand"


def region_of(place: str | None) -> str | None:
    """The region of a region or zone name, or of a path that ends in one."""
    found = _REGION.match((place or "").rpartition("/")[2])
    return found.group() if found else None


def at(properties: Any, path: str) -> Any:
    """The value at a dotted path of objects; None where a part is missing or no object."""
    for key in path.split("."):
        if not isinstance(properties, Mapping):
            return None
        properties = properties.get(key)
    return properties


def mapping(value: Any) -> Mapping[str, Any]:
    """The object, or an empty one for what is absent or not known yet."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The list, or an empty one for what is absent or not known yet."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def number(value: Any) -> int:
    """A count that may be spelled as text; 0 where it is unknown or absent."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        return int(value)
    return int(value) if isinstance(value, str) and value.isdigit() else 0


def _most_nodes(properties: Mapping[str, Any], zones: int) -> int:
    scaling = properties.get("autoscaling")
    if isinstance(scaling, Mapping):
        total = number(scaling.get("totalMaxNodeCount"))
        return total or number(scaling.get("maxNodeCount")) * zones
    counts = (properties.get(key) for key in ("nodeCount", "initialNodeCount"))
    return next((number(each) for each in counts if isinstance(each, int | float | str)), 1) * zones


def _cluster_director(properties: Mapping[str, Any]) -> Iterator[Machines]:
    instances: dict[str, tuple[str | None, str | None, Capacity]] = {}
    for resource in map(mapping, sequence(properties.get("computeResources"))):
        config = mapping(resource.get("config"))
        for key, capacity in _CONFIGS.items():
            if isinstance(config.get(key), Mapping):
                kind = config[key]
                place = text(kind.get("zone")) or text(properties.get("location"))
                instances[str(resource.get("id"))] = (text(kind.get("machineType")), place, capacity)
    for node_set in map(mapping, sequence(at(properties, "orchestrator.slurm.nodeSets"))):
        vms = number(node_set.get("staticNodeCount")) + number(node_set.get("maxDynamicNodeCount"))
        machine_type, place, capacity = instances.get(str(node_set.get("computeId")), (None, None, "on_demand"))
        if vms:
            yield Machines(
                name=str(node_set.get("id")),
                machine_type=machine_type,
                vms=vms,
                region=region_of(place or text(properties.get("location"))),
                capacity=capacity,
                slices=_slices_of_node_set(node_set, machine_type, vms),
            )
    login = at(properties, "orchestrator.slurm.loginNodes")
    if isinstance(login, Mapping) and number(login.get("count")):
        yield _plain("login nodes", text(login.get("machineType")), number(login["count"]), text(login.get("zone")))


def _slices_of_node_set(node_set: Mapping[str, Any], machine_type: str | None, vms: int) -> int | None:
    machine = tpu.catalogue().machine_types.get(machine_type or "")
    if machine is None:
        return None if machine_type is None else 0
    shape = text(mapping(at(node_set, "computeInstance.labels")).get(SLICE_LABEL))
    vms_of = {str(topology): machine.vms(topology) for topology in machine.topologies}
    return vms // vms_of[shape] if shape in vms_of else None


def _plain(
    name: str, machine_type: str | None, vms: int, place: str | None, capacity: Capacity = "on_demand"
) -> Machines:
    return Machines(name, machine_type, vms, region_of(place), capacity)


def _stated(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if value is not None}
