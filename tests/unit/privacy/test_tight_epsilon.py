"""The estimate for several parts lies between what they can really lose and their plain sum."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privacy.tight_epsilon import tight_epsilon


def exact_delta(epsilon: float, *, part: float, parts: int) -> float:
    """Of so many randomised responses, by summing over how many answers are right."""
    right = math.exp(part) / (1 + math.exp(part))
    total = 0.0
    for wrong in range(parts + 1):
        ways = math.comb(parts, wrong)
        p = ways * right ** (parts - wrong) * (1 - right) ** wrong
        q = ways * right**wrong * (1 - right) ** (parts - wrong)
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


SEVERAL_PARTS = (
    (Fraction(1, 20), 20),
    (Fraction(1, 2), 4),
    (Fraction(1, 10), 100),
)


def test_it_is_the_best_bound_but_for_the_rounding(subtests: pytest.Subtests) -> None:
    for part, parts in SEVERAL_PARTS:
        for delta in (1e-6, 1e-3):
            with subtests.test(part=part, parts=parts, delta=delta):
                found = tight_epsilon([part] * parts, delta=delta)
                assert found <= float(part * parts)
                assert exact_delta(found, part=float(part), parts=parts) <= delta * (1 + 1e-9)
                assert exact_delta(found - 3 * parts * 1e-4, part=float(part), parts=parts) > delta


def test_different_parts_compose() -> None:
    halves = [Fraction(1, 2)] * 2
    assert tight_epsilon([*halves, Fraction(1, 10)], delta=1e-9) <= 1.1
    assert tight_epsilon([*halves, Fraction(1, 10)], delta=1e-3) > tight_epsilon(halves, delta=1e-3)


def test_a_single_part_costs_what_it_says() -> None:
    assert tight_epsilon([Fraction(1)], delta=1e-9) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("parts", [[], [Fraction(0)], [Fraction(-1)], [Fraction(1), Fraction(0)]])
def test_a_part_without_an_epsilon_is_refused(parts: list[Fraction]) -> None:
    with pytest.raises(ValueError, match="an epsilon above zero"):
        tight_epsilon(parts, delta=1e-6)


@pytest.mark.parametrize("delta", [0, -1, 0.02, float("nan")])
def test_a_delta_out_of_range_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match="delta must be"):
        tight_epsilon([Fraction(1)], delta=delta)


def test_the_largest_delta_belongs_to_it() -> None:
    assert 0 < tight_epsilon([Fraction(1)], delta=0.01) <= 1
