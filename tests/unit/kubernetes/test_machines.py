"""What a VM offers to pods."""

from __future__ import annotations

import pytest

from pathways.machines import reserved_mib, reserved_millicpus
from rehearsal.kubernetes.machines import Machine


def test_a_cpu_machine_type_has_the_size_its_name_says() -> None:
    machine = Machine.of("n2-standard-64")
    assert (machine.vcpus, machine.memory_gib, machine.chips) == (64, 256, 0)
    assert "google.com/tpu" not in machine.capacity


def test_a_tpu_machine_type_offers_the_chips_its_name_says() -> None:
    assert Machine.of("tpu7x-standard-4t").capacity["google.com/tpu"] == "4"
    assert Machine.of("ct6e-standard-8t").capacity["google.com/tpu"] == "8"


def test_an_unknown_machine_type_is_large_enough_for_a_head_pod() -> None:
    machine = Machine.of("x9-standard-7")
    assert machine.vcpus >= 48
    assert machine.memory_gib >= 232
    assert machine.accelerator is None


@pytest.mark.parametrize(("vcpus", "millicpus"), [(1, 60), (2, 70), (4, 80), (8, 90), (64, 230)])
def test_gke_keeps_the_cpu_its_documentation_states(vcpus: int, millicpus: int) -> None:
    assert reserved_millicpus(vcpus) == millicpus


@pytest.mark.parametrize(("gib", "mib"), [(4, 1124), (8, 1943), (16, 2762), (128, 9643), (256, 12265)])
def test_gke_keeps_the_memory_its_documentation_states(gib: int, mib: int) -> None:
    assert reserved_mib(gib * 1024) == mib


def test_allocatable_is_less_than_capacity_and_keeps_every_chip() -> None:
    machine = Machine.of("ct6e-standard-4t")
    assert machine.capacity["cpu"] == "180"
    assert machine.allocatable["cpu"] == "179480m"
    assert machine.allocatable["google.com/tpu"] == machine.capacity["google.com/tpu"]
