"""A wrong name is explained: what it means, what to write, and in which setting."""

from __future__ import annotations

import pytest

from pathways import tpu
from pathways.topology import CatalogueError, resolve

Case = tuple[str, str, str | None]


def fault(accelerator: str, topology: str, machine_type: str | None = None) -> CatalogueError:
    with pytest.raises(CatalogueError) as caught:
        resolve(accelerator, topology, machine_type)
    return caught.value


@pytest.mark.parametrize(
    ("alias", "generation"),
    [
        ("trillium", "v6e"),
        ("Trillium", "v6e"),
        ("ironwood", "tpu7x"),
        ("v7x", "tpu7x"),
        ("v5litepod", "v5e"),
        ("v5-lite", "v5e"),
        ("tpuv5", "v5p"),
        ("tpuv4", "v4"),
        ("V6E", "v6e"),
    ],
)
def test_aliases_mean_their_generation_in_any_case(alias: str, generation: str) -> None:
    assert tpu.generation(alias).name == generation


@pytest.mark.parametrize(
    ("accelerator", "message", "fix"),
    [
        (
            "v5p-16",
            "v5p-16 counts TensorCores: 8 chips, topology 2x2x2.",
            "accelerator: v5p and topology: 2x2x2",
        ),
        (
            "v6e-16",
            "v6e-16 counts TensorCores: 16 chips, topology 4x4.",
            "accelerator: v6e and topology: 4x4",
        ),
        ("v5litepod-16", "16 chips, topology 4x4", "accelerator: v5e and topology: 4x4"),
        ("v5e-16", "16 chips, topology 4x4", "accelerator: v5e and topology: 4x4"),
        ("tpu7x-8", "tpu7x-8 counts TensorCores: 4 chips", "topology: 2x2x1"),
        ("ironwood-128", "64 chips", "accelerator: tpu7x and topology: 4x4x4"),
        ("v4-512", "256 chips, topology 4x4x16 or 4x8x8", "4x4x16 or 4x8x8"),
        ("v6e-7", "no v6e topology has 7 chips", "2x2 (4 chips), 2x4 (8 chips)"),
        ("v5p-15", "7.5 chips", "2x2x2 (8 chips)"),
        ("v6e-1", "no v6e topology has 1 chip.", "2x2 (4 chips)"),
        ("tpuv6e:4x4", "names a generation and a topology", "accelerator: v6e and topology: 4x4"),
        ("tpu7x-4x4x4", "names a generation and a topology", "accelerator: tpu7x and topology: 4x4x4"),
        ("tpuv6e", "Pathways instance type of v6e", "accelerator: v6e"),
        ("tpu-v6e-slice", "GKE node label of v6e", "accelerator: v6e"),
        ("ct6e-standard-8t", "machine type of v6e", "machineType: ct6e-standard-8t"),
        ("v5", '"v5" is not a TPU generation', "v5e"),
        ("v5", '"v5" is not a TPU generation', "v5p"),
        ("v6", '"v6" is not a TPU generation', "Did you mean v6e?"),
        ("tpuv5p", '"tpuv5p" is not a TPU generation', "v5p"),
        ("ironwod", '"ironwod" is not a TPU generation', "Did you mean tpu7x?"),
        ("h100", '"h100" is not a TPU generation', "Known: v4, v5e, v5p, v6e, tpu7x."),
        ("", '"" is not a TPU generation', "Known: v4"),
    ],
)
def test_a_name_that_is_no_generation_is_explained(accelerator: str, message: str, fix: str) -> None:
    found = fault(accelerator, "4x4")
    assert message in found.message
    assert fix in found.fix
    assert found.field == "accelerator"


def test_experimental_generations_are_known_but_never_suggested() -> None:
    assert tpu.generation("tpu7").experimental
    assert "tpu7," not in fault("h100", "4x4").fix


@pytest.mark.parametrize(
    ("asked", "message", "fix"),
    [
        (
            ("v6e", "4x5", None),
            "v6e has no topology 4x5 (20 chips)",
            "2x4 (8 chips), 4x4 (16 chips), 4x8 (32 chips)",
        ),
        (("v6e", "4x2", None), 'v6e has 2x4, not "4x2"', "Write 2x4"),
        (("v5p", "8x4x4", None), 'v5p has 4x4x8, not "8x4x4"', "Write 4x4x8"),
        (("v5p", "1x2x2", None), "v5p has 2x2x1", "Write 2x2x1"),
        (("v5p", "2x2", None), "v5p has 2x2x1", "Write 2x2x1 (3 axes)"),
        (("v6e", "2x2x1", None), "v6e has 2x2", "Write 2x2 (2 axes)"),
        (("v6e", "4x4x4", None), "its topologies have 2 axes", "8x8 (64 chips)"),
        (("v5p", "4x4", None), "its topologies have 3 axes", "2x2x4 (16 chips)"),
        (("v5p", "4x4x16", None), "no topology 4x4x16 (256 chips)", "4x8x8 (256 chips)"),
        (("v6e", "1x1", None), "exists only on ct6e-standard-1t, which Pathways cannot use", "2x2 (4 chips)"),
        (
            ("v6e", "4x4", "ct6e-standard-8t"),
            "ct6e-standard-8t does not offer 4x4",
            "machineType: ct6e-standard-4t",
        ),
        (("v6e", "2x2", "ct6e-standard-8t"), "its VMs have 8 chips", "machineType: ct6e-standard-4t"),
        (("v6e", "3x3", "ct6e-standard-8t"), "v6e has no topology 3x3", "2x4 (8 chips)"),
        (("v6e", "32x32", None), "1,024 chips", "16x16 (256 chips)"),
    ],
)
def test_a_topology_that_cannot_be_had_is_explained(asked: Case, message: str, fix: str) -> None:
    found = fault(*asked)
    assert message in found.message
    assert fix in found.fix
    assert found.field == "topology"


@pytest.mark.parametrize(
    ("asked", "message", "fix"),
    [
        (
            ("v6e", "1x1", "ct6e-standard-1t"),
            "no instance type for ct6e-standard-1t (1 chip per VM)",
            "ct6e-standard-4t",
        ),
        (("v5p", "4x4x4", "ct5p-hightpu-2t"), "no instance type for ct5p-hightpu-2t", "ct5p-hightpu-4t"),
        (("v4", "4x4x4", "ct5p-hightpu-4t"), "is a machine type of v5p, not of v4", "accelerator: v5p"),
        (("v6e", "4x4", "ct6e-standard-2t"), "is not a TPU machine type", "ct6e-standard-4t"),
        (("v6e", "4x4", "n2-standard-64"), "is not a TPU machine type", "ct6e-standard-4t"),
    ],
)
def test_a_machine_type_that_does_not_fit_is_explained(asked: Case, message: str, fix: str) -> None:
    found = fault(*asked)
    assert message in found.message
    assert fix in found.fix
    assert found.field == "machineType"


def test_the_fault_reads_as_what_is_wrong_and_then_how_to_fix_it() -> None:
    assert str(fault("v6e", "4x2")) == 'v6e has 2x4, not "4x2". Write 2x4 (the axes in this order).'
