"""A model to be trained, on the researcher's disk, and what its training would give on a twin."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from domain.dataset import Declaration
from domain.model import parse
from domain.training import TrainingRequest, check_training
from dpgate.errors import DpgateError
from dpgate.query_file import TWIN_KEY, load_query
from privacy.loss import MICRO, format_epsilon
from privacy.training import Head, PeopleRows, Trainer
from privacy.training.fixed_point import ONE_ERROR, WEIGHT_BITS

_MOST = 30 * MICRO
_TIMES = 8


@dataclass(frozen=True)
class Tried:
    """A model trained on the twin at one epsilon: the share of rows it has right, or how far off it is."""

    epsilon: str
    noise_over_clip: float
    score: float


@dataclass(frozen=True)
class Trial:
    """About nobody, and no release. `measure` says what the scores are."""

    measure: str
    rows: int
    baseline: float
    tried: tuple[Tried, ...]
    limit: str | None


def build_training_request(
    text: str, *, dataset: str, epsilon: str, delta: str, project: str | None = None
) -> dict[str, Any]:
    """The body of a request, its form checked here first. Raises InvalidRequest naming a wrong field."""
    request = {"dataset": dataset, "model": load_query(text), "epsilon": epsilon, "delta": delta}
    request |= {"project": project} if project else {}
    parse(TrainingRequest, request)
    return request


def try_on_twin(request: TrainingRequest, declaration: Declaration, twin: Path) -> Trial:
    """The same reading and the same training as on the original data, on a twin's folder: at the epsilon
    asked for, and at eight times as much, for comparison.

    Raises InvalidRequest where the platform would.
    """
    # the engine is slow to import, and only this needs it
    from worker.scan.people_rows import read_people
    from worker.scan.source import plain_file

    check_training(request, declaration)
    path = twin / request.table(declaration).path
    if not path.is_file():
        raise DpgateError(f"the twin has no {path.name}; fetch it again: dpgate twin {request.dataset}")
    people = read_people(plain_file(path), request, declaration, key=TWIN_KEY)
    if not len(people.targets):
        raise DpgateError(f"no row of {path.name} has all the values that the model needs")
    asked = request.micro_epsilon
    ladder = dict.fromkeys((asked, max(asked, min(_TIMES * asked, _MOST))))
    return Trial(
        measure="mean distance, of half the range" if request.model.kind is Head.LINEAR else "share right",
        rows=len(people.targets),
        baseline=_baseline(people, request.model.kind),
        tried=tuple(_tried(request, declaration, people, micro_epsilon) for micro_epsilon in ladder),
        limit=request.limit(declaration),
    )


def _tried(
    request: TrainingRequest, declaration: Declaration, people: PeopleRows, micro_epsilon: int
) -> Tried:
    epsilon = format_epsilon(micro_epsilon)
    trainer = request.model_copy(update={"epsilon": epsilon}).trainer(declaration)
    noise = trainer.sampled.variance**0.5 / trainer.sampled.norm
    return Tried(epsilon, noise, _score(trainer, people))


def _score(trainer: Trainer, people: PeopleRows) -> float:
    weights = np.rint(np.ldexp(trainer.train(people), WEIGHT_BITS))
    sums = trainer.network.sums(weights, people.inputs[:, None].astype(np.float64))[:, 0]
    if trainer.network.head is Head.LINEAR:
        return float(np.abs(sums[:, 0] - people.targets / ONE_ERROR).mean())
    said = sums[:, 0] > 0 if trainer.network.head is Head.LOGISTIC else sums.argmax(axis=1)
    return float((said == people.targets).mean())


def _baseline(people: PeopleRows, head: Head) -> float:
    """Of whoever says the same of everybody: the commonest category, or the median."""
    if head is Head.LINEAR:
        return float(np.abs(people.targets - np.median(people.targets)).mean() / ONE_ERROR)
    return Counter(people.targets.tolist()).most_common(1)[0][1] / len(people.targets)
