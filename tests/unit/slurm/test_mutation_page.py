"""docs/mutations.md is about the values that the scripts have now."""

from __future__ import annotations

from tests.rehearsal import mutation_page
from tests.rehearsal.slurm.test_mutations import ALL, SAMPLE, SURVIVORS, TITLE

AGAIN = "UPDATE_GOLDEN=1 pytest -m extended tests/rehearsal/slurm/test_mutations.py writes it anew"


def test_every_change_is_on_the_page_with_what_is_said() -> None:
    rows = mutation_page.rows(TITLE)
    assert list(rows) == [mutant.key for mutant in ALL], AGAIN
    assert all(rows.values()), AGAIN
    nothing = {where for (where, _), said in rows.items() if said.startswith("*nothing*")}
    assert nothing == set(SURVIVORS), AGAIN
    assert mutation_page.score(len(ALL), SURVIVORS) in mutation_page.PAGE.read_text("utf-8"), AGAIN


def test_samples_and_survivors_are_changes() -> None:
    assert len({mutant.key for mutant in ALL}) == len(ALL)
    assert set(SURVIVORS) <= {mutant.where for mutant in ALL}
    assert set(SAMPLE) <= {mutant.where for mutant in ALL} - set(SURVIVORS)
