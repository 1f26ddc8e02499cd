"""What GKE demands of TPU node pools."""

from __future__ import annotations

from typing import Any

from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import invalid
from rehearsal.google.services.container.versions import number
from rehearsal.google.tpus import TpuMachine

Json = dict[str, Any]

TAINT = {"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}


def check(cloud: Cloud, pool: Json, machine: TpuMachine, policy_name: str, version: str) -> None:
    """Check a new TPU pool whose locations are settled, and write its placement policy as GKE stores it.

    `policy_name` is its policy's relative name, "" for none. Raises GoogleError with what GKE refuses.
    """
    if machine.minimum_gke and number(version) < number(machine.minimum_gke):
        raise invalid(
            f'Machine type "{machine.name}" requires GKE version {machine.minimum_gke} or later, the '
            "node pool has "
            f"{version}."
        )
    placement: Json = pool.get("placementPolicy", {})
    policy = (cloud.store.get(f"compute/{policy_name}") if policy_name else None) or {}
    workload: Json = policy.get("workloadPolicy", {})
    topology = placement.get("tpuTopology") or workload.get("acceleratorTopology", "")
    if not topology:
        if placement.get("type") == "COMPACT" or policy_name:
            raise invalid(f'Placement policy on machine type "{machine.name}" requires a TPU topology.')
        return
    _check_topology(machine, topology)
    if machine.placement == "compact":
        _check_compact(machine, placement, bool(workload))
    else:
        _check_workload(machine, placement, workload, topology, bool(policy_name))
    _check_size(pool, topology, machine.vms[topology])
    pool["placementPolicy"] = {**placement, "tpuTopology": topology}
    if workload:
        pool["placementPolicy"].pop("type", None)  # GKE answers no type for a pool with a workload policy


def vms_of(pool: Json, machine: TpuMachine) -> int:
    """The VMs of the slice that a pool is, 1 for single-host pools."""
    return machine.vms.get(pool.get("placementPolicy", {}).get("tpuTopology", ""), 1)


def fill_in(config: Json, machine: TpuMachine, multi_host: bool) -> None:
    """What GKE adds to the node configuration of a TPU pool."""
    config.setdefault("advancedMachineFeatures", {}).setdefault("threadsPerCore", "1")
    if not any(taint.get("key") == TAINT["key"] for taint in config.get("taints", [])):
        config["taints"] = [*config.get("taints", []), dict(TAINT)]
    config["resourceLabels"] |= {
        "goog-gke-accelerator-type": machine.accelerator,
        "goog-gke-tpu-node-pool-type": "multi-host" if multi_host else "single-host",
    }


def check_resize(pool: Json, machine: TpuMachine, count: int) -> None:
    """A multi-host pool is a whole slice or empty."""
    topology = pool.get("placementPolicy", {}).get("tpuTopology", "")
    if topology and count not in (0, machine.vms[topology]):
        raise _bad_size("Node", count, topology)


def check_autoscaling(autoscaling: Json, topology: str, vms: int) -> None:
    """Per-zone limits of a multi-host pool: it scales between nothing and the whole slice."""
    if not autoscaling.get("enabled"):
        return
    maximum, minimum = autoscaling.get("maxNodeCount", 0), autoscaling.get("minNodeCount", 0)
    if maximum != vms:
        raise _bad_size("Maximum node", maximum, topology)
    if minimum not in (0, vms):
        raise _bad_size("Minimum node", minimum, topology)


def _check_topology(machine: TpuMachine, topology: str) -> None:
    if topology not in machine.vms:
        raise invalid(f'TPU topology "{topology}" is not supported by machine type "{machine.name}".')
    if machine.vms[topology] == 1:
        raise invalid(
            f'TPU topology "{topology}" of machine type "{machine.name}" fits one host: a placement '
            "policy with a TPU "
            "topology is only supported for multi-host TPU slices."
        )


def _check_compact(machine: TpuMachine, placement: Json, workload: bool) -> None:
    if workload:
        raise invalid(f'Machine type "{machine.name}" does not support workload policies. Use placement type COMPACT.')
    if placement.get("type") != "COMPACT":
        raise invalid("TPU topology requires placement policy type COMPACT.")


def _check_workload(machine: TpuMachine, placement: Json, workload: Json, topology: str, named: bool) -> None:
    if not workload:
        raise invalid(
            f"Creation of a managed instance group with {machine.name} machine type with placement "
            "policy is not "
            "supported. Use workload policy instead."
        )
    if workload.get("type") != "HIGH_THROUGHPUT":
        raise invalid(f'Machine type "{machine.name}" requires a workload policy of type HIGH_THROUGHPUT.')
    if workload.get("acceleratorTopology") != topology:
        raise invalid(
            f'TPU topology "{topology}" of the node pool differs from the accelerator topology '
            f'"{workload.get("acceleratorTopology", "")}" of workload policy "{placement.get("policyName")}".'
        )


def _check_size(pool: Json, topology: str, vms: int) -> None:
    if len(pool["locations"]) != 1:
        raise invalid(f"A multi-host TPU node pool lies in exactly one zone, not in {', '.join(pool['locations'])}.")
    autoscaling = pool.get("autoscaling", {})
    count = pool.get("initialNodeCount", 0)
    if autoscaling.get("enabled"):
        check_autoscaling(autoscaling, topology, vms)
        if count not in (0, vms):
            raise _bad_size("Initial node", count, topology)
    elif count != vms:
        raise _bad_size("Node", count, topology)


def _bad_size(what: str, count: int, topology: str) -> Exception:
    return invalid(f"{what} count {count} is not a valid size of TPU pod slice with topology {topology}.")
