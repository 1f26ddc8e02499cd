"""A catalogue that contradicts itself is refused with the name of the entry."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from pathways.catalogue import load

GOOD: dict[str, Any] = {
    "minimum_gke": {"pathways": "1.32.2-gke.1475000"},
    "topology_sets": {"small": ["2x2", "2x4"]},
    "generations": {
        "v1": {
            "aliases": ["one"],
            "accelerator_type": "v1",
            "gke_label": "tpu-v1-slice",
            "tensorcores_per_chip": 1,
            "dimensions": 2,
            "multi_host_placement": "compact",
            "zones": ["us-east5-a"],
            "machine_types": {"ct1-4t": {"host": "2x2x1", "pathways": "tpuv1", "topologies": ["small", "4x4"]}},
        }
    },
}


def changed(*path: str, to: Any) -> str:
    entry = copy.deepcopy(GOOD)
    parent: Any = entry
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = to
    return yaml.safe_dump(entry)


def test_a_set_stands_for_its_topologies() -> None:
    machine = load(yaml.safe_dump(GOOD)).machine_types["ct1-4t"]
    assert list(map(str, machine.topologies)) == ["2x2", "2x4", "4x4"]


MACHINES = ("generations", "v1", "machine_types")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (changed(*MACHINES, "ct1-4t", "host", to="2x4x1"), "a host of 2x4x1 has 8 chips"),
        (changed(*MACHINES, "ct1-4t", "topologies", to=["2x3"]), "hosts of 2x2x1 do not tile 2x3"),
        (changed(*MACHINES, "ct1-4t", "topologies", to=["2x2x1"]), "do not tile 2x2x1 in 2 dimensions"),
        (changed(*MACHINES, "ct1-4t", "topologies", to=["small", "2x4"]), "a topology is listed twice"),
        (changed(*MACHINES, "ct1-4t", "topologies", to=["smal"]), "smal"),
        (changed("generations", "v1", "zone", to=["us-east5-a"]), "zone"),
        (changed("generations", "v1", "multi_host_placement", to="spread"), "multi_host_placement"),
        (changed("generations", "v2", to={**GOOD["generations"]["v1"]}), "names both v1 and v2"),
    ],
)
def test_a_contradiction_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        load(text)
