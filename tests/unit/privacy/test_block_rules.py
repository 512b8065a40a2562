from fractions import Fraction

import pytest

from privacy.block_rules import (
    block_sizes_around,
    candidate_block_sizes,
    median_min_blocks,
    prefers_median,
    pull_of_free_slots,
    recommended_repeats,
    resolve_aggregators,
)
from privacy.grid import OutputGrid
from privacy.partition import assign_blocks
from privacy.sample_aggregate import SampleAggregate

ONE = Fraction(1)


@pytest.mark.parametrize(("people", "least", "sizes"), [
    (60, 1, (1, 2, 3, 5, 10, 20)),
    (99, 6, (6, 10, 20)),
    (100, 6, (6, 7, 10, 20, 50)),
    (60, 7, (7, 10, 20)),
    (1_000, 1, (1, 2, 3, 5, 7, 10, 20, 50, 100, 200, 500)),
    (3, 1, (1,)),
    (10, 6, ()),
])  # fmt: skip
def test_sizes_worth_trying_on_a_twin(people, least, sizes):
    assert candidate_block_sizes(people, least=least) == sizes


@pytest.mark.parametrize("percent", [5, 10, 20])
@pytest.mark.parametrize("size", [1, 3])
def test_free_slots_pull_a_mean_to_the_middle(percent, size):
    """Against people dealt into slots, some of which stay free."""
    slots, blocks = 6_000, 6_000 // size
    names = [str(number) for number in range(slots - slots * percent // 100)]
    seated = set(assign_blocks(names, key=bytes(32), blocks=blocks, people=slots))
    expected = float(pull_of_free_slots(size, free=Fraction(percent, 100)))
    assert abs(1 - len(seated) / blocks - expected) < 5 * (expected / blocks) ** 0.5


def test_repeats_for_few_people():
    assert [recommended_repeats(size) for size in (60, 499, 500, 10_000)] == [3, 3, 1, 1]


@pytest.mark.parametrize(("ratio", "blocks"), [(6, 24), (60, 36), (600, 47)])
def test_fewest_blocks_of_a_median_are_those_measured(ratio, blocks):
    """Measured at epsilon 1: 24, 36 and 46 blocks."""
    assert median_min_blocks(ratio, epsilon=ONE) == blocks
    assert median_min_blocks(Fraction(ratio), epsilon=Fraction(1, 2)) in (2 * blocks, 2 * blocks - 1)


@pytest.mark.parametrize(
    ("ratio", "blocks", "median"),
    [
        (600, 46, False),  # not usable yet
        (600, 47, True),
        (19, 100, True),  # a block of 10 people with range 6 sd: the median won from 100 blocks on
        (3, 100, False),  # a tight range: the mean's noise is small already
        (19, 10_000, False),  # so many blocks that the noise of neither matters
    ],
)
def test_which_aggregator_is_expected_to_vary_less(ratio, blocks, median):
    assert prefers_median(ratio, blocks=blocks, epsilon=ONE, of_mean=Fraction(2)) is median


def test_outputs_are_resolved_one_by_one():
    epsilons = (ONE, ONE, Fraction(1, 10))
    assert resolve_aggregators(
        (19, 3, 19), blocks=100, epsilons=epsilons, variances=lambda _: [2 / e**2 for e in epsilons]
    ) == ("median", "clipped_mean", "clipped_mean")


def test_a_median_is_compared_with_the_noise_that_a_mean_would_get():
    """Of ten outputs at a ratio where Laplace noise of each would lose to a median, joint noise wins."""
    grids = (OutputGrid.build(0, 1),) * 10
    chosen = {"blocks": 1_000, "micro_epsilon": 2_000_000, "aggregator": "auto", "people": 1_000}
    found = {
        (ratio, noise): SampleAggregate(grids, spread_ratios=(ratio,) * 10, noise=noise, **chosen)
        for ratio in (9, 15)
        for noise in ("laplace", "auto")
    }
    medians = {key: mechanism.aggregators.count("median") for key, mechanism in found.items()}
    assert medians == {(9, "laplace"): 10, (9, "auto"): 0, (15, "laplace"): 10, (15, "auto"): 10}
    assert found[9, "auto"].resolved_noise == "joint"


def test_whoever_stays_a_mean_is_asked_again_when_others_have_left():
    """Joint noise of fewer means is wider for each of them."""
    asked = []

    def variances(aggregators):
        asked.append(aggregators.count("median"))
        return [Fraction(2 + 20 * aggregators.count("median"))] * 2

    assert resolve_aggregators((40, 6), blocks=100, epsilons=(ONE, ONE), variances=variances) == (
        "median",
        "median",
    )
    assert asked == [0, 1, 2]


@pytest.mark.parametrize(("ran", "sizes"), [
    (10, (2, 3, 5, 10, 20)),
    (1, (1, 2, 3, 5, 10)),
    (7, (3, 5, 7, 10, 20)),
    (500, (50, 100, 200, 500)),
])  # fmt: skip
def test_a_rehearsal_guesses_the_sizes_that_a_preview_tries(ran, sizes):
    assert block_sizes_around(ran, nominal_size=1_000, least=1, most=len(sizes)) == sizes
    tried = candidate_block_sizes(1_000)
    assert {size for size in sizes if size != ran} <= set(tried)
