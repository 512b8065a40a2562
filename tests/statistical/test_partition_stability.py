"""T7 of the privacy design: one person is in one block, and reaches no other."""

from checks import check_partition, check_sum_moves_by_one_range

from privacy.grid import OutputGrid
from privacy.partition import assign_blocks
from privacy.sample_aggregate import SampleAggregate


def test_one_person_changes_one_block():
    check_partition(assign_blocks)


def test_one_person_moves_a_sum_by_at_most_its_range():
    grids = (OutputGrid.build(0, 1), OutputGrid.build(-100, 250))
    check_sum_moves_by_one_range(assign_blocks, SampleAggregate(grids, blocks=5, micro_epsilon=1_000_000))
