"""The sum of people's gradients, each drawn back into a ball, in whole units.

Un-noised sums must never leave a trainer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privacy.training.fixed_point import MAX_ROWS_AT_ONCE, Floats
from privacy.training.network import Layer

MAX_ROWS = 2**10
"""Most rows of one person."""

_BELOW_ONE = 1 - 2.0**-30
_CANCELLED = 2.0**-30


def clipped_sum(layers: Sequence[Layer], *, norm: int) -> NDArray[np.int64]:
    """The sum over people of c, their summed gradient g drawn back to length C = `norm`, in units of 2^-32.

    With a_r, e_r the inputs and errors of a person's row r in one layer, that layer's part of g is the sum
    over r of their outer products. Let n >= |g| be `_length_above`. If n <= C, c = g. Otherwise each e_r
    becomes rint(s e_r), with s = max(0, C - w) (1 - 2^-30)/n and w at least half the sum over rows and layers
    of |a_r| sqrt(outputs).

    Theorem. c is in Z^d, and |c| <= C. Proof. Products of whole numbers are whole. Where n <= C, |c| = |g|.
    Otherwise s e_r is computed to a part in 2^53, and rint moves it by at most 1/2 in each entry. The first
    moves the layer's part of c by at most s M 2^-53, M the sum of |a_r||e_r|, which all layers together is at
    most s n 2^-38 as n^2 is 2^-30 times the sum of M^2 or more; the second by at most |a_r| sqrt(outputs)/2
    for each row, w in all. So |c| <= s n (1 + 2^-38) + w <= max(0, C - w) + w. That is C; and where w > C,
    s = 0 and c = 0. QED.

    Theorem. c is a function of this person's rows, in their order, and of the weights: `fixed_point` has the
    proof. Their order follows from the rows themselves (`PeopleRows`). So whoever comes or goes moves the sum
    by exactly their own c.
    """
    length = _length_above(layers)
    wobble = _wobble_above(layers)
    room = np.maximum(norm - wobble, 0.0) * _BELOW_ONE
    shrink = np.where(length <= norm, 1.0, room / np.maximum(length, 1.0))
    parts = []
    for layer in layers:
        people, rows, inputs = layer.inputs.shape
        if rows > MAX_ROWS or people * rows > MAX_ROWS_AT_ONCE:
            raise ValueError("platform bug: too many rows at once for exact sums.")
        errors = np.rint(layer.errors * shrink[:, None, None])
        product = layer.inputs.reshape(-1, inputs).T @ errors.reshape(people * rows, -1)
        parts.append(product.ravel().astype(np.int64))
    return np.concatenate(parts)


def _length_above(layers: Sequence[Layer]) -> Floats:
    """n >= |g| of each person, |g|^2 = sum over layers and pairs of rows of (a_r . a_s)(e_r . e_s).

    Both factors are exact; their products and sums are rounded, by less than (rows^2 layers + 2) 2^-53 of
    the sum of their magnitudes, at most 2^-31 for 2^10 rows and 3 layers. That sum is at most the square of
    the sum of the rows' lengths, layer by layer, of which 2^-30 is added. (Goodfellow 2015, "Efficient
    Per-Example Gradient Computations", for one row; the pairs are what several rows of one person need.)
    """
    squares = magnitudes = np.zeros(len(layers[0].inputs))
    for layer in layers:
        pairs = _pairs(layer.inputs) * _pairs(layer.errors)
        squares = squares + _running_sum(pairs.reshape(len(pairs), -1))
        own = np.sqrt(np.diagonal(pairs, axis1=1, axis2=2))
        magnitudes = magnitudes + _running_sum(own) ** 2
    bound: Floats = np.sqrt(np.maximum(squares, 0.0) + _CANCELLED * magnitudes)
    return bound


def _wobble_above(layers: Sequence[Layer]) -> Floats:
    """w of each person, with 2^-30 for its own roundings. The rows of nobody have errors of 0, and none."""
    total = np.zeros(len(layers[0].inputs))
    for layer in layers:
        inputs, errors = layer.inputs, layer.errors
        there = (errors != 0).any(axis=-1)
        lengths = np.sqrt((inputs * inputs).sum(axis=-1)) * there
        total = total + _running_sum(lengths) * (0.5 * errors.shape[-1] ** 0.5 * (1 + _CANCELLED))
    return total


def _pairs(vectors: Floats) -> Floats:
    """Scalar products of all pairs of a person's rows."""
    return vectors @ vectors.transpose(0, 2, 1)


def _running_sum(terms: Floats) -> Floats:
    """The sum along the last axis, from first to last: no other order, and zeros between change nothing."""
    return np.add.accumulate(terms, axis=-1)[..., -1]
