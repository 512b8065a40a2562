"""A column's cells: declared beforehand, each can be drawn from, and what is drawn counts there again."""

from __future__ import annotations

import random

import pytest
from declared_columns import COUNTED, PII
from factories import column_fields, make_column
from hypothesis import given
from hypothesis import strategies as st

from domain.dataset import Column
from domain.model import parse
from domain.twin import cell_grid, has_cells

SIZE = 1000


def grid(**fields):
    return cell_grid(make_column(**fields), SIZE)


def category_grid(categories, **fields):
    column = {"name": "c", "kind": "categorical", "categories": categories, **fields}
    return cell_grid(parse(Column, column), SIZE)


@given(COUNTED, st.booleans(), st.integers(0, 99), st.integers(6, 2000))
def test_what_is_drawn_from_a_cell_is_counted_in_it(fields, counts_missing, seed, size):
    column = parse(Column, {"name": "c", "missing": "NaN", "count_missing": counts_missing, **fields})
    found = cell_grid(column, size)
    draw = random.Random(seed)
    codes = [code for code in range(found.count) for _ in range(3)]
    texts = [found.text(code, draw) for code in codes]
    assert found.codes(texts).tolist() == codes
    assert len(found.names) == found.count


@given(COUNTED, st.lists(st.text(max_size=12) | st.floats().map(repr), max_size=20))
def test_every_text_has_one_declared_cell_by_itself(fields, texts):
    found = cell_grid(parse(Column, {"name": "c", **fields}), SIZE)
    codes = found.codes(texts)
    assert all(0 <= code < found.count for code in codes)
    assert [found.codes([text])[0] for text in texts] == codes.tolist()


def test_numbers_beyond_the_bounds_count_in_the_outermost_bins():
    ages = grid(lower=18, upper=97)
    assert ages.count == 20
    assert ages.codes(["-5", "18", "21", "22", "97", "1e9"]).tolist() == [0, 0, 0, 1, 19, 19]


HOW_MANY_CELLS_THERE_ARE = (
    ({}, 500, 20),
    ({}, 499, 10),
    ({"bins": 7}, 499, 7),
    ({"upper": 3}, 500, 4),  # whole numbers 0 to 3: one cell each
    ({"count_missing": True}, 500, 21),
    ({"missing_rate": 0.1}, 500, 21),
    ({"special_values": [0, 9]}, 500, 22),
)


def test_how_many_cells_there_are(subtests):
    for fields, size, count in HOW_MANY_CELLS_THERE_ARE:
        with subtests.test(fields=fields, size=size, count=count):
            assert cell_grid(make_column(**fields), size).count == count


def test_without_a_cell_for_missing_nothing_gets_one():
    assert grid().missing is None
    assert grid().codes(["n/a", "", "twelve", "nan", "inf", "1e999", "1,5"]).tolist() == [0] * 7
    with_missing = grid(count_missing=True)
    assert with_missing.codes(["n/a", "", "twelve", "nan"]).tolist() == [20] * 4
    assert with_missing.text(20, random.Random(1)) == "n/a"


def test_unknown_categories_are_missing_or_other_but_never_a_cell_of_their_own():
    assert category_grid(["a", "b"], count_missing=True).codes(["KURU", "b"]).tolist() == [2, 1]
    assert category_grid(["Other", "b", "other"]).codes(["KURU", "b"]).tolist() == [2, 1]
    assert category_grid(["a", "b"]).codes(["KURU", "b"]).tolist() == [0, 1]


def test_a_public_map_makes_cells_coarser_and_the_twin_keeps_its_categories():
    found = category_grid(["1011", "1012", "2000"], coarsen={"1011": "10", "1012": "10", "2000": "20"})
    assert (found.count, found.names) == (2, ("10", "20"))
    draw = random.Random(3)
    assert {found.text(0, draw) for _ in range(50)} == {"1011", "1012"}


def test_special_values_and_ratios_keep_a_spike_apart():
    gains = grid(lower=0, upper=99_999, scale="log", special_values=[0])
    assert gains.codes(["0", "1", "99999", "0.0"]).tolist() == [20, 0, 19, 20]
    draw = random.Random(1)
    assert "0" not in {gains.text(0, draw) for _ in range(100)}
    widths = [high / low for low, high in zip(gains.edges[6:], gains.edges[7:], strict=False)]
    assert max(widths) / min(widths) < 1.2


def test_dates_stay_dates():
    found = grid(kind="date", lower="2020-01-01", upper="2020-12-31")
    assert found.codes(["2019-05-05", "2020-12-31", "31.12.2020", "2020-02-30"]).tolist() == [0, 19, 0, 0]
    assert found.text(0, random.Random(1)).startswith("2020-01-")


def test_text_people_and_direct_identifiers_are_never_counted():
    text = parse(Column, {"name": "t", "kind": "text", "pii": PII})
    person = parse(Column, {"name": "p", "kind": "person"})
    direct = make_column(pii={**PII, "classification": "direct"})
    for column in (text, person, direct):
        assert not has_cells(column)
        with pytest.raises(ValueError, match="never counted"):
            cell_grid(column, SIZE)
    assert has_cells(make_column(pii=PII))
    assert has_cells(parse(Column, column_fields()))
