"""The inverse question: which epsilon keeps the error of an output within what somebody needs?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from privacy.keystream import Keystream, process_keystream
from privacy.loss import MAX_MICRO_EPSILON, MIN_MICRO_EPSILON
from privacy.partition import block_count
from privacy.preview.bootstrap import draw
from privacy.preview.forecast import REPLAYS
from privacy.preview.replay import Resamples, replay
from privacy.preview.twin import TwinAnswers
from privacy.sample_aggregate import SampleAggregate


def epsilon_for_error(
    asked: SampleAggregate,
    index: int,
    *,
    within_95: float,
    twin: TwinAnswers,
    nominal_size: int,
    block_size: int,
    replays: int = REPLAYS,
    keystream: Keystream | None = None,
) -> int:
    """Micro-epsilon, to two digits, at which 95 in 100 replays end within `within_95` of the twin's number.

    Found by halving, with the aggregator of `asked` and one set of resamples for all steps; noise is drawn
    anew in each, so the answer is good to the 5 % that so many replays leave. Raises ValueError if not even
    the largest epsilon is enough: then the blocks differ too much, or answer beside the whole.
    """
    stream = keystream if keystream is not None else process_keystream()
    sized = replace(asked, blocks=block_count(nominal_size, block_size))
    answers = twin.at(block_size, asked.grids).outputs
    sample = draw(answers, blocks=sized.blocks, replays=replays, keystream=stream)
    resamples = Resamples.of(asked, sample, index)

    def is_enough(micro_epsilon: int) -> bool:
        mechanism = replace(sized, micro_epsilon=micro_epsilon)
        difference = replay(mechanism, resamples, keystream=stream) - twin.numbers[index]
        return bool(np.quantile(np.abs(difference), 0.95) <= within_95)

    candidates = list(_two_digits())
    position = bisect_left(candidates, True, key=is_enough)
    if position == len(candidates):
        raise ValueError(
            "no epsilon reaches this error: what is left comes from the blocks, not from the noise; accept a "
            "larger error, or try another block size."
        )
    return candidates[position]


def _two_digits() -> Iterator[int]:
    """0.001, 0.0011, ..., 990, 1000, in micro-epsilon."""
    decade = MIN_MICRO_EPSILON
    while decade < MAX_MICRO_EPSILON:
        yield from range(decade, 10 * decade, decade // 10)
        decade *= 10
    yield MAX_MICRO_EPSILON
