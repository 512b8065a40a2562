"""Each number of the demo lies within its interval about 95 times in 100; benchmarks/demo.py asks on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from demo_answers import Coverage, few_coverage, pipeline_coverage, query_coverage


@pytest.mark.parametrize(
    ("experiment", "times", "least"),
    [
        (query_coverage, 200, 176),  # fewer of 200 at 95 % has probability 3e-5
        (pipeline_coverage, 20, 13),  # fewer of 20: 3e-6
        (few_coverage, 200, 176),
    ],
)
def test_intervals_of_the_demo_hold_the_truth(
    experiment: Callable[[int], list[Coverage]], times: int, least: int
):
    for number in experiment(times):
        assert number.held >= least, number
