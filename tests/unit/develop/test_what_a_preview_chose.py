"""What a job takes of a preview: all of it where nothing is typed, and nothing that does not fit the rest."""

from __future__ import annotations

from typing import Any

import pytest

from dpgate.chosen import Chosen

GAUSSIAN = Chosen(
    epsilon="1", block_size=3, aggregator="clipped_mean", noise="gaussian", delta="0.000001", words="told"
)
MEDIAN = Chosen(epsilon="2", block_size=5, aggregator="median", repeats=3)
WITH_DELTA = {"noise": "gaussian", "delta": "0.000001"}

CASES: tuple[tuple[Chosen, dict[str, Any], dict[str, Any]], ...] = (
    (GAUSSIAN, {}, {"epsilon": "1", "block_size": 3, "aggregator": "clipped_mean", **WITH_DELTA}),
    (
        GAUSSIAN,
        {"epsilon": "2"},
        {"epsilon": "2", "block_size": 3, "aggregator": "clipped_mean", **WITH_DELTA},
    ),
    (
        GAUSSIAN,
        {"noise": "laplace", "epsilon": "2"},
        {"epsilon": "2", "block_size": 3, "aggregator": "clipped_mean", "noise": "laplace"},
    ),
    (
        MEDIAN,
        {"interval": "sampling"},
        {"block_size": 5, "aggregator": "median", "repeats": 3} | {"interval": "sampling"},
    ),
    (MEDIAN, {"epsilon": "1", **WITH_DELTA}, {"epsilon": "1", "block_size": 5, "repeats": 3, **WITH_DELTA}),
    (MEDIAN, {"block_size": 4, "epsilon": "1"}, {"block_size": 4, "epsilon": "1"}),
)


@pytest.mark.parametrize(("chosen", "typed", "taken"), CASES)
def test_what_is_typed_goes_before_what_was_recommended(
    chosen: Chosen, typed: dict[str, Any], taken: dict[str, Any]
) -> None:
    assert chosen.with_typed(typed) == taken
