"""docs/mutations.md is about the values that stacks have now, and about reasons that still hold."""

from __future__ import annotations

import re

from tests.rehearsal import mutation_page
from tests.rehearsal.mutation import explained, page
from tests.rehearsal.mutation.test_stacks import SAMPLE
from tests.rehearsal.mutation.variants import changes
from tests.rehearsal.slurm import test_mutations as slurm

AGAIN = "make mutations writes it anew"
GKE = list(changes())


def test_the_tables_of_gke_stacks_have_every_change_of_theirs() -> None:
    tables = mutation_page.tables(page.TITLE)
    expected = {variant.name: [mutant.key for mutant in mutants] for variant, mutants in GKE}
    assert list(tables) == list(page.HEADINGS), AGAIN
    for name, keys in expected.items():
        assert list(tables[name]) == keys, AGAIN


def test_what_is_found_is_named() -> None:
    text = mutation_page.PAGE.read_text("utf-8")
    assert mutation_page.NOT_NAMED not in text


def test_what_passes_on_gke_has_the_reason_on_the_page_and_each_reason_is_needed() -> None:
    tables = mutation_page.tables(page.TITLE)
    said = [(mutant, tables[variant.name][mutant.key]) for variant, mutants in GKE for mutant in mutants]
    passing = [(mutant, text) for mutant, text in said if text.startswith(mutation_page.NOTHING)]
    for mutant, text in passing:
        assert text == mutation_page.NOTHING + str(explained.reason(mutant)), AGAIN
    idle = [each for each in explained.REASONS if not any(re.search(each, mutant.name) for mutant, _ in passing)]
    assert idle == []


def test_every_change_of_the_slurm_scripts_is_on_the_page_with_what_is_said() -> None:
    rows = mutation_page.tables(slurm.TITLE)[""]
    assert list(rows) == [mutant.key for mutant in slurm.ALL], AGAIN
    assert all(rows.values()), AGAIN
    nothing = {where for (where, _), said in rows.items() if said.startswith(mutation_page.NOTHING)}
    assert nothing == set(slurm.SURVIVORS), AGAIN


def test_the_scores_are_those_of_the_tables() -> None:
    text = mutation_page.PAGE.read_text("utf-8")
    for title in (page.TITLE, slurm.TITLE):
        assert mutation_page.score(mutation_page.tables(title)) in text, AGAIN


def test_samples_and_survivors_are_changes() -> None:
    names = [(variant.name, mutant.key) for variant, mutants in GKE for mutant in mutants]
    assert len(set(names)) == len(names)
    assert set(SAMPLE) <= {mutant.name for _, mutants in GKE for mutant in mutants}
    assert len({mutant.key for mutant in slurm.ALL}) == len(slurm.ALL)
    assert set(slurm.SURVIVORS) <= {mutant.where for mutant in slurm.ALL}
    assert set(slurm.SAMPLE) <= {mutant.where for mutant in slurm.ALL} - set(slurm.SURVIVORS)
