"""T7 of the privacy design: one person is in one block of each repeat, and reaches no other."""

import pytest
from person_checks import check_partition, check_repeats_are_unrelated, check_sum_moves_by_one_range

from privacy.grid import OutputGrid
from privacy.partition import assign_blocks
from privacy.sample_aggregate import SampleAggregate

GRIDS = (OutputGrid.build(0, 1), OutputGrid.build(-100, 250))


def test_one_person_is_in_one_block():
    check_partition(assign_blocks)


def test_one_person_is_in_one_of_thousands_of_blocks():
    check_partition(assign_blocks, least_blocks=2, most_blocks=5_000)


def test_repeats_are_unrelated_partitions():
    check_repeats_are_unrelated(assign_blocks)


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("aggregator", ["clipped_mean", "median"])
def test_one_person_moves_no_aggregate_by_more_than_the_sensitivity(aggregator, repeats):
    aggregate = SampleAggregate(
        GRIDS, blocks=5, people=13, micro_epsilon=1_000_000, repeats=repeats, aggregator=aggregator
    )
    check_sum_moves_by_one_range(assign_blocks, aggregate)
