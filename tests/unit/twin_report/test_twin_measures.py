"""The measures of nearness: golden values worked out by hand, and properties that hold for any table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from companions.lab.simulation import seeded
from domain.dataset import Table
from domain.model import parse
from twins.evaluation.association import correlations, cramer_matrix, cramers_v, mean_difference
from twins.evaluation.marginals import TRIPLES, each_group, pairs_of, total_variation, triples_of
from twins.evaluation.moments import cumulatives, log_moments
from twins.evaluation.sheet import Sheet, exact_codes, sheet_of

CELLS = (3, 2, 4)
tables = arrays(np.int64, st.tuples(st.integers(1, 20), st.just(3)), elements=st.integers(0, 1))


def sheet(**columns: list[str]) -> Sheet:
    """Columns whose name starts with w hold words, others numbers."""
    declared = [
        {"name": name, "kind": "categorical", "categories": sorted(set(cells) - {"n/a"})}
        if name.startswith("w")
        else {"name": name, "kind": "number", "lower": -100, "upper": 100, "decimals": 1}
        for name, cells in columns.items()
    ]
    table = parse(Table, {"path": "t.tsv", "columns": [{"name": "who", "kind": "person"}, *declared]})
    people = [f"p{row}" for row in range(len(next(iter(columns.values()))))]
    rows = list(zip(people, *columns.values(), strict=True))
    return sheet_of(table, ["who", *columns], rows)


def test_total_variation_by_hand() -> None:
    first = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 2], [1, 1, 3]])
    second = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [2, 1, 3]])
    # shares of column 0: (1/2, 1/2, 0) and (3/4, 0, 1/4)
    assert total_variation(first, second, CELLS, [0]) == pytest.approx(0.5)
    # pairs (0,0) (0,1) (1,0) (1,1) at 1/4 each; (0,0) 3/4 and (2,1) 1/4
    assert total_variation(first, second, CELLS, [0, 1]) == pytest.approx(0.75)
    assert total_variation(first, second, CELLS, [0, 1, 2]) == pytest.approx(0.75)
    assert total_variation(first, first[::-1], CELLS, [0, 1, 2]) == 0


@settings(max_examples=40)
@given(tables, tables)
def test_total_variation_is_a_distance_and_grows_with_columns(first: np.ndarray, second: np.ndarray) -> None:
    cells = (2, 2, 2)
    one = total_variation(first, second, cells, [0])
    two = total_variation(first, second, cells, [0, 1])
    three = total_variation(first, second, cells, [0, 1, 2])
    assert 0 <= one <= two + 1e-12 <= three + 2e-12 <= 1 + 3e-12
    assert two == pytest.approx(total_variation(second, first, cells, [1, 0]))


def test_total_variation_over_more_cells_than_are_counted_at_once() -> None:
    draws = seeded(3, "codes")
    codes = draws.integers(0, 300, (400, 3))
    many = total_variation(codes[:200], codes[200:], (300, 300, 300), [0, 1, 2])
    keys = [set(map(tuple, part.tolist())) for part in (codes[:200], codes[200:])]
    assert many == pytest.approx(1 - len(keys[0] & keys[1]) / 200, abs=0.02)
    assert total_variation(codes[:0], codes, (300, 300, 300), [0]) == 1
    assert total_variation(codes[:0], codes[:0], (300, 300, 300), [0]) == 0


def test_groups_of_columns() -> None:
    draws = seeded(1, "groups")
    assert pairs_of(4, draws) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert len(pairs_of(100, draws)) == 2000
    assert triples_of(3, draws) == [(0, 1, 2)]
    many = triples_of(30, draws)
    assert len(set(many)) == TRIPLES
    assert all(a < b < c for a, b, c in many)
    assert each_group(np.zeros((2, 3), int), np.zeros((2, 3), int), CELLS, [(0, 1)]).tolist() == [0]


def test_cramers_v_by_hand() -> None:
    equal = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
    independent = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert cramers_v(equal, (2, 2), 0, 1) == pytest.approx(1)
    assert cramers_v(independent, (2, 2), 0, 1) == pytest.approx(0)
    # counts 3 1 / 1 3: chi^2 = 8 * (3*3 - 1*1)^2 / 4^4 = 2, so V = sqrt(2 / 8)
    mixed = np.array([[0, 0]] * 3 + [[0, 1]] + [[1, 0]] + [[1, 1]] * 3)
    assert cramers_v(mixed, (2, 2), 0, 1) == pytest.approx(0.5)
    # empty cells and constant columns are no association
    assert cramers_v(mixed, (9, 9), 0, 1) == pytest.approx(0.5)
    assert cramers_v(np.zeros((5, 2), int), (2, 2), 0, 1) == 0
    assert cramers_v(np.zeros((0, 2), int), (2, 2), 0, 1) == 0


@settings(max_examples=40)
@given(tables)
def test_associations_are_symmetric_shares(codes: np.ndarray) -> None:
    matrix = cramer_matrix(codes, (2, 2, 2), range(3))
    assert np.array_equal(matrix, matrix.T)
    assert matrix.min() >= 0
    assert matrix.max() <= 1
    assert mean_difference(matrix, matrix) == 0


def test_correlations_leave_missing_out() -> None:
    found = correlations(sheet(a=["1", "2", "3", "n/a"], b=["2", "4", "6", "100"], c=["1", "1", "1", "1"]))
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] == found[1, 2] == 0


def test_log_moments_and_cumulative_shares() -> None:
    first, second = sheet(a=["0", "10"], w=["x", "y"]), sheet(a=["10", "30"], w=["x", "x"])
    (found,) = log_moments(first, second)
    assert found.means == pytest.approx((math.log(5), math.log(20)), abs=1e-5)
    assert found.deviations == pytest.approx((math.log(5), math.log(10)), abs=1e-5)
    (sums,) = cumulatives(first, second)
    # just below 10 the first has half of its rows and the second none
    assert sums.largest == pytest.approx(0.5)
    assert sums.first[0] == 0.5
    assert sums.second[-1] == 1
    assert not log_moments(sheet(a=["n/a"]), sheet(a=["1"]))


def test_values_are_equal_as_numbers_and_words() -> None:
    first = sheet(a=["25", "n/a", "x", "inf"], w=["a ", "b", "n/a", ""])
    second = sheet(a=["25.0", "1", "2", "3"], w=["a", "c", "", "b"])
    one, other = exact_codes(first, second)
    assert one[0, 0] == other[0, 0]
    # everything that is no number is one value, and so is everything missing
    assert len(set(one[1:, 0].tolist())) == 1
    assert one[0, 1] == other[0, 1]
    assert one[2, 1] == one[3, 1] == other[2, 1]


def test_a_table_without_a_declared_column_is_refused() -> None:
    age = {"name": "a", "kind": "integer", "lower": 0, "upper": 9}
    table = parse(Table, {"path": "t.tsv", "columns": [{"name": "who", "kind": "person"}, age]})
    with pytest.raises(ValueError, match="no column a"):
        sheet_of(table, ["who"], [["p1"]])
    assert sheet_of(table, ["a", "who"], []).rows == 0
