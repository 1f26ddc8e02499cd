"""The stacks whose manifests are changed: one of each kind, and of each what the ones before it do not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from pathways import manifests, plan, stackfile
from pathways.plan import Plan
from rehearsal.client import CHECK
from rehearsal.home import CHECKOUT
from rehearsal.standins.slices import InstanceType
from tests.rehearsal.mutation.mutants import Mutant, mutants

Json = dict[str, Any]
STACK = "mutants"
SMALL = {"topology": "2x4", "count": 2}
CLIENT = {"mode": "batch", "image": "example.com/train:1"}
# What the client of a batch stack runs: the check of make up, which does not stay here.
COMMAND = ["python", str(CHECK), "--slices=2", "--devices=16", "--timeout=15"]
FATAL = 78
SIDECAR = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways-colocated-python/sidecar:20261103-python_3.12-jax_0.11.1"


@dataclass(frozen=True)
class Variant:
    """A kind of stack: what its file has beside the rest, and how it is used in the end.

    `use`: by a client in the cluster; the stack's own, which `ends` the JobSet; through the load balancer; by a proxy
    of its own; or by one that outlives a slice. `only` are the changes that are tried, and `again` those that are
    tried although a variant before it has the same value.
    """

    name: str
    use: str
    sections: Mapping[str, Json]
    only: str = ""
    again: str = "(?!)"

    @cached_property
    def plan(self) -> Plan:
        document = yaml.safe_load((CHECKOUT / "stacks" / "Pulumi.gke-v6e.yaml").read_text())
        config = document["config"]
        for section, value in {"slices": SMALL, **self.sections}.items():
            config[f"pathways:{section}"] = {**config.get(f"pathways:{section}", {}), **value}
        settings, _ = stackfile.read(config, STACK)
        return plan.make(settings)

    @cached_property
    def manifests(self) -> dict[str, Json]:
        """What is changed, by kind, or by kind and name where there are several."""
        made = self.plan
        several = {f"{each['kind']}[{each['metadata']['name']}]": dict(each) for each in made.queues}
        found = [made.job_set, made.proxy_policy, made.proxy_service, *manifests.of_client(made)]
        return {str(each["kind"]): dict(each) for each in found if each is not None} | several


VARIANTS = (
    Variant("Interactive stack", "inside", {}),
    Variant("Batch client", "own", {"workload": {**CLIENT, "command": COMMAND}}, again=r"head\.completions"),
    Variant(
        "Batch client that ends with a fatal exit code",
        "fatal",
        {
            "workload": {
                **CLIENT,
                "command": ["sh", "-c", f"exit {FATAL}"],
                "exitCodes": {"fatal": [FATAL]},
                "maxRestarts": 1,
            }
        },
        only=r"[pP]olicy",
    ),
    Variant("Elastic slices", "elastic", {"workload": {"elastic": {"slices": 1}}}),
    Variant(
        "Colocated Python",
        "inside",
        {"runtime": {"colocatedPython": {"python": "3.12", "image": SIDECAR, "sharedMemoryGib": 8}}},
    ),
    Variant("Shared service", "proxy", {"workload": {"mode": "service"}}),
    Variant(
        "Load balancer",
        "balancer",
        {"reach": {"loadBalancer": {"allowedRanges": ["10.32.64.0/20"], "globalAccess": True}}},
    ),
    Variant(
        "Buckets and names of one's own",
        "own",
        {
            "workload": {
                **CLIENT,
                "command": COMMAND,
                "mounts": [{"bucket": "example-data", "path": "/data", "readOnly": True}],
                "serviceAccount": "trainer",
                "priorityClass": "high",
                "subdomain": "pw",
            }
        },
    ),
)


# In a cluster that has Kueue, which the others do without.
QUEUED = Variant("Kueue's queue", "inside", {"kueue": {"enabled": True}})


def devices(variant: Variant) -> int:
    """What a client of all slices sees."""
    return int(SMALL["count"]) * InstanceType.parse(variant.plan.shape.instance_type).devices_per_slice


def changes() -> Iterator[tuple[Variant, list[Mutant]]]:
    """Each variant with its changes, none of which is twice."""
    seen = set[tuple[str, str]]()
    for variant in (*VARIANTS, QUEUED):
        every = [each for each in mutants(variant.manifests) if re.search(variant.only, each.name)]
        yield variant, [each for each in every if each.same not in seen or re.search(variant.again, each.name)]
        seen |= {each.same for each in every}
