"""The quotas of Compute Engine that a stack draws on.

Source: GKE documentation on planning TPUs and on flex-start; Cloud TPU quotas (tpu.googleapis.com) do not count here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pathways.director.plan import DirectorPlan
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


def of(plan: Plan | DirectorPlan) -> list[Quota]:
    """Quotas the stack needs in its region; reserved chips need none."""
    return [*_chips(plan), *_cpus(plan)]


def _chips(plan: Plan | DirectorPlan) -> list[Quota]:
    slices, quota = plan.settings.slices, plan.shape.generation.quota
    if quota is None or slices.capacity.type in ("reservation", "calendar"):
        return []
    chips, region = slices.count * plan.shape.chips, plan.settings.region
    # Flex-start takes the quota of preemptible capacity first.
    if slices.capacity.type in ("spot", "flexStart"):
        return [Quota(quota.preemptible, chips, "chips", region)]
    return [Quota(quota.standard, chips, "chips", region, quota.family)]


def _cpus(plan: Plan | DirectorPlan) -> list[Quota]:
    """vCPUs of the head pool, or of the CPU and login nodes; what draws on the same quota is added up."""
    found: dict[str, Quota] = {}
    for machine_type, nodes in _cpu_nodes(plan):
        if quota := _cpu_quota(machine_type, nodes, plan.settings.region):
            known = found.get(quota.name)
            found[quota.name] = replace(quota, amount=quota.amount + known.amount) if known else quota
    return list(found.values())


def _cpu_nodes(plan: Plan | DirectorPlan) -> Iterator[tuple[str, int]]:
    settings = plan.settings
    yield settings.head.machine_type, settings.head.node_count
    if isinstance(plan, DirectorPlan):
        yield settings.director.login_nodes.machine_type, settings.director.login_nodes.count


def _cpu_quota(machine_type: str, nodes: int, region: str) -> Quota | None:
    machine, family = cpu_machine(machine_type), machine_type.partition("-")[0]
    if machine is None:
        return None
    vcpus = nodes * machine.vcpus
    if family in _COMMON_CPU_QUOTA:
        return Quota("CPUs", vcpus, "vCPUs", region)
    if family in _OWN_CPU_QUOTA:
        return Quota(f"{family.upper()} CPUs", vcpus, "vCPUs", region)
    return Quota("CPUs per VM family", vcpus, "vCPUs", region, family.upper())
