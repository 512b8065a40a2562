"""B-splines on public knots: a curve as a few coefficients, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

MOST_DEGREE = 5


def coefficients_of(knots: Sequence[float], degree: int) -> int:
    """How many B-splines there are: p = knots + degree - 1."""
    return len(knots) + degree - 1


def basis(points: Sequence[float], knots: Sequence[float], degree: int) -> Matrix:
    """The value of each B-spline at each point: shape (points, p).

    `knots` rise from the first to the last end of the axis; each end counts degree + 1 times, so that the
    curve may have any value there. Recursion of Cox and de Boor (de Boor 1978, "A Practical Guide to
    Splines", chapter X):
        B_i,0(x) = 1 where t_i <= x < t_i+1,
        B_i,d(x) = (x - t_i)/(t_i+d - t_i) B_i,d-1(x) + (t_i+d+1 - x)/(t_i+d+1 - t_i+1) B_i+1,d-1(x),
    with 0/0 as 0. They are not negative and add up to 1 at each point, so a curve lies between its least and
    its largest coefficient: bounds of all coefficients are bounds of the curve. Raises ValueError for knots
    that do not rise, and for a point outside them.
    """
    if len(knots) < 2 or any(low >= high for low, high in pairwise(knots)):
        raise ValueError("knots must rise, from the first end of the axis to the last")
    x = np.array(points, float)
    if x.size and not (knots[0] <= x.min() and x.max() <= knots[-1]):
        raise ValueError("knots must reach from the least to the largest value of the axis")
    t = np.array([knots[0]] * degree + list(knots) + [knots[-1]] * degree, float)
    # the last end belongs to the last piece
    piece = np.minimum(np.searchsorted(knots, x, side="right") - 1, len(knots) - 2) + degree
    found = np.zeros((x.size, t.size - 1))
    found[np.arange(x.size), piece] = 1.0
    for d in range(1, degree + 1):
        rising = _share(x[:, None] - t[: -d - 1], t[d:-1] - t[: -d - 1])
        falling = _share(t[d + 1 :] - x[:, None], t[d + 1 :] - t[1:-d])
        found = rising * found[:, :-1] + falling * found[:, 1:]
    return found


def determines(points: Sequence[float], knots: Sequence[float], degree: int) -> bool:
    """Whether values at these points have one curve of least squares: each B-spline gets a point of its own
    at which it is not 0 (Schoenberg, Whitney 1953; de Boor 1978, chapter XIII). Costs a look at each point.
    """
    ends = [knots[0]] * degree + list(knots) + [knots[-1]] * degree
    last = coefficients_of(knots, degree) - 1
    left = iter(sorted(set(points)))
    for place in range(last + 1):
        low, high = ends[place], ends[place + degree + 1]
        holds_low, holds_high = place == 0 or degree == 0, place == last
        found = next((x for x in left if x > low or (holds_low and x == low)), None)
        if found is None or not (found < high or (holds_high and found == high)):
            return False
    return True


def _share(part: Matrix, whole: Matrix) -> Matrix:
    """part/whole, 0 where the whole is."""
    shares: Matrix = np.divide(
        part, whole, out=np.zeros(np.broadcast_shapes(part.shape, whole.shape)), where=whole > 0
    )
    return shares
