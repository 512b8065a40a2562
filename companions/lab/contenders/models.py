"""Logistic models of invented people: trained without privacy, as the seed's notebook did, and by ours.

The notebook's mistake: it clips the mean gradient of a batch, which bounds nobody's part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from companions.lab.simulation import Generator
from privacy.cost import ATTO
from privacy.keystream import process_keystream
from privacy.loss import MICRO
from privacy.training import Head, Network, PeopleRows, Trainer
from privacy.training.fixed_point import GRADIENT_BITS, ONE_INPUT, WEIGHT_BITS, nearest_weights

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

DELTA = 1e-5
RATE = 0.5
TENSORS = 8
STEP = 1e-4
"""Of the notebook's optimiser, about: small, so that noise does not hide whom a step was about."""


@dataclass(frozen=True)
class People:
    """Inputs within -1..1 in whole units of 2^-12, and classes 0 and 1."""

    inputs: Values
    classes: NDArray[np.int32]

    def knows(self, weights: Values) -> Values:
        """The log-odds that a model gives to the true class of each."""
        sums = self.inputs @ weights[:-1] + weights[-1]
        return np.where(self.classes == 1, sums, -sums)

    def kept(self, chosen: Flags) -> People:
        return People(self.inputs[chosen], self.classes[chosen])


def invented(people: int, columns: int, generator: Generator) -> People:
    """Classes that follow from the inputs, for seven in ten."""
    inputs = np.rint(generator.uniform(-1, 1, (people, columns)) * ONE_INPUT) / ONE_INPUT
    told = inputs @ generator.normal(size=columns) > 0
    turned = generator.random(people) < 0.3
    return People(inputs, (told ^ turned).astype(np.int32))


def without_privacy(people: People, *, steps: int) -> Values:
    """All people in each step, nothing clipped, no noise."""
    inputs, weights = _with_one(people.inputs), np.zeros(people.inputs.shape[1] + 1)
    for _ in range(steps):
        weights -= 4 * RATE * inputs.T @ (_shares(inputs @ weights) - people.classes) / len(inputs)
    return weights


@lru_cache(maxsize=8)
def trainer(columns: int, *, people: int, batch: int, steps: int, epsilon: float) -> Trainer:
    """The platform's, for so many people."""
    return Trainer(
        Network(columns, Head.LOGISTIC),
        nominal_size=people,
        batch=batch,
        steps=steps,
        clip=Fraction(1),
        micro_epsilon=round(epsilon * MICRO),
        atto_delta=round(DELTA * ATTO),
        learning_rate=RATE,
        average=False,
    )


def rows_of(people: People) -> PeopleRows:
    inputs = np.rint(people.inputs * ONE_INPUT).astype(np.int16)
    return PeopleRows(inputs, people.classes, np.arange(len(inputs) + 1))


def seen_in_steps(ours: Trainer, people: People) -> Values:
    """The sum of all that the steps of the platform's training release, for whom each is shown."""
    rows, stream = rows_of(people), process_keystream()
    weights, seen = np.zeros(ours.network.size), np.zeros(ours.network.size)
    for _ in range(ours.steps):
        gradient = np.ldexp(ours.noised_sum(weights, rows, keystream=stream).astype(float), -GRADIENT_BITS)
        seen += gradient
        weights = nearest_weights(np.ldexp(weights, -WEIGHT_BITS) - RATE * gradient / ours.batch)
    return seen


def seen_in_batches(
    people: People, canaries: int, *, batch: int, epochs: int, noise: float, generator: Generator
) -> Values:
    """The notebook's training: of each of the first people, what their own column got in the steps with them.

    Its network has eight tensors, each clipped and noised by itself: here eight equal linear ones. Whose turn
    it is in a step is what a shuffle from a fixed seed tells. A last batch of fewer is left out.
    """
    inputs, weights = people.inputs, np.zeros((TENSORS, people.inputs.shape[1]))
    seen = np.zeros(canaries)
    for _ in range(epochs):
        order = generator.permutation(len(inputs))
        for start in range(0, len(order) - batch + 1, batch):
            chosen = order[start : start + batch]
            errors = _shares(inputs[chosen] @ weights.sum(axis=0)) - people.classes[chosen]
            gradient = inputs[chosen].T @ errors / batch
            clipped = gradient * min(1.0, 1.0 / (float(np.linalg.norm(gradient)) + 1e-10))
            noised = clipped + generator.normal(0.0, noise, weights.shape)
            weights = weights - STEP * noised
            known = chosen[chosen < canaries]
            seen[known] += noised[:, known].sum(axis=0)
    return seen


def _with_one(inputs: Values) -> Values:
    return np.column_stack([inputs, np.ones(len(inputs))])


def _shares(sums: Values) -> Values:
    shares: Values = 1 / (1 + np.exp(-np.clip(sums, -30, 30)))
    return shares
