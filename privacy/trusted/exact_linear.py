"""Small symmetric linear algebra in fractions: exact, so that what follows a release is a fixed function of
it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Matrix = Sequence[Sequence[Fraction]]


def is_positive_definite(matrix: Matrix) -> bool:
    """Whether all pivots of a symmetric matrix are above zero (Sylvester's criterion)."""
    return _triangle(matrix) is not None


def solve(matrix: Matrix, right: Sequence[Fraction]) -> list[Fraction]:
    """x with matrix x = right, for a positive definite matrix; ValueError for any other."""
    size = len(right)
    rows = _triangle([[*row, value] for row, value in zip(matrix, right, strict=True)])
    if rows is None:
        raise ValueError("the matrix is not positive definite.")
    found = [Fraction(0)] * size
    for i in reversed(range(size)):
        known = sum((rows[i][j] * found[j] for j in range(i + 1, size)), Fraction(0))
        found[i] = (rows[i][size] - known) / rows[i][i]
    return found


def plus_diagonal(matrix: Matrix, amount: Fraction) -> list[list[Fraction]]:
    """The matrix with the same amount added to every diagonal entry."""
    return [
        [value + amount if i == j else value for j, value in enumerate(row)] for i, row in enumerate(matrix)
    ]


def _triangle(matrix: Matrix) -> list[list[Fraction]] | None:
    """Rows eliminated without exchanges, or None at the first pivot that is not above zero."""
    rows = [list(row) for row in matrix]
    for i, pivot_row in enumerate(rows):
        if pivot_row[i] <= 0:
            return None
        for row in rows[i + 1 :]:
            factor = row[i] / pivot_row[i]
            for j in range(i, len(row)):
                row[j] -= factor * pivot_row[j]
    return rows
