"""What is said of a twin before anything is spent."""

import math

import numpy as np
import pytest
from twin_tables import totals_of_array

from privacy.loss import MICRO
from privacy.twin import ColumnCounts, draw_rows, predicted_tv1, suggested_level


@pytest.mark.parametrize(
    ("cells", "size", "epsilon", "rows", "predicted"),
    [
        ([10] * 15, 1_000, 1, 1, 0.075),
        ([20, 10], 300, 10, 1, 0.005),
        ([20, 10], 300, 10, 4, 0.02),
        ([10] * 20, 60, 1, 1, 1.0),
        ([10] * 17, 60, 10, 1, 170 / 1200),
    ],
)
def test_predicted(cells, size, epsilon, rows, predicted):
    told = predicted_tv1(cells, nominal_size=size, micro_epsilon=epsilon * MICRO, rows=rows)
    assert math.isclose(told, predicted)


@pytest.mark.parametrize(("n", "epsilon"), [(1_000, 1), (5_000, 1), (300, 10)])
def test_the_prediction_is_within_a_factor_of_two(n, epsilon):
    rng = np.random.default_rng(3)
    cells = (20, 9, 16, 7, 15, 6, 5, 2)
    rows = np.stack([rng.choice(count, n, p=rng.dirichlet(np.ones(count))) for count in cells], axis=1)
    mechanism = ColumnCounts(cells, epsilon * MICRO)
    measured = []
    for seed in range(5):
        twin = draw_rows(mechanism.release(totals_of_array(mechanism, rows)), n, seed=seed)
        measured += [
            np.abs(np.bincount(twin[:, j], minlength=c) - np.bincount(rows[:, j], minlength=c)).sum() / 2 / n
            for j, c in enumerate(cells)
        ]
    predicted = predicted_tv1(cells, nominal_size=n, micro_epsilon=epsilon * MICRO)
    assert predicted <= 0.2
    assert predicted / 2 < np.mean(measured) < predicted * 2


SUGGESTED_LEVEL = (
    ((10,) * 15, 32_561, 1, 1, 2, "32561 rows at epsilon 1 carry the counts of columns and of their"),
    ((10,) * 15, 5_000, 1, 1, 2, "strongest pairs"),
    ((10,) * 15, 4_999, 1, 1, 1, "but no pairs"),
    ((10,) * 4, 500, 1, 1, 1, "each column's counts"),
    ((10,) * 4, 499, 1, 1, 0, "too little"),
    ((10,) * 4, 2_000, 1, 5, 0, "too little"),
    ((10,) * 4, 500, 9.99, 1, 1, "but no pairs"),
    ((10,) * 4, 500, 10, 1, 2, "strongest pairs"),
    ((10,) * 17, 60, 10, 1, 1, "but no pairs"),
    ((10,) * 19, 60, 10, 1, 0, "the predicted error of a column is 0.16, above 0.15"),
    ((10,), 32_561, 1, 1, 1, "one column has no pairs"),
    ((2,) * 61, 32_561, 1, 1, 1, "patterns take up to 60 columns, and these are 61"),
)


def test_suggested_level(subtests):
    for cells, size, epsilon, rows, level, why in SUGGESTED_LEVEL:
        with subtests.test(cells=cells, size=size, epsilon=epsilon, rows=rows, level=level, why=why):
            suggestion = suggested_level(
                cells, nominal_size=size, micro_epsilon=int(epsilon * MICRO), rows=rows
            )
            assert suggestion.level == level
            assert why in suggestion.why


@pytest.mark.parametrize(
    ("cells", "size", "micro_epsilon", "message"),
    [
        ((), 100, MICRO, "takes 1 to 5000 columns"),
        ((0,), 100, MICRO, "1 to 1000 cells"),
        ((5,), 0, MICRO, "the declared number of rows must be at least 1"),
        ((5,), 100, 0, "epsilon must be above zero"),
    ],
)
def test_what_no_twin_can_have_is_refused(cells, size, micro_epsilon, message):
    with pytest.raises(ValueError, match=message):
        suggested_level(cells, nominal_size=size, micro_epsilon=micro_epsilon)
