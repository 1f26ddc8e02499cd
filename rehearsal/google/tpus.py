"""TPU machine types as the catalogue of `pathways` has them: the one place where the double asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathways.tpu import Catalogue


def _catalogue() -> Catalogue:
    """The catalogue, loaded at the first question: its models are a third of the double's start otherwise."""
    from pathways.tpu import catalogue

    return catalogue()


#: The one quota that several generations share, each with a value of its dimension.
PER_FAMILY = "TPUs per TPU family"


@dataclass(frozen=True)
class TpuMachine:
    """A TPU machine type as GKE sees it. `vms` is the number of VMs of a slice by topology."""

    name: str
    accelerator: str
    vms: dict[str, int]
    placement: Literal["compact", "workload_policy"]
    minimum_gke: str | None
    chips: int


def tpu_machine(name: str) -> TpuMachine | None:
    """The TPU machine type of that name, None for any other."""
    machine = _catalogue().machine_types.get(name)
    if machine is None:
        return None
    generation = _catalogue().generations[machine.generation]
    return TpuMachine(
        name=name,
        accelerator=generation.gke_label,
        vms={str(topology): topology.chips // machine.chips_per_vm for topology in machine.topologies},
        placement=generation.multi_host_placement,
        minimum_gke=generation.minimum_gke,
        chips=machine.chips_per_vm,
    )


def dranet_gke() -> str:
    """The least GKE version with DRANET."""
    return _catalogue().minimum_gke["dranet"]


def compute_accelerator(machine_type: str) -> str:
    """Compute Engine's name of the TPUs of a machine type: its family, as in ct6e."""
    return machine_type.partition("-")[0]


def compute_accelerators() -> set[str]:
    """Every TPU that Compute Engine has a name for."""
    return {compute_accelerator(name) for name in _catalogue().machine_types}


def quotas() -> list[str]:
    """Names of all quotas that chips count against."""
    stated = [generation.quota for generation in _catalogue().generations.values() if generation.quota]
    return list(dict.fromkeys(name for quota in stated for name in (quota.standard, quota.preemptible)))


def quota_families() -> list[str]:
    """Values of the dimension tpu_family."""
    stated = [generation.quota for generation in _catalogue().generations.values() if generation.quota]
    return [quota.family for quota in stated if quota.family]


def zones() -> set[str]:
    """Every zone that the catalogue names."""
    return {zone for generation in _catalogue().generations.values() for zone in generation.zones}


def sizes() -> dict[str, tuple[int, int]]:
    """vCPUs and GiB of every TPU machine type, 0 where no source states them."""
    return {name: (m.vcpus or 0, m.memory_gib or 0) for name, m in _catalogue().machine_types.items()}
