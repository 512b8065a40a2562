"""Error to expect of what follows from drawn means, replayed on a twin: totals, covariances, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privacy.keystream import Keystream, process_keystream
from privacy.people import Kind, Released, computed
from privacy.preview.bootstrap import draw
from privacy.preview.forecast import REPLAYS, Errors, errors
from privacy.preview.replay import Resamples, Values
from privacy.preview.twin import TwinAnswers
from privacy.sample_aggregate import SampleAggregate

_NOTHING = Fraction(0)


@dataclass(frozen=True)
class Wanted:
    """One result: what it is, the places of its parts among the outputs, the centres of x and y. `truth` is
    what it stands for on the twin, None for what its own formula gives."""

    kind: Kind
    parts: tuple[int, ...]
    centres: tuple[Fraction, ...] = ()
    truth: float | None = None


@dataclass(frozen=True)
class ResultForecast:
    """The result on the whole twin, its errors, and the share of replays that leave it open. An open one
    counts as 0 here."""

    on_twin: float
    error: Errors
    without_noise_95: float
    open_share: float


def forecast_results(
    asked: SampleAggregate,
    wanted: Sequence[Wanted],
    *,
    twin: TwinAnswers,
    nominal_size: int,
    replays: int = REPLAYS,
    keystream: Keystream | None = None,
) -> tuple[ResultForecast, ...]:
    """Every result of `asked`, whose blocks are of one person. Raises ValueError for a result that the twin's
    own numbers leave open: one of its columns does not vary."""
    stream = keystream if keystream is not None else process_keystream()
    answers = twin.at(1, asked.grids)
    if len(answers.outputs) < asked.blocks:
        answers = answers.without_luck(twin.numbers, asked.grids)
    sample = draw(answers.outputs, blocks=asked.blocks, replays=replays, keystream=stream)
    resamples = [Resamples.of(asked, sample, index) for index in range(len(asked.grids))]
    quiet = [each.own_units(each.sums / asked.blocks) for each in resamples]
    noised = _noised(asked, resamples, keystream=stream)
    return tuple(_forecast(each, twin.numbers, quiet, noised, people=nominal_size) for each in wanted)


def _noised(asked: SampleAggregate, resamples: Sequence[Resamples], *, keystream: Keystream) -> list[Values]:
    """The released means of every resample, noised together where their noise is joint."""
    replays = resamples[0].bootstrap.replays
    if asked.joint is None:
        drawn = [
            np.zeros(replays) if noise is None else noise.draw(replays, keystream=keystream)
            for noise in asked.noises
        ]
    else:
        together = iter(asked.joint.draw(replays, keystream=keystream).T)
        drawn = [np.zeros(replays) if noise is None else next(together) for noise in asked.noises]
    return [
        each.own_units((each.sums * asked.repeats + noise) / asked.plan.runs)
        for each, noise in zip(resamples, drawn, strict=True)
    ]


def _forecast(
    wanted: Wanted,
    on_twin: Sequence[float],
    quiet: Sequence[Values],
    noised: Sequence[Values],
    *,
    people: int,
) -> ResultForecast:
    own = _value(wanted, [on_twin[place] for place in wanted.parts], people=people)
    truth = own if wanted.truth is None else wanted.truth
    if truth is None:
        raise ValueError("on the twin one column of a correlation is the same for everybody; name another.")
    loud, still = (
        [_value(wanted, list(row), people=people) for row in np.column_stack([of[p] for p in wanted.parts])]
        for of in (noised, quiet)
    )
    return ResultForecast(
        on_twin=truth,
        error=errors(np.array([value or 0.0 for value in loud]) - truth),
        without_noise_95=errors(np.array([value or 0.0 for value in still]) - truth).within_95,
        open_share=loud.count(None) / len(loud),
    )


def _value(wanted: Wanted, parts: Sequence[float], *, people: int) -> float | None:
    exact = [Released(Fraction(float(part)), _NOTHING) for part in parts]
    return computed(wanted.kind, exact, people=people, centres=wanted.centres).value
