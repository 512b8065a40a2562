from fractions import Fraction

import pytest

from privacy.block_rules import (
    gaussian_is_narrower,
    median_min_blocks,
    prefers_median,
    recommended_block_size,
    recommended_blocks,
    recommended_repeats,
    resolve_aggregators,
)

ONE = Fraction(1)


def test_block_size(subtests):
    for size, block in ((6, 3), (8, 4), (19, 9), (20, 10), (21, 10), (100_000, 10)):
        with subtests.test(size=size, block=block):
            assert recommended_block_size(size) == block
            assert recommended_blocks(size) == size // block >= 2


def test_too_few_people_for_two_blocks():
    with pytest.raises(ValueError, match="at least 6"):
        recommended_block_size(5)


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
