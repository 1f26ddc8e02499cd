"""Rules on the pools that hold TPUs: their shape, how they are obtained, how they may be replaced.

Source: GKE documentation on TPU node pools; shapes from the accelerator catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pathways import inventory, tpu
from pathways.geometry import CatalogueError, Topology
from policies.resources import Resource, Stack, Unknown
from policies.rule import Config, resource_rule, stack_rule

TITLE = "TPU pools"

NAMES: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "default": []}
RESERVATION_KEY = "compute.googleapis.com/reservation-name"


@resource_rule(
    "tpu-pool-shape",
    inventory.NODE_POOL,
    fix="Take machine type, topology and node count from `pathways topologies`",
)
def shape(pool: Resource, _: Config) -> Iterator[str]:
    """A TPU pool has a topology that its machine type offers, as many nodes as that topology has VMs, and one zone."""
    machine = tpu.catalogue().machine_types.get(str(pool.at("nodeConfig.machineType")))
    if machine is None:
        return
    zones = pool.at("nodeLocations")
    if isinstance(zones, list) and len(zones) > 1:
        yield f"pool {pool.title} spans {len(zones)} zones; a slice lies in one"
    stated = pool.at("placementPolicy.tpuTopology")
    if not isinstance(stated, str):
        return
    try:
        topology = Topology.parse(stated)
    except CatalogueError as error:
        yield f"pool {pool.title}: {error.message}"
        return
    if topology not in machine.topologies:
        yield f"pool {pool.title}: {machine.name} offers no {stated}"
        return
    nodes = pool.at("nodeCount")
    if nodes is None:
        nodes = pool.at("autoscaling.maxNodeCount")
    if nodes is None:
        nodes = pool.at("initialNodeCount")
    if isinstance(nodes, int | float) and nodes != machine.vms(topology):
        yield f"pool {pool.title} has {int(nodes)} nodes, {stated} of {machine.name} has {machine.vms(topology)} VMs"


@resource_rule(
    "tpu-pool-replacement",
    inventory.NODE_POOL,
    inventory.CLUSTER_DIRECTOR,
    fix="Give the pool the resource option protect, so that no update can replace or delete it. To replace it after "
    "all, take protect away and list its name under acknowledged in the environment's policy configuration",
    level="advisory",
    parameters={
        "acknowledged": {
            **NAMES,
            "description": "Names of the pools that may be replaced or deleted by the next update.",
        }
    },
)
def replacement(pool: Resource, config: Config) -> Iterator[str]:
    """Pulumi refuses to replace or delete a TPU pool unless somebody acknowledged it by name. For production."""
    if pool.protected or not _has_tpus(pool):
        return
    if {pool.name, pool.title}.isdisjoint(config["acknowledged"]):
        yield f"{pool.title} is not protected: an update may take its slice away"


@stack_rule("no-spot", fix="Use a reservation or on-demand capacity", level="advisory")
def no_spot(stack: Stack, _: Config) -> Iterator[tuple[Resource, str]]:
    """Nothing runs on spot VMs, which Google takes away at 30 seconds' notice. For production."""
    for resource, machines in stack.machines:
        if machines.capacity == "spot":
            yield resource, f"{machines.name} runs on spot VMs"


@stack_rule(
    "reservation-use",
    fix="State consumeReservationType: SPECIFIC_RESERVATION with key and values of a reservation that this environment "
    "may use, or NO_RESERVATION",
    parameters={
        "reservations": {**NAMES, "description": "Reservations that may be used; empty: any."},
        "required": {"type": "boolean", "default": False, "description": "Every TPU pool draws on a reservation."},
    },
)
def reservation_use(stack: Stack, config: Config) -> Iterator[tuple[Resource, str]]:
    """TPU pools draw on the reservations meant for them: completely stated, allowed here, and of the same machines."""
    own = {reservation.title: reservation for reservation in stack.of_type("gcp:compute/reservation:Reservation")}
    for pool, machines in stack.tpu_pools:
        if pool.type != inventory.NODE_POOL:
            continue
        consume, values = _affinity(pool)
        if isinstance(consume, Unknown) or isinstance(values, Unknown):
            continue
        if consume != "SPECIFIC_RESERVATION":
            if values:
                yield pool, f"pool {pool.title} names a reservation and states {consume or 'no consumption type'}"
            elif config["required"]:
                yield pool, f"pool {pool.title} draws on no reservation"
            continue
        if pool.at("nodeConfig.reservationAffinity.key") != RESERVATION_KEY or len(values) != 1:
            yield pool, f"pool {pool.title} does not name one reservation by {RESERVATION_KEY}"
            continue
        if pool.at("nodeConfig.spot") is True:
            yield pool, f"pool {pool.title} asks for spot VMs from a reservation"
        name = str(values[0]).rpartition("/")[2]
        if config["reservations"] and not {name, str(values[0])} & set(config["reservations"]):
            yield pool, f"pool {pool.title} draws on {values[0]}, which is not this environment's"
        yield from _same_machines(pool, machines.machine_type, own.get(name))


def _same_machines(
    pool: Resource, machine_type: str | None, reservation: Resource | None
) -> Iterator[tuple[Resource, str]]:
    if reservation is None:
        return
    reserved = reservation.at("specificReservation.instanceProperties.machineType")
    if isinstance(reserved, str) and machine_type and reserved != machine_type:
        yield pool, f"pool {pool.title} has {machine_type}, reservation {reservation.title} holds {reserved}"
    zone, zones = reservation.at("zone"), pool.at("nodeLocations")
    if isinstance(zone, str) and isinstance(zones, list) and zones and zone not in zones:
        yield pool, f"pool {pool.title} is in {zones[0]}, reservation {reservation.title} in {zone}"


def _affinity(pool: Resource) -> tuple[Any, Any]:
    values = pool.at("nodeConfig.reservationAffinity.values")
    return pool.at("nodeConfig.reservationAffinity.consumeReservationType"), [] if values is None else values


def _has_tpus(pool: Resource) -> bool:
    if pool.type == inventory.NODE_POOL:
        return str(pool.at("nodeConfig.machineType")) in tpu.catalogue().machine_types
    return any(machines.tpu for machines in inventory.machines(pool.type, pool.properties))
