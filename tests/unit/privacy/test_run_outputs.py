import re

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.run_outputs import check_grids, check_run_outputs, middle

UNIT = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-3, 3)
GRIDS = (UNIT, WIDE)


def test_points_of_the_grids_and_failures_pass():
    check_run_outputs([(0, 0), None, (UNIT.cells, WIDE.cells)], grids=GRIDS, runs=3)


ANYTHING_ELSE_IS_REFUSED_WITHOUT_QUOTING_IT = (
    (0,),
    (0, 0, 0),
    (),
    (-1, 0),
    (0, WIDE.cells + 1),
    (0.0, 0),
    (True, 0),
    (np.int64(123456), 0),
    (None, 0),
)


def test_anything_else_is_refused_without_quoting_it(subtests):
    for last in ANYTHING_ELSE_IS_REFUSED_WITHOUT_QUOTING_IT:
        with subtests.test(last=last):
            with pytest.raises(ValueError, match="platform bug") as refusal:
                check_run_outputs([(0, 0), last], grids=GRIDS, runs=2)
            assert not re.search(r"\d", str(refusal.value))


@pytest.mark.parametrize("outputs", [[], [(0, 0)], [(0, 0)] * 3])
def test_one_entry_per_run(outputs):
    with pytest.raises(ValueError, match="number of runs"):
        check_run_outputs(outputs, grids=GRIDS, runs=2)


def test_one_to_twenty_numbers():
    check_grids((UNIT,))
    check_grids((UNIT,) * 20)
    for grids in [(), (UNIT,) * 21]:
        with pytest.raises(ValueError, match="1 to 20"):
            check_grids(grids)


def test_middle_is_the_middle_of_every_range():
    assert middle(GRIDS) == (UNIT.cells // 2, WIDE.cells // 2)
