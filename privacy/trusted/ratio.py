"""What noised sums say about their ratio: an interval from the sums and the widths of their noise alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from privacy.mechanism import NoisedOutput


def bounds_of_ratio(
    total: int | Fraction, count: int, *, slack: int | Fraction, count_slack: int, limit: int
) -> tuple[Fraction, Fraction]:
    """Least and greatest value of T/N, which lies in -limit..limit, for |T - total| <= slack and N a count
    with |N - count| <= count_slack. Everything from -limit to limit if N may be zero.

    T/N is monotone in T and, for T fixed, in N: the extremes are at corners.
    """
    fewest, most = count - count_slack, count + count_slack
    if fewest < 1:
        return Fraction(-limit), Fraction(limit)
    corners = [Fraction(t, n) for t in (total - slack, total + slack) for n in (fewest, most)]
    return max(min(corners), Fraction(-limit)), min(max(corners), Fraction(limit))


def output_within(
    value: Fraction,
    bounds: Callable[[Fraction], tuple[Fraction, Fraction]],
    *,
    lower: Fraction,
    upper: Fraction,
    step: Fraction,
) -> NoisedOutput:
    """The value, held inside lower..upper, with half widths that reach both ends of `bounds(alpha)`.

    Half a step more, because the value was rounded to the grid after the division.
    """
    return output_between(min(max(value, lower), upper), bounds, step=step)


def output_between(
    value: Fraction, bounds: Callable[[Fraction], tuple[Fraction, Fraction]], *, step: Fraction
) -> NoisedOutput:
    """The value, with half widths that reach both ends of `bounds(alpha)`, and half a step."""

    def half_width(alpha: Fraction) -> Fraction:
        low, high = bounds(alpha)
        return max(value - low, high - value) + step / 2

    return NoisedOutput(
        value=value,
        half_width_95=half_width(Fraction(1, 20)),
        half_width_99=half_width(Fraction(1, 100)),
    )
