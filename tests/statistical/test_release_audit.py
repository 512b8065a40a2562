"""T2 of the privacy design: nobody can prove more than the claimed epsilon from the whole release path."""

import pytest
from epsilon_audit import LARGE, SIZE, check_audit
from release_paths import drawn_in_batches

from privacy import discrete_laplace
from privacy.grid import OutputGrid
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(0, 1)
TOP, BOTTOM = GRID.cells, 0


def audit(neighbours, *, outputs=1, size=SIZE, **parameters):
    blocks = len(neighbours[0]) // parameters.get("repeats", 1)
    aggregate = SampleAggregate((GRID,) * outputs, blocks=blocks, micro_epsilon=1_000_000, **parameters)
    with drawn_in_batches(discrete_laplace):
        return check_audit(aggregate, neighbours, size=size)


def test_one_block_flips_between_the_bounds():
    bound = audit(([(TOP,), (BOTTOM,)], [(BOTTOM,), (BOTTOM,)]))
    assert bound > 0.4, "the audit lost its power"  # 0.67, deviation 0.04


def test_one_block_flips_all_of_its_outputs():
    # each output proves half of epsilon; only both together prove more
    flip = ([(TOP, TOP), (BOTTOM, BOTTOM)], [(BOTTOM, BOTTOM), (BOTTOM, BOTTOM)])
    bound = audit(flip, outputs=2, size=LARGE)
    assert bound > 0.35, "the audit lost its power"  # 0.64, deviation 0.05


def test_outputs_of_unequal_weight():
    # three quarters of epsilon stand behind the second output: 0.44, deviation 0.04
    flip = ([(BOTTOM, TOP), (BOTTOM, BOTTOM)], [(BOTTOM, BOTTOM), (BOTTOM, BOTTOM)])
    assert 0.24 < audit(flip, outputs=2, weights=(1, 3)) < 0.75


def test_one_person_flips_a_block_of_every_repeat():
    bound = audit(([(TOP,), (BOTTOM,)] * 2, [(BOTTOM,), (BOTTOM,)] * 2), repeats=2)
    assert bound > 0.4, "the audit lost its power"  # 0.67, deviation 0.045


@pytest.mark.parametrize("answer", [TOP, BOTTOM])
def test_one_block_fails_instead_of_answering(answer):
    # the default lies in the middle: half of the range, half of the loss
    bound = audit(([(TOP,), (TOP,), None], [(TOP,), (TOP,), (answer,)]))
    assert bound < 0.5


def test_one_block_fails_where_failures_are_counted():
    flip = ([(BOTTOM,), None, (BOTTOM,)], [(BOTTOM,), (TOP,), (BOTTOM,)])
    audit(flip, count_failures=True)


def test_one_block_flips_where_a_sampling_interval_is_released():
    audit(([(TOP,), (BOTTOM,)], [(BOTTOM,), (BOTTOM,)]), interval="sampling")


def test_precomputed_block_outputs_end_to_end():
    blocks = [(GRID.snap(i / 30),) for i in range(29)]
    audit(([*blocks, (TOP,)], [*blocks, (BOTTOM,)]), size=2_000)
