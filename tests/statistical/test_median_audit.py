"""T1 and T2 for medians: the exponential mechanism has the stated law and gives away no more than epsilon."""

import math
from fractions import Fraction

import numpy as np
import pytest
from checks import ALPHA, check_uniform
from epsilon_audit import SIZE, check_audit
from release_paths import drawn_in_batches
from scipy import stats

from privacy import discrete_laplace
from privacy.grid import OutputGrid
from privacy.median import noisy_quantile, tally
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(0, 1)
TOP, BOTTOM = GRID.cells, 0
# fewer points on the left of it: the fewer, the nearer is the loss to epsilon, and the rarer to be seen there
LOW = TOP * 3 // 20


def audit(neighbours, *, size=SIZE, **parameters):
    blocks = len(neighbours[0]) // parameters.get("repeats", 1)
    aggregate = SampleAggregate(
        (GRID,), blocks=blocks, micro_epsilon=1_000_000, aggregator="median", **parameters
    )
    with drawn_in_batches(discrete_laplace):
        return check_audit(aggregate, neighbours, size=size)


def test_one_block_moves_the_middle_rank_across_most_of_the_range():
    bound = audit(([(LOW,), (BOTTOM,)], [(LOW,), (TOP,)]))
    assert bound > 0.2, "the audit lost its power"  # 0.5, deviation 0.05


def test_one_person_moves_a_block_of_every_repeat():
    bound = audit(([(LOW,), (BOTTOM,)] * 3, [(LOW,), (TOP,)] * 3), repeats=3)
    assert bound > 0.2, "the audit lost its power"  # 0.5, deviation 0.05


@pytest.mark.parametrize("answer", [TOP, BOTTOM])
def test_one_block_fails_instead_of_answering(answer):
    audit(([(LOW,), None, (LOW,)], [(LOW,), (answer,), (LOW,)]))


def test_failures_and_a_sampling_interval_beside_a_median():
    flip = ([(LOW,), None], [(LOW,), (BOTTOM,)])
    audit(flip, count_failures=True, interval="sampling")


LAWS = [
    ([10, 10, 30, 70, 90], Fraction(1, 2), Fraction(2), 1),
    ([0, 0, 0, 99, 99, 99, 99], Fraction(1, 4), Fraction(1, 2), 1),
    ([50] * 6, Fraction(3, 4), Fraction(3), 2),
    ([5, 95], Fraction(0), Fraction(1), 1),
    ([], Fraction(1, 2), Fraction(1), 1),
]


@pytest.mark.parametrize(("values", "quantile", "epsilon", "sensitivity"), LAWS)
def test_a_quantile_follows_the_exact_law(values, quantile, epsilon, sensitivity):
    """Chi-square over all 100 points of a small grid against weights computed point by point."""
    size = 20_000
    drawn = np.bincount(
        [
            noisy_quantile(
                tally(values), cells=99, quantile=quantile, epsilon=epsilon, sensitivity=sensitivity
            )
            for _ in range(size)
        ],
        minlength=100,
    )
    expected = size * stated_law(values, float(quantile), float(epsilon), sensitivity)
    rare = expected < 50
    counts, law = np.append(drawn[~rare], drawn[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    assert not drawn[expected == 0].any()
    assert stats.chisquare(counts[law > 0], law[law > 0]).pvalue >= ALPHA


def stated_law(values, quantile, epsilon, sensitivity):
    wanted = quantile * len(values)
    weights = []
    for point in range(100):
        below, upto = sum(v < point for v in values), sum(v <= point for v in values)
        weights.append(math.exp(-epsilon / (2 * sensitivity) * max(0.0, below - wanted, wanted - upto)))
    return np.array(weights) / sum(weights)


def test_points_between_two_values_are_equally_likely():
    values = [TOP // 4, TOP // 4, 3 * TOP // 4, 3 * TOP // 4]
    drawn = [
        noisy_quantile(
            tally(values), cells=TOP, quantile=Fraction(1, 2), epsilon=Fraction(100), sensitivity=1
        )
        for _ in range(5_000)
    ]
    check_uniform((np.array(drawn) - TOP // 4) / (TOP // 2))


def test_a_usable_median_is_within_one_block_of_the_truth():
    """The stated threshold: 24 blocks at epsilon 1 and R/s = 6 keep it within s 95 times in 100."""
    rng = np.random.default_rng(5)
    grid = OutputGrid.build(-3, 3)
    aggregate = SampleAggregate((grid,), blocks=24, micro_epsilon=1_000_000, aggregator="median")
    near = 0
    for _ in range(1_000):
        runs = [(grid.snap(float(value)),) for value in rng.normal(0, 1, 24)]
        near += abs(aggregate.release(runs)[0].value) < 1
    # 1000 draws at 95%: at most 905 has probability 3e-9
    assert near > 905
