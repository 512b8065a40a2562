"""A table without names gives its people away; the platform's twin of it does not."""

import numpy as np
import pytest
from held import make_subjects, whole_numbers

from companions.lab.attacks.linkage import CLOSE, choose_people, know, link, most_telling
from companions.lab.chapter import Conditions, Standing
from companions.lab.chapters.linkage import explore, search, searches
from companions.lab.demo_data import clinic, heights
from companions.lab.simulation import seeded
from companions.lab.twins import twin_of

CONDITIONS = Conditions(quick=True, seed=1)
EVERYBODY = np.arange(6)
SMALL = {
    "age": ("30", "30", "40", "40", "50", "n/a"),
    "sex": ("f", "m", "f", "f", "m", "f"),
    "ill": ("yes", "no", "no", "yes", "no", "no"),
}


def test_what_is_known_singles_people_out():
    age, sex, ill = know(SMALL)
    by_age = link(ill, [age], people=EVERYBODY, table=SMALL)
    both = link(ill, [age, sex], people=EVERYBODY, table=SMALL)
    # one of six is 50; with sex as well, both of 30 are alone. Nobody is found by a missing age
    assert by_age.singled_out == pytest.approx(1 / 6)
    assert both.singled_out == pytest.approx(3 / 6)
    # the two women of 40 differ: one of them is named wrongly, and the one without an age gets the commonest
    assert both.named == pytest.approx(5 / 6)
    assert both.columns == ("age", "sex")


def test_without_knowledge_the_commonest_value_is_named():
    ill = know(SMALL)[2]
    assert link(ill, [], people=EVERYBODY, table=SMALL).named == pytest.approx(4 / 6)


def test_amounts_are_known_within_a_twentieth_of_their_range():
    cells = {"salary": tuple(str(100 * number) for number in range(201))}
    (salary,) = know(cells)
    assert salary.is_amount
    assert salary.reach == pytest.approx(CLOSE * 20_000)
    fits = salary.fits(np.array([100]), salary.encode(cells["salary"]))
    assert fits.sum() == 21


def test_words_are_known_whatever_their_case_and_spaces():
    (sex,) = know({"sex": (" F", "m", "f ")})
    assert sex.fits(np.array([0]), sex.encode(("f", "M", "x"))).tolist() == [[True, False, False]]


def test_the_most_telling_columns_come_first():
    cells = {
        "same": ("a",) * 30,
        "pair": tuple(str(number // 2) for number in range(30)),
        "own": tuple(f"x{number}" for number in range(30)),
    }
    chosen = most_telling(know(cells), people=np.arange(30), table=cells, most=2)
    assert chosen[0].name == "own"
    assert len(chosen) == 2


def test_nobody_without_the_secret_is_searched_for():
    target = know({"value": ("1", "n/a", "3", "?")})[0]
    assert choose_people(target, most=10, generator=seeded(1, "x")).tolist() == [0, 2]
    many = know({"value": tuple(str(n) for n in range(900))})[0]
    assert len(choose_people(many, most=500, generator=seeded(1, "x"))) == 500


def test_the_clinic_is_broken_and_its_twin_is_not():
    found = search("clinic", "a clinic", clinic(seeded(1, "clinic")), "diagnosis", CONDITIONS)
    assert found.table[-1].singled_out > 0.4
    assert found.table[-1].named > found.guessing + 0.15
    # 5 standard errors of a share among 500 people
    assert found.twin[-1].named < found.guessing + 0.11
    assert [one.singled_out for one in found.table] == sorted(one.singled_out for one in found.table)


def test_the_heights_are_broken_and_their_twin_is_not():
    (_, found) = searches(heights(), CONDITIONS)
    assert found.secret == "Height"
    assert found.table[-1].named > 0.8
    assert found.twin[-1].named < found.guessing + 0.33


def test_a_table_of_one_column_is_not_searched():
    assert len(searches(make_subjects(whole_numbers()), CONDITIONS)) == 1


def test_verdicts_of_the_chapter():
    standings = [verdict.standing for verdict in explore(heights(), CONDITIONS).verdicts]
    assert standings == [Standing.BROKEN, Standing.HOLDS] * 2


def test_a_table_in_which_all_are_alike_is_not_broken():
    found = make_subjects(np.arange(80) // 20, sex=("f", "m") * 40)
    verdict = explore(found, CONDITIONS).verdicts[2]
    assert verdict.standing is Standing.NO_PROMISE


def test_the_twin_has_the_columns_and_rows_and_nobodys_row():
    cells = clinic(seeded(1, "clinic"), people=200)
    known = know(cells)
    twin = twin_of(cells, known, seed=1)
    assert list(twin) == list(cells)
    assert all(len(column) == 200 for column in twin.values())
    assert set(twin["zip code"]) <= set(cells["zip code"])
    assert not set(zip(*twin.values(), strict=True)) & set(zip(*cells.values(), strict=True))


def test_strange_words_stay_out_of_the_twin():
    cells = {"note": ("a\x07b", "x" * 300) * 5, "amount": tuple(f"{n}.5" for n in range(10))}
    twin = twin_of(cells, know(cells), seed=1)
    assert set(twin["note"]) <= {"n/a"}


def test_an_amount_is_named_by_the_median_of_the_rows_that_fit():
    cells = {
        "town": tuple("a" if number < 150 else "b" for number in range(200)),
        "salary": tuple(
            str(1_000 + number) if number < 150 else str(9_000 + number) for number in range(200)
        ),
    }
    town, salary = know(cells)
    assert salary.is_amount
    assert link(salary, [town], people=np.arange(200), table=cells).named == 1
    assert link(salary, [], people=np.arange(200), table=cells).named == pytest.approx(0.75)
