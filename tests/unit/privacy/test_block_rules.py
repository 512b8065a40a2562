from fractions import Fraction

import pytest

from privacy.block_rules import (
    candidate_block_sizes,
    gaussian_is_narrower,
    median_min_blocks,
    prefers_median,
    pull_of_free_slots,
    recommended_block_size,
    recommended_blocks,
    recommended_repeats,
    resolve_aggregators,
)
from privacy.partition import assign_blocks

ONE = Fraction(1)


def test_block_size(subtests):
    for size, block in ((2, 1), (5, 2), (6, 3), (8, 4), (19, 9), (20, 10), (21, 10), (100_000, 10)):
        with subtests.test(size=size, block=block):
            assert recommended_block_size(size) == block
            assert recommended_blocks(size) == size // block >= 2


def test_too_few_people_for_two_blocks():
    with pytest.raises(ValueError, match="at least 2"):
        recommended_block_size(1)


@pytest.mark.parametrize(("people", "least", "sizes"), [
    (60, 1, (1, 2, 3, 5, 10, 20)),
    (60, 7, (7, 10, 20)),
    (1_000, 1, (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)),
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
    assert [recommended_repeats(size) for size in (60, 199, 200, 10_000)] == [3, 3, 1, 1]


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
    assert prefers_median(ratio, blocks=blocks, epsilon=ONE) is median


def test_outputs_are_resolved_one_by_one():
    epsilons = (ONE, ONE, Fraction(1, 10))
    assert resolve_aggregators((19, 3, 19), blocks=100, epsilons=epsilons) == (
        "median",
        "clipped_mean",
        "clipped_mean",
    )


@pytest.mark.parametrize(("atto_delta", "first"), [(10**12, 9), (10**9, 15)])
def test_gaussian_noise_is_narrower_from_some_number_of_outputs_on(atto_delta, first):
    narrower = [
        gaussian_is_narrower(outputs, epsilon=ONE, atto_delta=atto_delta) for outputs in range(1, 101)
    ]
    assert narrower == [outputs >= first for outputs in range(1, 101)]


def test_gaussian_noise_that_cannot_be_stated_is_not_narrower():
    assert not gaussian_is_narrower(100, epsilon=Fraction(1, 10**6), atto_delta=1)
