"""Reading and writing topologies."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathways import tpu
from pathways.topology import CatalogueError, Topology, resolve

AXES = st.lists(st.integers(1, 9999), min_size=2, max_size=3)
WORDS = st.text(st.sampled_from("0123456789x*, -vX"), max_size=12)


@given(AXES)
def test_a_topology_is_written_as_it_was_read(axes: list[int]) -> None:
    text = "x".join(map(str, axes))
    read = Topology.parse(text)
    assert str(read) == text
    assert read.chips == math.prod(axes)
    assert read.in_three_dims == tuple((axes + [1])[:3])


@given(st.one_of(WORDS, st.text()))
def test_any_text_is_a_topology_that_is_written_the_same_or_a_fault_with_a_fix(text: str) -> None:
    try:
        assert str(Topology.parse(text)) == text
    except CatalogueError as fault:
        assert f'"{text}"' in fault.message
        assert fault.fix.startswith("Write ")
        assert fault.field == "topology"


@given(AXES, st.sampled_from(["X", "*", " x ", ",", "×"]))
def test_other_separators_are_answered_with_the_right_spelling(axes: list[int], separator: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        Topology.parse(separator.join(map(str, axes)))
    assert caught.value.fix == f"Write {'x'.join(map(str, axes))}."


@pytest.mark.parametrize("text", ["", "4", "x4", "4x", "0x4", "04x4", "4x4x4x4", "4x4\n", "-4x4", "٤x٤", "four"])
def test_what_is_no_topology_is_refused(text: str) -> None:
    with pytest.raises(CatalogueError):
        Topology.parse(text)


@given(
    st.sampled_from(sorted(tpu.catalogue().generations)),
    st.lists(st.sampled_from([1, 2, 3, 4, 8, 12, 16, 20, 24, 28]), min_size=2, max_size=3),
)
def test_every_request_is_a_listed_slice_or_a_fault_that_names_listed_topologies(
    accelerator: str, axes: list[int]
) -> None:
    listed = {str(topology) for topology in tpu.generation(accelerator).topologies}
    text = "x".join(map(str, axes))
    try:
        shape = resolve(accelerator, text)
    except CatalogueError as fault:
        assert text not in listed
        assert listed & set(fault.fix.replace(",", " ").split())
    else:
        assert text in listed
        assert shape.vms * shape.chips_per_vm == math.prod(axes)
