"""The forecast of a correlation of two means is the error of releases of such people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.people import Part, Released, computed, square
from privacy.preview.forecast import Errors
from privacy.preview.two_means import beside_luck, forecast_two_means, plain_correlation
from privacy.sample_aggregate import SampleAggregate

PEOPLE = 200
GRID = OutputGrid.build(0, 16)
_NUMBERS = np.random.default_rng(5).multivariate_normal((171, 70), ((81, 54), (54, 144)), PEOPLE)
X, Y = (column.tolist() for column in _NUMBERS.T)
ONE = SampleAggregate((OutputGrid.build(-1, 1),), 20, 2_000_000, noise="auto", people=PEOPLE)


def test_its_error_is_that_of_releases_of_resampled_people() -> None:
    found = forecast_two_means(ONE, X, Y, without=(0,), nominal_size=PEOPLE, replays=1000)
    assert found is not None
    assert found.on_twin == pytest.approx(np.corrcoef(X, Y)[0, 1])
    assert found.centres == pytest.approx((np.mean(X), np.mean(Y)), rel=0.005)
    assert found.spreads == pytest.approx((np.std(X), np.std(Y)), rel=0.005)
    standard = [
        (np.array(each) - c) / s for each, c, s in zip((X, Y), found.centres, found.spreads, strict=True)
    ]
    runs = [
        tuple(GRID.snap(square(float(u), float(sign * v))) for sign in (1, -1))
        for u, v in zip(*standard, strict=True)
    ]
    parts = (Part(is_mean=True, absent=0),) * 2
    release = SampleAggregate((GRID, GRID), PEOPLE, 2_000_000, noise="auto", people=PEOPLE, parts=parts)
    rng, squares = np.random.default_rng(6), []
    for _ in range(150):
        drawn = release.release([runs[place] for place in rng.integers(0, PEOPLE, PEOPLE)])
        means = [Released(each.value, each.half_width_99 or each.value) for each in drawn]
        value = computed("correlation of squares", means, people=PEOPLE).value
        squares.append(((value or 0.0) - found.on_twin) ** 2)
    assert float(np.sqrt(np.mean(squares))) == pytest.approx(found.error.root_mean_square, rel=0.25)


def test_other_outputs_keep_their_share_of_the_noise() -> None:
    errors = []
    for others in (0, 4):
        grids = (OutputGrid.build(-1, 1),) * (others + 1)
        asked = replace(ONE, grids=grids, micro_epsilon=500_000)
        found = forecast_two_means(asked, X, Y, without=(0,), nominal_size=PEOPLE, replays=300)
        assert found is not None
        errors.append(found.error.typical)
    assert errors[1] > 1.3 * errors[0]


def test_what_nobody_can_say_is_not_said() -> None:
    assert plain_correlation([1.0], [2.0]) is None
    assert forecast_two_means(ONE, X, [70.0] * PEOPLE, without=(0,), nominal_size=PEOPLE) is None
    weighted = replace(ONE, weights=(2,))
    assert forecast_two_means(weighted, X, Y, without=(0,), nominal_size=PEOPLE) is None


def test_what_two_choices_share_is_taken_off_both_but_for_a_quarter() -> None:
    def with_error(root_mean_square: float) -> Errors:
        return Errors(0, 0, 0, 0, root_mean_square)

    # luck of .4 is in all three; the last is hardly more than that
    better = beside_luck((with_error(0.5), 0.4 * 1.96), (with_error(0.64), 1.2), (with_error(0.4), 1.0))
    assert better == pytest.approx((0.3, (0.64**2 - 0.16) ** 0.5, 0.1))
