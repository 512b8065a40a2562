"""The points of a released curve, each with the interval that its coefficients leave it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.release import ReleasedValue
from domain.shape import CurveShape, Shape
from domain.shape.constants import results_in

_STEPS = 2
"""Of the grid: how far the noise on it may be from one that has a density."""


@dataclass(frozen=True)
class CurvePoint:
    """One point; `projected` is that of the coefficients within their bounds, where noise has carried any
    beyond. Without an interval where the mechanism gives its numbers none."""

    name: str
    file: str
    value: float
    projected: float | None
    lower_95: float | None
    upper_95: float | None


def curve_points(shape: Shape, values: Sequence[ReleasedValue]) -> Iterator[CurvePoint]:
    """Those of every curve of a release, whose `values` are in the order of the shape.

    The interval of a point holds the curve without noise at least 95 times in 100. Proof. The error of the
    point is sum_k B_k z_k, with B_k >= 0 and sum B_k = 1 (`domain/splines.py`). Let z_k = s_k u_k with all
    u_k of one law, symmetric with a density whose logarithm is concave, and independent: so is Laplace and
    Gaussian noise with a scale s_k of its own. Joint noise is so given its size t, where z_k is uniform up to
    about t w_k; what holds for each t holds for all together. Write S = sum B_k s_k. A mean of the u_k with
    weights B_k s_k / S is at least as peaked as a single one (Proschan 1965, "Peakedness of distributions of
    convex combinations"), P(|mean| <= c) >= P(|u_1| <= c) for each c. With c the half-width of u_1, that of
    the point is at most sum B_k s_k c, so the ends of its interval are the curves of the ends of the
    coefficients' intervals. Noise lies on the grid: a geometric draw is the floor of an exponential one, so
    each z_k is less than a step from noise with a density, and so is the half-width; a box of whole numbers
    is a box of half a step more, rounded. Hence two steps more at each end. QED. The interval is of each
    point by itself, as all intervals are.
    """
    left = iter(values)
    for file in shape.files:
        found = [next(left) for _ in range(results_in(file))]
        if isinstance(file, CurveShape):
            yield from _points(file, found)


def _points(curve: CurveShape, values: Sequence[ReleasedValue]) -> Iterator[CurvePoint]:
    drawn = curve.at_axis([value.value for value in values])
    shown = curve.at_axis([value.headline for value in values])
    is_moved = any(value.projected is not None for value in values)
    lower, upper = (_end(curve, values, which) for which in ("lower_95", "upper_95"))
    room = _STEPS * max(value.grid_step for value in values)
    for place, point in enumerate(curve.axis):
        yield CurvePoint(
            name=f"{curve.curve.name} {curve.curve.axis}={point}",
            file=curve.file,
            value=drawn[place],
            projected=shown[place] if is_moved else None,
            lower_95=None if lower is None else lower[place] - room,
            upper_95=None if upper is None else upper[place] + room,
        )


def _end(curve: CurveShape, values: Sequence[ReleasedValue], which: str) -> list[float] | None:
    ends = [getattr(value, which) for value in values]
    return None if None in ends else curve.at_axis(ends)
