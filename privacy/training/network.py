"""The models that can be trained: linear, logistic and softmax regression, perceptrons with tanh layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from privacy.keystream import Keystream
from privacy.training.fixed_point import (
    INPUT_BITS,
    MAX_INPUTS,
    MAX_OUTPUTS,
    ONE_ERROR,
    ONE_INPUT,
    WEIGHT_BITS,
    Floats,
    bounded_errors,
    logistic_units,
    nearest_weights,
    softmax_units,
    tanh_units,
)

MAX_HIDDEN_LAYERS = 2
_SUM_BITS = INPUT_BITS + WEIGHT_BITS


class Head(StrEnum):
    """What the last layer's sums stand for, and with them the loss."""

    LINEAR = "linear"  # a number; half the squared distance, beyond a distance of 4 the distance itself
    LOGISTIC = "logistic"  # the log-odds of the second of two classes; cross-entropy
    SOFTMAX = "softmax"  # log-probabilities of classes, up to a constant; cross-entropy


@dataclass(frozen=True)
class Layer:
    """What one layer's gradient is made of: row r contributes the outer product of both, whole numbers.

    `inputs` are (people, rows, inputs + 1), the last one the constant 1; `errors` are (people, rows,
    outputs), the derivative of the row's loss by the layer's sums.
    """

    inputs: Floats
    errors: Floats


@dataclass(frozen=True)
class Network:
    """Public shape of a model. Raises ValueError that names the parameter and the fix."""

    inputs: int
    head: Head
    outputs: int = 1
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.inputs <= MAX_INPUTS:
            raise ValueError(f"a model takes 1 to {MAX_INPUTS} inputs; choose fewer features.")
        if len(self.hidden) > MAX_HIDDEN_LAYERS or not all(1 <= size <= MAX_OUTPUTS for size in self.hidden):
            raise ValueError(f"a model has up to {MAX_HIDDEN_LAYERS} hidden layers of 1 to {MAX_OUTPUTS}.")
        if self.head is Head.SOFTMAX:
            if not 2 <= self.outputs <= MAX_OUTPUTS:
                raise ValueError(f"softmax takes 2 to {MAX_OUTPUTS} classes.")
        elif self.outputs != 1:
            raise ValueError(f"{self.head} has one output.")

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Of each layer's weights; the last row is the intercept's."""
        return tuple(
            (before + 1, after) for before, after in pairwise((self.inputs, *self.hidden, self.outputs))
        )

    @property
    def size(self) -> int:
        """How many weights there are."""
        return sum(before * after for before, after in self.shapes)

    def split(self, weights: Floats) -> Iterator[Floats]:
        """A flat vector of weights as one matrix for each layer."""
        start = 0
        for before, after in self.shapes:
            yield weights[start : start + before * after].reshape(before, after)
            start += before * after

    def first_weights(self, *, keystream: Keystream) -> Floats:
        """Zeros where nothing is hidden; else uniform within sqrt(6/(inputs + outputs)) of each layer.

        (Glorot, Bengio 2010.) They are drawn before data are read.
        """
        if not self.hidden:
            return np.zeros(self.size)
        parts = []
        for before, after in self.shapes:
            uniform = keystream.words(before * after, np.uint32) / 2.0**31 - 1.0
            part = (uniform * (6 / (before - 1 + after)) ** 0.5).reshape(before, after)
            part[-1] = 0
            parts.append(part.ravel())
        return nearest_weights(np.concatenate(parts))

    def sums(self, weights: Floats, inputs: Floats) -> Floats:
        """The last layer's sums in own units, for inputs in units of (people, rows, inputs)."""
        *_, (_, sums) = self._forward(list(self.split(weights)), inputs)
        return sums

    def layers(self, weights: Floats, inputs: Floats, targets: Floats, there: Floats) -> list[Layer]:
        """What the gradient of each row's loss is made of, layer by layer.

        `targets` are (people, rows): the number of the class, or for a linear head the value in units of
        errors. `there` is 1 for rows that people have, 0 for what fills up, which contributes nothing.
        """
        matrices = list(self.split(weights))
        passed = list(self._forward(matrices, inputs))
        errors = self._last_errors(passed[-1][1], targets) * there[..., None]
        found = [Layer(passed[-1][0], errors)]
        for position in range(len(matrices) - 1, 0, -1):
            activations = passed[position][0][..., :-1]
            back = _product(errors, matrices[position][:-1].T)
            # tanh' = 1 - tanh^2; both factors are whole numbers, and each product is rounded by itself
            slopes = ONE_INPUT**2 - activations * activations
            errors = bounded_errors(np.ldexp(back * slopes, -WEIGHT_BITS - 2 * INPUT_BITS))
            found.append(Layer(passed[position - 1][0], errors))
        return found[::-1]

    def _forward(self, matrices: list[Floats], inputs: Floats) -> Iterator[tuple[Floats, Floats]]:
        """The inputs of each layer, with the constant, and its sums in own units."""
        for position, matrix in enumerate(matrices):
            with_one = np.concatenate([inputs, np.full((*inputs.shape[:-1], 1), ONE_INPUT)], axis=-1)
            sums = np.ldexp(_product(with_one, matrix), -_SUM_BITS)
            yield with_one, sums
            if position < len(matrices) - 1:
                inputs = tanh_units(sums)

    def _last_errors(self, sums: Floats, targets: Floats) -> Floats:
        if self.head is Head.LINEAR:
            return bounded_errors(np.rint(sums * ONE_ERROR) - targets[..., None])
        if self.head is Head.LOGISTIC:
            return logistic_units(sums) - targets[..., None] * ONE_ERROR
        chosen = targets[..., None] == np.arange(self.outputs)
        errors: Floats = softmax_units(sums) - chosen * ONE_ERROR
        return errors


def _product(rows: Floats, matrix: Floats) -> Floats:
    """All rows of all people times one matrix: one product of matrices, exact whatever its shape."""
    found: Floats = (rows.reshape(-1, rows.shape[-1]) @ matrix).reshape(*rows.shape[:-1], -1)
    return found
