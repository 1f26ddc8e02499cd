"""GKE and JAX versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathways import tpu
from pathways.versions import Feature, GkeVersion, VersionError, jax_version, minimum_gke

NUMBER = st.integers(0, 10_000_000)
PARTS = st.lists(NUMBER, min_size=2, max_size=4).map(tuple)
EXACT = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER).map(GkeVersion)


def gke(text: str) -> GkeVersion:
    return GkeVersion.parse(text)


@given(PARTS)
def test_a_gke_version_is_written_as_it_was_read(parts: tuple[int, ...]) -> None:
    assert gke(str(GkeVersion(parts))).parts == parts


def test_a_trailing_dot_after_the_minor_version_changes_nothing() -> None:
    assert gke("1.35.") == gke("1.35")


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.", "v1.35", "1.35.2.", "1.35.2-gke", "1.35-gke.1", "1.35.2-gke.1.", "1.35 ", "newest"],
)
def test_what_is_no_gke_version_is_refused_with_examples(text: str) -> None:
    with pytest.raises(VersionError) as caught:
        gke(text)
    assert f'"{text}"' in caught.value.message
    assert "1.35.2-gke.1842000" in caught.value.fix


@given(EXACT, EXACT)
def test_exact_versions_compare_as_numbers(a: GkeVersion, b: GkeVersion) -> None:
    assert (a < b) == (a.parts < b.parts)
    assert a.is_surely_at_least(b) == (a.parts >= b.parts)


@pytest.mark.parametrize(
    ("version", "minimum", "older", "surely"),
    [
        ("1.31.9-gke.9999999", "1.32.2-gke.1475000", True, False),
        ("1.32.2-gke.1475000", "1.32.2-gke.1475000", False, True),
        ("1.32.2-gke.999999", "1.32.2-gke.1475000", True, False),
        ("1.9.2-gke.1", "1.32.2-gke.1475000", True, False),
        ("1.31", "1.32.2-gke.1475000", True, False),
        ("1.32", "1.32.2-gke.1475000", False, False),
        ("1.32.2", "1.32.2-gke.1475000", False, False),
        ("1.32.1", "1.32.2-gke.1475000", True, False),
        ("1.33", "1.32.2-gke.1475000", False, True),
        ("1.33.", "1.32.2-gke.1475000", False, True),
        ("latest", "1.32.2-gke.1475000", False, False),
        ("1.29", "1.29.0", False, True),
        ("1.28.5", "1.29.0", True, False),
    ],
)
def test_the_beginning_of_a_version_may_reach_a_minimum_without_doing_so_surely(
    version: str, minimum: str, older: bool, surely: bool
) -> None:
    assert (gke(version) < gke(minimum)) is older
    assert gke(version).is_surely_at_least(gke(minimum)) is surely


@pytest.mark.parametrize(
    ("generation", "features", "version", "because"),
    [
        ("v4", [], "1.32.2-gke.1475000", "Pathways"),
        ("v5p", ["calendar"], "1.32.2-gke.1475000", "Pathways"),
        ("v6e", [], "1.32.2-gke.1475000", "Pathways"),
        ("v6e", ["dranet"], "1.34.1-gke.1829001", "DRANET"),
        ("v6e", ["node_auto_provisioning"], "1.32.2-gke.1475000", "Pathways"),
        ("tpu7x", [], "1.34.0-gke.2201000", "tpu7x"),
        ("tpu7x", ["node_auto_provisioning"], "1.34.1-gke.2541000", "node auto-provisioning of tpu7x"),
        ("tpu7x", ["dynamic_slicing", "dranet"], "1.35.2-gke.1842000", "dynamic slicing"),
    ],
)
def test_the_highest_minimum_governs_and_says_why(
    generation: str, features: list[Feature], version: str, because: str
) -> None:
    least = minimum_gke(tpu.generation(generation), *features)
    assert (str(least.version), least.because) == (version, because)


def test_every_version_in_the_catalogue_can_be_read() -> None:
    known = tpu.catalogue()
    texts = list(known.minimum_gke.values())
    for generation in known.generations.values():
        texts += [text for text in (generation.minimum_gke, generation.node_auto_provisioning) if text]
    assert [str(gke(text)) for text in texts] == texts


def test_jax_versions_compare_as_numbers() -> None:
    assert jax_version("0.9.2") < jax_version("0.10.0") < jax_version("0.11.1")
    assert jax_version("0.11") == jax_version("0.11.0")


@pytest.mark.parametrize("text", ["", "0", "latest", "0.11.1rc1", "v0.11.1", "0.11.1.2"])
def test_what_is_no_released_jax_version_is_refused(text: str) -> None:
    with pytest.raises(VersionError, match="not a released JAX version"):
        jax_version(text)
