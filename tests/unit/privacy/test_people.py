"""What follows from released means, and what counts for whoever has no number."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import correlation, covariance, fmean
from types import ModuleType
from typing import get_args

import pytest
from mutants import mutant

import privacy.people
from privacy.grid import OutputGrid
from privacy.people import Kind, Part, Released, computed, default_by_rank, square
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(0, 8)
CENTRES = (Fraction(4), Fraction(10))
PEOPLE = 50


def exact(x: Sequence[float], y: Sequence[float], half: Fraction = Fraction(0)) -> list[Released]:
    """The five means of these people, without noise, each said to be good to `half`."""
    u, v = [number - 4 for number in x], [number - 10 for number in y]
    columns = (x, y, [a * b for a, b in zip(u, v, strict=True)], [a * a for a in u], [b * b for b in v])
    return [Released(Fraction(sum(column)) / len(column), half) for column in columns]


def squared(x: Sequence[float], y: Sequence[float], half: Fraction = Fraction(0)) -> list[Released]:
    """The two means of these people, less centres of 4 and 10, in units of 4 and 7."""
    standard = [((a - 4) / 4, (b - 10) / 7) for a, b in zip(x, y, strict=True)]
    means = [[square(u, sign * v) for u, v in standard] for sign in (1, -1)]
    return [Released(Fraction(sum(mean)) / len(mean), half) for mean in means]


def people(seed: int) -> tuple[list[float], list[float]]:
    numbers = random.Random(seed)
    x = [numbers.uniform(0, 8) for _ in range(PEOPLE)]
    return x, [a + numbers.uniform(4, 12) for a in x]


def test_without_noise_the_formulas_are_the_textbooks() -> None:
    x, y = people(1)
    parts = exact(x, y)
    total = computed("total", parts[:1], people=PEOPLE)
    assert total.value == pytest.approx(sum(x))
    found = computed("covariance", parts[:3], people=PEOPLE, centres=CENTRES)
    assert found.value == pytest.approx(covariance(x, y) * (PEOPLE - 1) / PEOPLE)
    assert found.lower_95 == found.upper_95 == found.value
    found = computed("correlation", parts, people=PEOPLE, centres=CENTRES)
    assert found.value == pytest.approx(correlation(x, y))
    assert found.lower_95 == found.upper_95 == found.value
    # of squares: what the textbook says of columns with these centres and one spread
    u, v = [a - fmean(x) for a in x], [b - fmean(y) for b in y]
    scale = math.sqrt(sum(a * a for a in u) / sum(b * b for b in v))
    squares = squared([4 + a for a in u], [10 + 7 * scale * b / 4 for b in v])
    found = computed("correlation of squares", squares, people=PEOPLE)
    assert found.value == pytest.approx(correlation(x, y))
    assert found.lower_95 == found.upper_95 == found.value
    assert [square(3, 0.5), square(3, 1), square(-3, -2), square(2, -2)] == [12.25, 16, 16, 0]


def test_a_correlation_does_not_depend_on_the_units() -> None:
    """Also where a variance is far below one, and its least possible value above nothing, nothing or less."""
    of_means = [Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(1)]
    found = []
    for unit in (Fraction(1), Fraction(1, 1000)):
        sizes = [unit, unit, unit**2, unit**2, unit**2]
        for half in (Fraction(1, 4), Fraction(1), Fraction(3, 2)):
            parts = [
                Released(mean * size, half * size * (place > 1))
                for place, (mean, size) in enumerate(zip(of_means, sizes, strict=True))
            ]
            centres = (Fraction(0), Fraction(0))
            one = computed("correlation", parts, people=PEOPLE, centres=centres)
            found.append(pytest.approx((one.value, one.lower_95, one.upper_95)))
    assert found[:3] == [(0.5, 0.2, 1.0), (0.5, -1.0, 1.0), (0.5, -1.0, 1.0)]
    assert found[3:] == [each.expected for each in found[:3]]
    nothing = [Released(mean, Fraction(0)) for mean in (*of_means[:3], Fraction(0), Fraction(1))]
    assert computed("correlation", nothing, people=PEOPLE, centres=centres).value is None


HALVES = (Fraction(1, 100), Fraction(1, 5), Fraction(2))


def check_intervals(module: ModuleType, kind: Kind, halves: Sequence[Fraction] = HALVES) -> None:
    """What noise within the half widths leaves is in the interval: at every corner of the box of noises, and
    at places inside it."""
    count = {"total": 1, "covariance": 3, "correlation": 5, "correlation of squares": 2}[kind]
    numbers = random.Random(2)
    for half, seed in itertools.product(halves, range(6)):
        means = squared if kind == "correlation of squares" else exact
        true = means(*people(seed), half)[:count]
        truth = computed(kind, true, people=PEOPLE, centres=CENTRES).value
        inside = [[Fraction(numbers.uniform(-1, 1)) for _ in true] for _ in range(10)]
        for signs in (*itertools.product((-1, 1), repeat=count), *inside):
            noised = [
                Released(part.value + sign * half, half) for part, sign in zip(true, signs, strict=True)
            ]
            found = module.computed(kind, noised, people=PEOPLE, centres=CENTRES)
            assert found.lower_95 - 1e-9 <= truth <= found.upper_95 + 1e-9, "the interval misses"


def test_an_interval_holds_what_any_noise_within_the_half_widths_leaves(subtests: pytest.Subtests) -> None:
    for kind in get_args(Kind):
        with subtests.test(kind):
            check_intervals(privacy.people, kind)


STEPS: dict[str, tuple[Kind, str, str]] = {
    "the half width of one person for all": (
        "total", "people * parts[0].half_width_99", "parts[0].half_width_99",
    ),
    "the noise of the product is left out": (
        "covariance", "product.half_width_99 + crossed", "crossed",
    ),
    "the noise of the means is left out": (
        "covariance", "product.half_width_99 + crossed + x", "product.half_width_99 + x",
    ),
    "the noise of one mean is left out": (
        "covariance", "abs(x.value) * y.half_width_99 + abs(y.value)", "abs(y.value)",
    ),
    "the product of both noises is left out": (
        "covariance", " + x.half_width_99 * y.half_width_99", "",
    ),
    "variances are taken to be without noise": (
        "correlation", "least = [spread - width for", "least = [spread for",
    ),
    "large variances for a large correlation": (
        "correlation", "least if high > 0 else most", "most if high > 0 else least",
    ),
    "large variances for a large negative one": (
        "correlation", "least if low < 0 else most", "most",
    ),
    "the smallest correlation has the smallest mean of squares of differences": (
        "correlation of squares", "least[0], most[1]", "least[0], least[1]",
    ),
    "the mean of squares of sums is taken to be without noise": (
        "correlation of squares", "least[0], most[1]", "p, most[1]",
    ),
    "a variance that may be nothing is passed over": (
        "correlation", "if min(least) <= 0:\n        return Computed(best, -1.0, 1.0)",
        "least = [max(each, Fraction(100)) for each in least]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_each_step_of_the_proof_is_needed(step: str) -> None:
    kind, old, new = STEPS[step]
    broken = mutant(privacy.people, old, new, mistake=step)
    with pytest.raises(AssertionError, match="the interval misses"):
        # a correlation near -1 shows what one of .6 does not
        check_intervals(broken, kind) if "negative" not in step else check_negative(broken)


def check_negative(module: ModuleType) -> None:
    half = Fraction(1, 5)
    parts = [Released(Fraction(value), half) for value in (4, 10, -1, 2, 2)]
    found = module.computed("correlation", parts, people=PEOPLE, centres=CENTRES)
    least = -float((1 + half + half**2) / (2 - half - half**2))
    assert found.lower_95 <= least + 1e-9, "the interval misses"


def test_an_interval_of_a_correlation_ends_at_corners_of_its_box() -> None:
    for sign in (1, -1, 0):
        parts = [Released(Fraction(value), Fraction(1, 10)) for value in (4, 10, sign, 2, 2)]
        found = computed("correlation", parts, people=PEOPLE, centres=CENTRES)
        # both means are at their centres: covariance sign +- 0.11, variances 2 +- 0.11
        corners = [(sign + a * 0.11) / (2 + b * 0.11) for a in (-1, 1) for b in (-1, 1)]
        assert found.lower_95 == pytest.approx(min(corners))
        assert found.upper_95 == pytest.approx(max(corners))


def test_what_noise_leaves_open_is_said_to_be_open() -> None:
    parts = [Released(Fraction(value), Fraction(1)) for value in (4, 10, 1, -1, 2)]
    found = computed("correlation", parts, people=PEOPLE, centres=CENTRES)
    assert (found.value, found.lower_95, found.upper_95) == (None, -1, 1)
    parts[3] = Released(Fraction(1, 2), Fraction(1))
    found = computed("correlation", parts, people=PEOPLE, centres=CENTRES)
    assert found.value == pytest.approx(1)
    assert (found.lower_95, found.upper_95) == (-1, 1)
    for squares, ends in (
        ((-1, -2), (None, -1, 1)),
        ((-1, 2), (-1, -1, 1)),
        ((4, 1), (0.6, 0.2, 1)),
        ((0.5, 0.25), (1 / 3, -1, 1)),
        ((-0.5, 2), (-1, -1, -1 / 3)),
    ):
        parts = [Released(Fraction(value), Fraction(1)) for value in squares]
        found = computed("correlation of squares", parts, people=PEOPLE)
        assert (found.value, found.lower_95, found.upper_95) == pytest.approx(ends)


def test_failed_runs_leave_a_quantile_where_it_is() -> None:
    assert [default_by_rank(9, Fraction(1, 2), run) for run in range(4)] == [0, 9, 0, 9]
    for quantile in (Fraction(1, 4), Fraction(9, 10), Fraction(1, 3)):
        for runs in range(1, 200):
            low = sum(default_by_rank(9, quantile, run) == 0 for run in range(runs))
            assert 0 <= low - quantile * runs < 1


def mechanism(parts: tuple[Part, ...], **changed: object) -> SampleAggregate:
    fields = {"blocks": 40, "micro_epsilon": 4_000_000, "people": 40} | changed
    return SampleAggregate(grids=(GRID,) * len(parts), parts=parts, **fields)  # type: ignore[arg-type]


def test_parts_decide_for_their_output_whatever_the_aggregator() -> None:
    parts = (Part(), Part(is_mean=True, absent=7), Part(quantile=Fraction(1, 4)))
    for aggregator, first in (("clipped_mean", "clipped_mean"), ("median", "median")):
        found = mechanism(parts, aggregator=aggregator)
        assert found.aggregators == (first, "clipped_mean", "median")
        assert found.parameters()["aggregators"] == [first, "clipped_mean", "quantile 1/4"]
        assert found.default(3)[1:] == (7, GRID.cells)
        assert found.default(4)[1:] == (7, 0)
    assert mechanism(parts[:1]).quantile(0) == Fraction(1, 2)


def test_a_quantile_of_many_people_lies_where_it_should() -> None:
    parts = (Part(quantile=Fraction(1, 10)), Part(quantile=Fraction(9, 10)))
    found = mechanism(parts, blocks=400, people=400)
    outputs = [(GRID.cells * run // 400,) * 2 for run in range(400)]
    low, high = found.release(outputs)
    assert 0.4 < low.value < 1.2
    assert 6.8 < high.value < 7.6
    assert (low.half_width_95, low.noise_scale) == (None, None)


REFUSED = (
    ((Part(quantile=Fraction(1, 4)),), {"atto_delta": 10**12, "noise": "auto"}, "has no use for a delta"),
    ((Part(quantile=Fraction(1, 4)),), {"interval": "sampling"}, "is for means and medians"),
    ((Part(absent=GRID.cells + 1),), {}, "must be a point of the grid"),
)


def test_parts_that_do_not_fit_are_refused(subtests: pytest.Subtests) -> None:
    for parts, changed, words in REFUSED:
        with subtests.test(words), pytest.raises(ValueError, match=words):
            mechanism(parts, **changed)
    with pytest.raises(ValueError, match="one entry per output"):
        SampleAggregate(grids=(GRID,), blocks=4, micro_epsilon=1_000_000, parts=(Part(), Part()))
    for quantile in (0, 1, Fraction(3, 2)):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            Part(quantile=Fraction(quantile))
    with pytest.raises(ValueError, match="a quantile is no mean"):
        Part(quantile=Fraction(1, 2), is_mean=True)
