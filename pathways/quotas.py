"""The quotas of Compute Engine that a stack draws on.

Source: GKE documentation on planning TPUs and on flex-start; Cloud TPU quotas (tpu.googleapis.com) do not count here.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathways.machines import cpu_machine
from pathways.plan import Plan

# Machine families by the kind of quota their vCPUs have: one for several families, or one named after the family.
_COMMON_CPU_QUOTA = ("e2", "n1")
_OWN_CPU_QUOTA = ("c2", "c2d", "c3", "m1", "m2", "m3", "n2", "n2d")


@dataclass(frozen=True)
class Quota:
    """How much of one quota of a region a stack needs. `family` is the quota's dimension, where it has one."""

    name: str
    amount: int
    unit: str
    region: str
    family: str | None = None


def of(plan: Plan) -> list[Quota]:
    """Quotas the stack needs in its region; reserved chips need none."""
    return [*_chips(plan), *_cpus(plan)]


def _chips(plan: Plan) -> list[Quota]:
    slices, quota = plan.settings.slices, plan.shape.generation.quota
    if quota is None or slices.capacity.type in ("reservation", "calendar"):
        return []
    chips, region = slices.count * plan.shape.chips, plan.settings.region
    # Flex-start takes the quota of preemptible capacity first.
    if slices.capacity.type in ("spot", "flexStart"):
        return [Quota(quota.preemptible, chips, "chips", region)]
    return [Quota(quota.standard, chips, "chips", region, quota.family)]


def _cpus(plan: Plan) -> list[Quota]:
    pool, region = plan.head_pool, plan.settings.region
    machine, family = cpu_machine(pool.machine_type), pool.machine_type.partition("-")[0]
    if machine is None:
        return []
    vcpus = pool.nodes * machine.vcpus
    if family in _COMMON_CPU_QUOTA:
        return [Quota("CPUs", vcpus, "vCPUs", region)]
    if family in _OWN_CPU_QUOTA:
        return [Quota(f"{family.upper()} CPUs", vcpus, "vCPUs", region)]
    return [Quota("CPUs per VM family", vcpus, "vCPUs", region, family.upper())]
