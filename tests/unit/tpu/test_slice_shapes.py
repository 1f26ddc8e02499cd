"""Every row of the catalogue, against arithmetic and against what Google's pages and pathways-job state."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from pathways import tpu
from pathways.topology import CatalogueError, SliceShape, Topology, resolve

SHAPES = [
    SliceShape(generation, machine, topology)
    for generation in tpu.catalogue().generations.values()
    for machine in generation.machine_types
    for topology in machine.topologies
]
USABLE = [shape for shape in SHAPES if shape.machine_type.supports_pathways]


def named(shape: SliceShape) -> str:
    return f"{shape.machine_type.name}-{shape.topology}"


def numbers(bounds: str) -> list[int]:
    return [int(number) for number in bounds.split(",")]


@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_chips_are_the_product_of_the_axes_and_fill_whole_vms(shape: SliceShape) -> None:
    chips = math.prod(int(axis) for axis in str(shape.topology).split("x"))
    per_vm = int(shape.machine_type.name.rpartition("-")[2].removesuffix("t"))
    assert shape.chips == chips
    assert shape.chips_per_vm == per_vm
    assert shape.vms * per_vm == chips


@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_hosts_tile_the_slice_along_every_axis(shape: SliceShape) -> None:
    per_host, hosts = numbers(shape.chips_per_host_bounds), numbers(shape.host_bounds)
    axes = [int(axis) for axis in str(shape.topology).split("x")]
    assert [a * b for a, b in zip(per_host, hosts, strict=True)] == (axes + [1])[:3]
    assert math.prod(per_host) == shape.chips_per_vm
    assert math.prod(hosts) == shape.vms


@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_only_pools_of_several_hosts_have_a_placement(shape: SliceShape) -> None:
    multi_host = shape.chips > shape.chips_per_vm
    assert shape.host_kind == ("multi" if multi_host else "single")
    if multi_host:
        assert shape.placement == ("workload_policy" if shape.generation.name.startswith("tpu7") else "compact")
    else:
        assert shape.placement == "none"


@pytest.mark.parametrize("shape", SHAPES, ids=named)
def test_axes_ascend_and_large_slices_are_whole_cubes(shape: SliceShape) -> None:
    axes = shape.topology.dims
    assert axes == tuple(sorted(axes)) or str(shape.topology) == "2x2x1"
    if len(axes) == 3 and shape.chips >= 64:
        assert all(axis % 4 == 0 for axis in axes)


@pytest.mark.parametrize("shape", USABLE, ids=named)
def test_a_shape_is_resolved_from_its_names(shape: SliceShape) -> None:
    found = resolve(shape.generation.name, str(shape.topology), shape.machine_type.name)
    assert found == shape
    assert found.instance_type == f"{shape.machine_type.pathways_prefix}:{shape.topology}"


@pytest.mark.parametrize("shape", USABLE, ids=named)
def test_the_default_machine_type_has_the_most_vms(shape: SliceShape) -> None:
    default = resolve(shape.generation.name, str(shape.topology))
    assert default.vms >= shape.vms
    assert default.chips == shape.chips


@pytest.mark.parametrize(
    ("machine_type", "prefix"),
    [
        ("ct4p-hightpu-4t", "tpuv4"),
        ("ct5p-hightpu-4t", "tpuv5"),
        ("ct5lp-hightpu-4t", "tpuv5e"),
        ("ct5lp-hightpu-8t", "tpuv5e1t"),
        ("ct6e-standard-4t", "tpuv6e"),
        ("ct6e-standard-8t", "tpuv6e1t"),
        ("tpu7x-standard-4t", "tpu7x"),
    ],
)
def test_instance_type_prefixes_are_those_of_pathways_job(machine_type: str, prefix: str) -> None:
    assert tpu.machine_type(machine_type).pathways_prefix == prefix


@pytest.mark.parametrize(
    ("generation", "label", "largest", "chips"),
    [
        ("v4", "tpu-v4-podslice", "16x16x16", 4096),
        ("v5e", "tpu-v5-lite-podslice", "16x16", 256),
        ("v5p", "tpu-v5p-slice", "16x20x28", 8960),
        ("v6e", "tpu-v6e-slice", "16x16", 256),
        ("tpu7x", "tpu7x", "16x24x24", 9216),
    ],
)
def test_labels_and_largest_slices_are_those_google_states(
    generation: str, label: str, largest: str, chips: int
) -> None:
    found = tpu.generation(generation)
    assert found.gke_label == label
    assert str(found.topologies[-1]) == largest
    assert found.topologies[-1].chips == chips


@pytest.mark.parametrize(
    ("accelerator", "topology", "name"),
    [
        ("v4", "2x2x2", "v4-16"),
        ("v5e", "4x4", "v5litepod-16"),
        ("v5p", "2x2x2", "v5p-16"),
        ("v6e", "4x4", "v6e-16"),
        ("tpu7x", "2x2x1", "tpu7x-8"),
    ],
)
def test_accelerator_types_count_tensorcores(accelerator: str, topology: str, name: str) -> None:
    shape = resolve(accelerator, topology)
    assert shape.accelerator_type == name
    assert shape.tensorcores == int(name.rpartition("-")[2])


@pytest.mark.parametrize(
    ("accelerator", "topology", "machine_type", "vms", "hosts", "per_host"),
    [
        ("v5p", "4x4x4", "ct5p-hightpu-4t", 16, "2,2,4", "2,2,1"),
        ("v5p", "2x4x4", "ct5p-hightpu-4t", 8, "1,2,4", "2,2,1"),
        ("tpu7x", "2x2x1", "tpu7x-standard-4t", 1, "1,1,1", "2,2,1"),
        ("v6e", "4x8", "ct6e-standard-4t", 8, "2,4,1", "2,2,1"),
        ("v6e", "2x4", "ct6e-standard-4t", 2, "1,2,1", "2,2,1"),
        ("v6e", "2x4", "ct6e-standard-8t", 1, "1,1,1", "2,4,1"),
        ("v5e", "16x16", "ct5lp-hightpu-4t", 64, "8,8,1", "2,2,1"),
    ],
)
def test_bounds_of_known_slices(
    accelerator: str, topology: str, machine_type: str, vms: int, hosts: str, per_host: str
) -> None:
    shape = resolve(accelerator, topology, machine_type)
    assert (shape.vms, shape.host_bounds, shape.chips_per_host_bounds) == (vms, hosts, per_host)


def test_an_eight_chip_slice_is_two_vms_unless_the_one_vm_machine_is_named() -> None:
    assert resolve("v6e", "2x4").machine_type.name == "ct6e-standard-4t"
    assert resolve("v6e", "2x4").instance_type == "tpuv6e:2x4"
    assert resolve("v6e", "2x4", "ct6e-standard-8t").instance_type == "tpuv6e1t:2x4"


def test_v5p_slices_above_96_cubes_are_beyond_what_google_documents() -> None:
    assert not resolve("v5p", "16x16x24").beyond_documented
    assert resolve("v5p", "12x24x24").beyond_documented
    assert not resolve("tpu7x", "16x24x24").beyond_documented


def test_a_machine_without_an_instance_type_says_so_when_asked_for_one() -> None:
    one_chip = tpu.machine_type("ct6e-standard-1t")
    shape = SliceShape(tpu.generation("v6e"), one_chip, Topology.parse("1x1"))
    assert (shape.vms, shape.host_bounds, shape.chips_per_host_bounds) == (1, "1,1,1", "1,1,1")
    with pytest.raises(CatalogueError, match="no instance type for ct6e-standard-1t"):
        _ = shape.instance_type


@pytest.mark.parametrize("generation", tpu.catalogue().generations.values(), ids=lambda each: str(each.name))
def test_topologies_of_a_generation_go_up_by_size_without_repeating(generation: tpu.Generation) -> None:
    assert generation.topologies
    assert all((a.chips, a.dims) < (b.chips, b.dims) for a, b in pairwise(generation.topologies))


def test_the_catalogue_holds_the_whole_table() -> None:
    rows = {name: len(machine.topologies) for name, machine in tpu.catalogue().machine_types.items()}
    assert rows == {
        "ct4p-hightpu-4t": 14,
        "ct5lp-hightpu-1t": 1,
        "ct5lp-hightpu-4t": 7,
        "ct5lp-hightpu-8t": 1,
        "ct5p-hightpu-1t": 0,
        "ct5p-hightpu-2t": 0,
        "ct5p-hightpu-4t": 96,
        "ct6e-standard-1t": 1,
        "ct6e-standard-4t": 7,
        "ct6e-standard-8t": 1,
        "tpu7x-standard-1t": 1,
        "tpu7x-standard-4t": 98,
        "tpu7-standard-1t": 1,
        "tpu7-standard-4t": 9,
    }
