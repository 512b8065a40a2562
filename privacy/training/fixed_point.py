"""Whole numbers that floats hold exactly, so that no sum depends on its order.

Theorem. Each result of this folder for one person is the same bits, whoever else is in the arrays.
Proof. Arrays of floats hold whole numbers of the units below. Matrix products and sums over rows, inputs or
outputs have partial sums of at most 2^53, in any order, also where a processor multiplies and adds in one
step; these are exact, so neither the order nor the shape matters. Everything else works on each entry by
itself, with +, -, *, /, sqrt, rint, minimum, maximum, ldexp, for each of which IEEE 754 leaves one result; or
is a running sum, whose order is fixed. (`exp` and `tanh` of a library may round the entries at the end of an
array in another way than those in the middle, and are not used.) QED.

    inputs a        units of 2^-12, |a| <= 1     at most 2^12
    weights w       units of 2^-20, |w| <= 16    at most 2^24
    errors e        units of 2^-20, |e| <= 4     at most 2^22
    a w  forward    2^36, times 2^12 inputs      2^48
    e w  backward   2^46, times 2^6 outputs      2^52
    a a  of rows    2^24, times 2^12 inputs      2^36
    e e  of rows    2^44, times 2^6 outputs      2^50
    a e  gradient   2^34, times 2^16 rows        2^50
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INPUT_BITS = 12
WEIGHT_BITS = 20
ERROR_BITS = 20
GRADIENT_BITS = INPUT_BITS + ERROR_BITS

WEIGHT_LIMIT = 16
ERROR_LIMIT = 4

MAX_INPUTS = 2**12 - 1
"""One more is the constant 1, whose weight is the intercept."""
MAX_OUTPUTS = 2**6
MAX_ROWS_AT_ONCE = 2**16

ONE_INPUT = float(2**INPUT_BITS)
ONE_ERROR = float(2**ERROR_BITS)

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490
_LN2_LOW = 1.90821492927058770002e-10
_TERMS = 14


def exp_of_negative(x: Floats) -> Floats:
    """e^x for x <= 0, to a part in 10^14; below -60 as at -60."""
    bounded = np.maximum(x, -60.0)
    halvings = np.rint(bounded * _LOG2_E)
    rest = (bounded - halvings * _LN2_HIGH) - halvings * _LN2_LOW
    power = np.ones_like(rest)
    for term in range(_TERMS, 0, -1):
        power = power * rest / term + 1.0
    return np.ldexp(power, halvings.astype(np.int32))


def tanh_units(x: Floats) -> Floats:
    """tanh in units of inputs."""
    falling = exp_of_negative(-2.0 * np.abs(x))
    return np.copysign(np.rint((1.0 - falling) / (1.0 + falling) * ONE_INPUT), x)


def logistic_units(x: Floats) -> Floats:
    """1/(1 + e^-x) in units of errors."""
    falling = exp_of_negative(-np.abs(x))
    return np.rint(np.where(x < 0, falling, 1.0) / (1.0 + falling) * ONE_ERROR)


def softmax_units(x: Floats) -> Floats:
    """e^x over their sum along the last axis, in units of errors; which is exact in units of 2^-40."""
    powers = np.rint(np.ldexp(exp_of_negative(x - x.max(axis=-1, keepdims=True)), 40))
    shares: Floats = np.rint(powers / powers.sum(axis=-1, keepdims=True) * ONE_ERROR)
    return shares


def bounded_errors(errors: Floats) -> Floats:
    """Whole units of errors within the limit."""
    limit = ERROR_LIMIT * ONE_ERROR
    return np.minimum(np.maximum(np.rint(errors), -limit), limit)


def nearest_weights(weights: Floats) -> Floats:
    """Weights in own units as whole units within the limit."""
    limit = float(WEIGHT_LIMIT * 2**WEIGHT_BITS)
    return np.minimum(np.maximum(np.rint(np.ldexp(weights, WEIGHT_BITS)), -limit), limit)
