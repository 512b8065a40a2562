"""What a model's training would give, asked of a twin: nobody's data, and nothing is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.dataset import Declaration
from domain.training import TrainingRequest, check_training
from dpgate.errors import DpgateError
from dpgate.query_file import TWIN_KEY
from dpgate.training_file import Choice
from privacy.keystream import Keystream
from privacy.loss import MICRO, format_epsilon
from privacy.training import Head, PeopleRows, Trainer
from privacy.training.clipping import clipped_sum
from privacy.training.fixed_point import ONE_ERROR, ONE_INPUT, WEIGHT_BITS, Floats

_MOST = 30 * MICRO
_LEAST = MICRO // 20
_TIMES = 4
_CROWDED = 0.05
"""Below this share of its bounds a feature hardly moves the model."""


@dataclass(frozen=True)
class Tried:
    """A model trained on the twin: the share of rows it has right, or how far off it is.

    `epsilon`, `noise_over_clip` and what moments alone prove of that noise are None where none was added.
    """

    choice: str
    epsilon: str | None
    noise_over_clip: float | None
    epsilon_by_moments: str | None
    score: float


@dataclass(frozen=True)
class Trial:
    """About nobody, and no release. `measure` says what the scores are. Without noise: `constant` says the
    same of everybody, `least_squares` is a linear model."""

    measure: str
    rows: int
    constant: float
    least_squares: float
    tried: tuple[Tried, ...]
    warnings: tuple[str, ...]
    limit: str | None


def try_on_twin(choices: tuple[Choice, ...], declaration: Declaration, twin: Path) -> Trial:
    """The same reading and the same training as on the original data, on a twin's folder.

    One choice is tried at a quarter of its epsilon, at its epsilon and at four times as much, and without
    noise; several at their epsilon. Raises InvalidRequest where the platform would.
    """
    # the engine is slow to import, and only this needs it
    from worker.scan.people_rows import read_people
    from worker.scan.source import plain_file

    for choice in choices:
        check_training(choice.request, declaration)
    request = choices[0].request
    path = twin / request.table(declaration).path
    if not path.is_file():
        raise DpgateError(f"the twin has no {path.name}; fetch it again: dpgate twin {request.dataset}")
    people = read_people(plain_file(path), request, declaration, key=TWIN_KEY)
    if not len(people.targets):
        raise DpgateError(f"no row of {path.name} has all the values that the model needs")
    head = request.model.kind
    return Trial(
        measure="mean distance, of half the range" if head is Head.LINEAR else "share right",
        rows=len(people.targets),
        constant=_constant(people, head),
        least_squares=_least_squares(people, head),
        tried=tuple(_all_tried(choices, declaration, people)),
        warnings=tuple(_warnings(request, declaration, people)),
        limit=request.limit(declaration),
    )


class _WithoutNoise(Trainer):
    """The same steps, clipped and drawn by lot, on a twin alone: private to nobody."""

    def noised_sum(self, weights: Floats, people: PeopleRows, *, keystream: Keystream) -> NDArray[np.int64]:
        total = np.zeros(self.network.size, np.int64)
        rate, norm = self._asked["rate"], self._asked["norm"]
        for part in people.parts(np.flatnonzero(keystream.words(len(people), np.uint32) < rate)):
            layers = self.network.layers(weights, part.inputs, part.targets, part.there)
            total += clipped_sum(layers, norm=norm)
        return total


def _all_tried(choices: tuple[Choice, ...], declaration: Declaration, people: PeopleRows) -> Iterator[Tried]:
    for choice in choices:
        asked = choice.request.micro_epsilon
        ladder = [max(asked // _TIMES, _LEAST), asked, min(_TIMES * asked, _MOST)]
        for micro_epsilon in sorted({*ladder, asked}) if len(choices) == 1 else [asked]:
            epsilon = format_epsilon(micro_epsilon)
            trainer = choice.request.model_copy(update={"epsilon": epsilon}).trainer(declaration)
            noise = trainer.sampled.variance**0.5 / trainer.sampled.norm
            score = _trained_score(trainer, people)
            yield Tried(choice.name, epsilon, noise, trainer.epsilon_by_moments, score)
    if len(choices) == 1:
        trainer = choices[0].request.trainer(declaration)
        same = {field.name: getattr(trainer, field.name) for field in fields(trainer)}
        yield Tried(choices[0].name, None, None, None, _trained_score(_WithoutNoise(**same), people))


def _trained_score(trainer: Trainer, people: PeopleRows) -> float:
    weights = np.rint(np.ldexp(trainer.train(people), WEIGHT_BITS))
    sums = trainer.network.sums(weights, people.inputs[:, None].astype(np.float64))[:, 0]
    return _score(sums, people, trainer.network.head)


def _score(sums: Floats, people: PeopleRows, head: Head) -> float:
    """Of what a model's last sums say of each row."""
    if head is Head.LINEAR:
        return float(np.abs(sums[:, 0] - people.targets / ONE_ERROR).mean())
    said = sums[:, 0] > 0 if head is Head.LOGISTIC else sums.argmax(axis=1)
    return float((said == people.targets).mean())


def _constant(people: PeopleRows, head: Head) -> float:
    """Of whoever says the same of everybody: the commonest category, or the median."""
    if head is Head.LINEAR:
        return float(np.abs(people.targets - np.median(people.targets)).mean() / ONE_ERROR)
    return Counter(people.targets.tolist()).most_common(1)[0][1] / len(people.targets)


def _least_squares(people: PeopleRows, head: Head) -> float:
    """Of the linear model of least squares: of the number, or of each category's 0 and 1."""
    inputs = np.column_stack([people.inputs / ONE_INPUT, np.ones(len(people.inputs))])
    if head is Head.LINEAR:
        wanted: Floats = people.targets[:, None] / ONE_ERROR
    elif head is Head.LOGISTIC:
        wanted = people.targets[:, None].astype(np.float64) * 2 - 1
    else:
        wanted = np.eye(int(people.targets.max()) + 1)[people.targets]
    weights = np.linalg.lstsq(inputs, wanted, rcond=None)[0]
    return _score(inputs @ weights, people, head)


def _warnings(request: TrainingRequest, declaration: Declaration, people: PeopleRows) -> Iterator[str]:
    """Features that their bounds scale badly: what clips and noise treat alike should be as wide."""
    at = 0
    for feature in request.features(declaration):
        if feature.grid is not None:
            low, high = np.quantile(people.inputs[:, at] / ONE_INPUT, (0.05, 0.95))
            share = float(high - low) / 2
            if share < _CROWDED:
                yield (
                    f"{feature.name}: nine tenths of the twin's values lie in {100 * share:.1f} % of its "
                    "bounds; narrower bounds in `features` tell more"
                )
        at += feature.inputs
