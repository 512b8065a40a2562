"""Floating-point attacks: the low bits of a float tell which value the noise was added to.

Two of them, each on one release, with 0 and 1 as the two values that it may have been. A hit is an output
that one of the two cannot give: whoever sees it knows the answer for certain, at every epsilon."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

UNIFORM_BITS = 53
"""numpy draws its uniform as a multiple of 2^-53."""

_NEIGHBOURS = 6
"""Uniforms tried on either side of the inverse. Rounding moves it by less than three: the output is known
to half an ulp, which is at most |z|/2 steps times exp(-|z|) for noise z, and exp and log are good to an ulp
each."""


def is_reachable(output: float, *, location: float, scale: float) -> bool:
    """Could numpy's Laplace generator give this output around this location? (Mironov 2012)

    The generator returns location - scale log(2 - U - U) or location + scale log(U + U) for a uniform U on a
    grid of 2^53 points, in floats. Most floats are the image of no such point: those outputs never occur.
    """
    steps = 2**UNIFORM_BITS
    tail = math.exp(-abs(output - location) / scale) / 2
    nearest = round((1 - tail if output > location else tail) * steps)
    tried = range(max(1, nearest - _NEIGHBOURS), min(steps - 1, nearest + _NEIGHBOURS) + 1)
    return any(_numpy_laplace(step / steps, location, scale) == output for step in tried)


def _numpy_laplace(uniform: float, location: float, scale: float) -> float:
    """As numpy computes it, rounding included."""
    if uniform >= 0.5:
        return location - scale * math.log(2.0 - uniform - uniform)
    return location + scale * math.log(uniform + uniform)


def reachable_share(outputs: Values, *, location: float, scale: float) -> float:
    """Share of outputs that numpy's generator could have given around this location."""
    return float(np.mean([is_reachable(float(y), location=location, scale=scale) for y in outputs]))


def has_fine_bits(outputs: Values) -> NDArray[np.bool_]:
    """Which outputs are no multiples of 2^-53: given by 0 + noise, never by 1 + noise.

    A float in [1/2, 1) is a multiple of 2^-53 and a larger one of a larger power, and 1 + z with |1 + z| <
    1/2 is exact (Sterbenz) for z in (-3/2, -1/2), which is a multiple of 2^-53. So all sums 1 + z are
    multiples, whereas 0 + z is as fine as z. Drawing z more carefully does not help. (Haney, Desfontaines,
    Hartman, Shrestha, Hay 2022, "Precision-based attacks and interval refining".)"""
    scaled = np.ldexp(outputs, UNIFORM_BITS)
    return np.asarray(scaled != np.floor(scaled))


def lowest_bits(outputs: Values) -> NDArray[np.intp]:
    """The exponent of each output's lowest set bit: -53 for 2^-53 times an odd number."""
    mantissas, exponents = np.frexp(outputs)
    whole = np.ldexp(mantissas, UNIFORM_BITS).astype(np.int64)
    lowest = whole & -whole
    return np.asarray(exponents - UNIFORM_BITS + np.log2(np.maximum(lowest, 1)).astype(np.intp))
