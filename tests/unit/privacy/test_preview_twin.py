"""What a preview takes from a twin: shares, spread, and block sizes that did not run."""

import math
from statistics import fmean, stdev

import pytest

from privacy.grid import OutputGrid
from privacy.preview import BlockAnswers, TwinAnswers

UNIT = OutputGrid.build(0, 1)
CELLS = UNIT.cells


def test_shares_and_spread():
    answers = BlockAnswers(10, ((0,), (CELLS,), (1000,), (2000,), None))
    assert answers.failed_share == pytest.approx(0.2)
    assert answers.clamped_share(0, UNIT) == pytest.approx(0.5)
    assert answers.spread(0, UNIT) == pytest.approx(stdev([0, CELLS, 1000, 2000, UNIT.middle]) / CELLS)
    assert answers.valid(0) == [0, CELLS, 1000, 2000]


def test_only_blocks_on_a_bound_are_clamped():
    answers = BlockAnswers(10, ((0,), (1,), (CELLS - 1,), (1000,), (CELLS // 2,)))
    assert answers.clamped_share(0, UNIT) == pytest.approx(0.2)


def test_a_twin_whose_blocks_all_failed():
    answers = BlockAnswers(10, (None, None))
    assert (answers.failed_share, answers.clamped_share(0, UNIT), answers.spread(0, UNIT)) == (1.0, 0.0, 0.0)


def test_one_block_shows_no_spread():
    with pytest.raises(ValueError, match="at least two"):
        BlockAnswers(10, ((1,),))


def test_no_block_size_is_no_preview():
    with pytest.raises(ValueError, match="at one block size"):
        TwinAnswers((0.5,), {})


def test_a_size_that_ran_is_taken_as_it_is():
    outputs = ((1,), None, (3,))
    assert TwinAnswers((0.5,), {10: outputs}).at(10, [UNIT]) == BlockAnswers(10, outputs)


def test_a_size_that_did_not_run_is_extrapolated_from_the_nearest():
    """Half the block: spread times sqrt(2), twice as far from the whole; failures stay."""
    centre, whole = CELLS // 2, CELLS / 2 + 4000
    ran = tuple((centre + offset,) for offset in (-900, -300, 300, 900))
    far = ((0,), (CELLS,))
    twin = TwinAnswers((whole / CELLS,), {10: (*ran, None), 100: far})
    found = twin.at(5, [UNIT])
    assert (found.block_size, found.extrapolated_from) == (5, 10)
    assert found.outputs[-1] is None
    assert fmean(found.valid(0)) - whole == pytest.approx(2 * (centre - whole), abs=1)
    assert stdev(found.valid(0)) == pytest.approx(math.sqrt(2) * stdev([-900, -300, 300, 900]), abs=1)
    assert twin.at(60, [UNIT]).extrapolated_from == 100


def test_what_is_extrapolated_is_counted_from_the_lower_bound():
    """A centre 100 units below the whole, whose number is 35 in a range that begins at 20."""
    ages = OutputGrid.build(20, 90)
    whole = ages.snap(35.0)
    found = TwinAnswers((35.0,), {10: ((whole - 100,), (whole - 100,))}).at(5, [ages])
    assert found.valid(0) == [whole - 200] * 2


def test_an_extrapolated_answer_stays_on_the_grid():
    wide = TwinAnswers((0.5,), {12: ((0,), (CELLS,))}).at(3, [UNIT])
    assert wide.outputs == ((0,), (CELLS,))


def test_extrapolating_from_failures_alone_gives_failures():
    assert TwinAnswers((0.5,), {10: (None, None)}).at(5, [UNIT]).outputs == (None, None)


def test_a_part_of_the_blocks_cannot_tell_luck_from_bias():
    """Two standard errors of these four are CELLS // 10: within them the whole twin's number is the mean."""
    step = CELLS // 10
    outputs = tuple((3 * step + away * step,) for away in (-1, 1, -1, 1))
    part = BlockAnswers(10, (*outputs, None))
    near, far = 0.35, 0.6
    moved = part.without_luck([near], [UNIT])
    assert fmean(moved.valid(0)) == pytest.approx(near * CELLS, abs=1)
    assert stdev(moved.valid(0)) == pytest.approx(stdev(part.valid(0)), rel=0.001)
    assert moved.outputs[-1] is None
    assert part.without_luck([far], [UNIT]) == part
    assert BlockAnswers(10, (None, None)).without_luck([near], [UNIT]).valid(0) == []
