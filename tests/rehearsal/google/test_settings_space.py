"""Whatever the checks accept, the double of Google's APIs accepts: what it refuses, the checks had refused."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from pathways import plan, tpu
from pathways.catalogue import MachineType
from pathways.faults import StackError
from pathways.geometry import Topology
from rehearsal.provider.google import Google
from tests import program
from tests.settings_space import Config, accepted, planned, stacks
from tests.unit.google.conftest import Served, wipe

Json = dict[str, Any]
CAPACITIES: dict[str, Json] = {
    "onDemand": {"type": "onDemand"},
    "spot": {"type": "spot"},
    "reservation": {"type": "reservation", "reservation": "tpus"},
    "shared reservation": {"type": "reservation", "reservation": "tpus", "reservationProject": "example-capacity"},
    "block": {"type": "reservation", "reservation": "tpus", "reservationBlock": "b", "reservationSubBlock": "s"},
    "calendar": {"type": "calendar", "reservation": "tpus"},
    "flexStart": {"type": "flexStart"},
    "flexStart queued": {"type": "flexStart", "queued": True},
}


@pytest.fixture(scope="module")
def google(served: Served) -> Iterator[Google]:
    yield Google(served.double.url, timeout=30)
    wipe(served)


def refusals(made_of: plan.Plan, served: Served, google: Google) -> list[str]:
    """What is refused of a stack's resources in a cloud that is empty but for what the stack names as existing."""
    wipe(served)
    if made_of.settings.scratch.existing:
        bucket = {"name": made_of.scratch.name, "location": made_of.settings.region.upper()}
        project = made_of.settings.project
        served.double.call("POST", f"/storage/storage/v1/b?project={project}", bucket)
    made = program.run(made_of, google)
    return made.refusals + made.drift


# What only Google knows, and a stack file may state: which versions GKE serves this week, and which machines exist.
VERSION, MACHINE = {"1.36.1-gke.100": "1.35.4-gke.100"}, {"m9-huge-2": "n2-standard-64"}


@settings(
    max_examples=12,
    phases=[Phase.generate],  # an example is a whole stack, which takes too long to make smaller
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(config=stacks())
def test_whatever_the_checks_accept_is_made_and_does_not_change_by_itself(
    config: Config, served: Served, google: Google
) -> None:
    # All slices of a stack are alike.
    config["pathways:slices"]["count"] = min(config["pathways:slices"]["count"], 2)
    for section, key, known in (("cluster", "version", VERSION), ("head", "machineType", MACHINE)):
        stated = config.get(f"pathways:{section}", {})
        if stated.get(key) in known:
            stated[key] = known[stated[key]]
    assert refusals(accepted(config), served, google) == []


def config_of(machine: MachineType, topology: Topology, **slices: Any) -> Config:
    """A stack of one slice, in a network that holds the largest."""
    generation = tpu.generation(machine.generation)
    return {
        "gcp:project": "example-ml",
        "gcp:region": generation.zones[0].rpartition("-")[0],
        "pathways:network": {"nodeRange": "10.0.0.0/16", "podRange": "10.128.0.0/9", "serviceRange": "10.8.0.0/20"},
        "pathways:slices": {
            "accelerator": generation.name,
            "machineType": machine.name,
            "topology": str(topology),
            "count": 1,
            "zone": generation.zones[0],
            **slices,
        },
        "pathways:kueue": {"enabled": bool(slices.get("capacity", {}).get("queued"))},
    }


MACHINES = [
    machine
    for generation in tpu.catalogue().generations.values()
    for machine in generation.machine_types
    if generation.zones and machine.supports_pathways
]


def plans_of(machine: MachineType) -> Iterator[plan.Plan]:
    """One slice of every topology on demand, of the smallest and largest by every kind of capacity, and with DRANET."""
    yield from (planned(config_of(machine, topology)) for topology in machine.topologies)
    ends = dict.fromkeys((machine.topologies[0], machine.topologies[-1]))
    for topology, capacity, autoscaling in itertools.product(ends, CAPACITIES.values(), (False, True)):
        with contextlib.suppress(StackError):
            yield planned(config_of(machine, topology, capacity=capacity, autoscaling=autoscaling))
    with contextlib.suppress(StackError):
        yield planned(config_of(machine, machine.topologies[0], dranet=True))


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_slice_is_made_by_every_kind_of_capacity_that_the_checks_accept(
    machine: MachineType, served: Served, google: Google
) -> None:
    first, *others = plans_of(machine)
    wipe(served)
    whole = program.run(first, google)
    assert whole.refusals + whole.drift == []
    program.remove_slices(whole.only_slices(), google)
    for each in others:
        made = program.run_slices(each, google, whole)
        assert made.refusals + made.drift == [], each.settings.slices
        program.remove_slices(made, google)


@pytest.mark.parametrize("capacity", CAPACITIES)
def test_the_checks_accept_every_kind_of_capacity_for_some_slice(capacity: str) -> None:
    def is_accepted(machine: MachineType) -> bool:
        with contextlib.suppress(StackError):
            planned(config_of(machine, machine.topologies[0], capacity=CAPACITIES[capacity]))
            return True
        return False

    assert any(map(is_accepted, MACHINES))
