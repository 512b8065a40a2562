"""Attacks on twins: what they find of people in the table, beside what they find of people who are not."""

from __future__ import annotations

import numpy as np
import pytest
from held import make_subjects, whole_numbers

from companions.lab.attacks.linkage import know
from companions.lab.chapter import Conditions, Standing
from companions.lab.chapters.twins import LINKAGE, NEIGHBOUR, Aimed, aim, explore, found_again
from companions.lab.demo_data import clinic
from companions.lab.simulation import seeded
from companions.lab.twins import counted_twin, permuted
from twins.evaluation.proportions import Proportion

TWINS = ("level 0", "level 1", "level 2")


def test_an_amount_is_found_again_however_it_is_written():
    column = ("25", "n/a", "30.0", "word")
    assert found_again(("25.0", "30", "31", "n/a"), np.arange(4), column) == Proportion(2, 3)


def test_permuting_keeps_every_value_and_no_row():
    cells = {"a": tuple(map(str, range(50))), "b": tuple(map(str, range(50)))}
    dealt = permuted(cells, seeded(1, "x"))
    assert sorted(dealt["a"]) == sorted(cells["a"])
    assert sum(one == other for one, other in zip(dealt["a"], dealt["b"], strict=True)) < 10


@pytest.mark.parametrize("seed", [1, 2])
def test_attacks_succeed_on_raw_and_permuted_tables_and_on_no_twin(seed):
    """The neighbour succeeds on both; linkage on the raw one alone, since permuting breaks up rows. A verdict
    errs once in a million (4.9 standard errors)."""
    conditions = Conditions(quick=True, seed=seed)
    found = {
        (one.attack, one.table): one
        for one in aim(clinic(conditions.generator("clinic"), people=800), conditions)
    }
    assert found[LINKAGE, "names taken out"].succeeds
    assert found[NEIGHBOUR, "names taken out"].succeeds
    assert found[NEIGHBOUR, "columns permuted"].succeeds
    assert not found[LINKAGE, "columns permuted"].succeeds
    for table in TWINS:
        assert not found[LINKAGE, table].succeeds
        assert not found[NEIGHBOUR, table].succeeds


def test_a_twin_that_repeats_rows_is_caught():
    """The attacks can fail: a mutant that hands out the table as its own twin does not pass for one."""
    everybody = Proportion(400, 400)
    assert Aimed(NEIGHBOUR, "level 1", "pure_dp, epsilon 1", everybody, Proportion(2, 400)).succeeds
    assert not Aimed(
        NEIGHBOUR, "level 1", "pure_dp, epsilon 1", Proportion(9, 400), Proportion(2, 400)
    ).succeeds


def test_verdicts_of_the_chapter_on_twins():
    chapter = explore(make_subjects(whole_numbers()), Conditions(quick=True, seed=1))
    standings = {
        (one.attack.split(":")[0], one.against.split(" (")[0]): one.standing for one in chapter.verdicts
    }
    assert standings[LINKAGE, "columns permuted"] is Standing.NO_PROMISE
    assert standings[NEIGHBOUR, "columns permuted"] is Standing.BROKEN
    assert {standings[attack, table] for attack in (LINKAGE, NEIGHBOUR) for table in TWINS} == {
        Standing.HOLDS
    }


def test_missing_values_have_a_cell_of_their_own():
    cells = {"sex": ("f", "m", "N/A", "") * 50, "age": tuple(str(20 + n % 50) for n in range(200))}
    twin = counted_twin(cells, know(cells), level=1, epsilon=10, seed=1)
    assert 60 < twin["sex"].count("n/a") < 140
    assert set(twin["sex"]) == {"f", "m", "n/a"}
