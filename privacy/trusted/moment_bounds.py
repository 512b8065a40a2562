"""What noised moments and the widths of their noise say about covariances and coefficients of the exact ones.

Everything is on the scale -1..1 of the moments and a function of noised sums: post-processing. Each statement
holds unless one of the draws that it looks at is beyond its own share of alpha (union bound).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, isqrt

from privacy.trusted.exact_linear import Matrix, is_positive_definite, plus_diagonal
from privacy.trusted.moments import UNIT, Moments, NoisedMoments
from privacy.trusted.ratio import bounds_of_ratio

Interval = tuple[Fraction, Fraction]
Vector = Sequence[Fraction]

_ROUNDED = Fraction(1, UNIT)
"""A column is read in steps of 1/UNIT, so each number is off by at most half of one, a product of two by a
little more than one: by less than twice this, and so is a covariance."""

_EIGENVALUE_STEPS = 64


def covariance_bounds(
    moments: Moments, noised: NoisedMoments, i: int, j: int, *, alpha: Fraction
) -> Interval:
    """Where the covariance of columns i and j lies, unless one of three or four draws is beyond its share.

    It is p - m_i m_j with the means of the product and of both columns each in an interval of its own.
    """
    each = alpha / (3 if i == j else 4)
    noisy, count_slack = moments.noisy, moments.noisy.half_width(0, alpha=each)

    def mean(total: Fraction, place: int, unit: int) -> Interval:
        slack = Fraction(noisy.half_width(place, alpha=each), unit)
        return bounds_of_ratio(total, noised.count, slack=slack, count_slack=count_slack, limit=1)

    place = 1 + len(moments.columns) + moments.pairs.index((i, j))
    (low_i, high_i), (low_j, high_j) = (mean(noised.sums[k], 1 + k, UNIT) for k in (i, j))
    corners = [a * b for a in (low_i, high_i) for b in (low_j, high_j)]
    if i != j:
        low, high = mean(noised.products[i, j], place, UNIT**2)
        return max(low - max(corners) - 2 * _ROUNDED, Fraction(-1)), min(
            high - min(corners) + 2 * _ROUNDED, Fraction(1)
        )
    low, high = mean(2 * noised.products[i, i] - noised.count, place, UNIT**2)
    nearest = Fraction(0) if low_i <= 0 <= high_i else min(low_i**2, high_i**2)
    return (
        max((1 + low) / 2 - max(corners) - 2 * _ROUNDED, Fraction(0)),
        min((1 + high) / 2 - nearest + 2 * _ROUNDED, Fraction(1)),
    )


def slack(moments: Moments, noised: NoisedMoments, *, alpha: Fraction) -> NoisedMoments:
    """How far each of the moments is from that of the exact values, but with probability alpha for any."""
    noisy = moments.noisy
    count, *widths = (noisy.half_width(k, alpha=alpha / moments.width) for k in range(moments.width))
    sums, products = widths[: len(moments.columns)], widths[len(moments.columns) :]
    rounded = max(0, noised.count + count) * _ROUNDED
    return NoisedMoments(
        count=count,
        sums=tuple(Fraction(width, UNIT) + rounded for width in sums),
        products={
            (i, j): (Fraction(width, UNIT**2) + count) / 2 + 2 * rounded
            if i == j
            else Fraction(width, UNIT**2) + 2 * rounded
            for (i, j), width in zip(moments.pairs, products, strict=True)
        },
    )


def distance_to_solution(
    matrix: Matrix, right: Vector, beta: Vector, *, matrix_slack: Matrix, right_slack: Vector
) -> Fraction | None:
    """How far, in Euclidean length, `beta` is from the x with A x = b at most; None if A may be singular.

    A and b are within the slacks of `matrix` and `right`, entry by entry, and A is symmetric. Each entry of
    A (x - beta) = b - A beta is at most
        |right - matrix beta| + right_slack + matrix_slack |beta|
    in magnitude, and the smallest eigenvalue of A is at least that of the matrix less the largest row sum of
    its slack (Weyl 1912; Gershgorin 1931). The quotient of the two bounds the length of x - beta, whatever
    ridge beta was made with.
    """
    least = _least_eigenvalue(matrix) - max(map(sum, matrix_slack))
    if least <= 0:
        return None
    rests = [
        abs(b - _dot(row, beta)) + wide + _dot(slacks, [abs(value) for value in beta])
        for b, row, wide, slacks in zip(right, matrix, right_slack, matrix_slack, strict=True)
    ]
    return root_above(_dot(rests, rests)) / least


def root_above(square: Fraction) -> Fraction:
    """A number not below the root, within 2^-19 of it."""
    return Fraction(isqrt(ceil(square * 4**20)) + 1, 2**20)


def _least_eigenvalue(matrix: Matrix) -> Fraction:
    """A lower bound, to a 64th of the smallest diagonal entry, which is an upper one; 0 if there is none."""
    most = min(row[i] for i, row in enumerate(matrix))
    low, high = 0, _EIGENVALUE_STEPS
    while high - low > 1:
        middle = (low + high) // 2
        fits = is_positive_definite(plus_diagonal(matrix, -most * middle / _EIGENVALUE_STEPS))
        low, high = (middle, high) if fits else (low, middle)
    return most * low / _EIGENVALUE_STEPS


def _dot(one: Vector, other: Vector) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))
