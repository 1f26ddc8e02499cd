"""All rules in their order, and the pack that Pulumi starts."""

from __future__ import annotations

from pulumi_policy import EnforcementLevel, PolicyPack

from policies import buckets, budget, clusters, identity, labels, network, pathways_workload, tpu_pools
from policies.rule import Rule, rules_of

NAME = "pathways"
MODULES = (buckets, identity, clusters, network, pathways_workload, tpu_pools, budget, labels)


def rules() -> list[Rule]:
    """Every rule of the pack. Names are stable: environments' configurations refer to them."""
    return [rule for module in MODULES for rule in rules_of(module)]


def serve() -> None:
    """Serve the pack to the engine until it ends."""
    PolicyPack(NAME, [rule.policy() for rule in rules()], EnforcementLevel.MANDATORY)
