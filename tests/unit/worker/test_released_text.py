"""How many digits a released file shows: two more than the noise leaves, or as many as the grid has."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privacy.mechanism import NoisedOutput
from worker.drawn import DrawnValue, text


def shown(value: Fraction, *, scale: Fraction | None, step: Fraction = Fraction(1, 4096)) -> str:
    return text(DrawnValue("mean", NoisedOutput(value, noise_scale=scale), step=step))


TWO_DIGITS_FINER_THAN_THE_NOISE = (
    (Fraction(40), "3.3"),
    (Fraction(10), "3.3"),
    (Fraction(99, 10), "3.33"),
    (Fraction(4), "3.33"),
    (Fraction(1), "3.33"),
    (Fraction(4, 10), "3.333"),
    (Fraction(1, 100), "3.3333"),
    (Fraction(12_345), "3"),
    (Fraction(1, 10**30), "3.333333333333333"),
)


def test_two_digits_finer_than_the_noise(subtests: pytest.Subtests) -> None:
    for scale, digits in TWO_DIGITS_FINER_THAN_THE_NOISE:
        with subtests.test(scale=scale, digits=digits):
            found = shown(Fraction(10, 3), scale=scale)
            assert len(found.partition(".")[2]) == len(digits.partition(".")[2])
            assert float(found) == pytest.approx(10 / 3, abs=0.5 * 10.0 ** -len(digits.partition(".")[2]))


@pytest.mark.parametrize(
    ("step", "decimals"), [(Fraction(1, 4096), 4), (Fraction(1, 8), 1), (Fraction(1), 0), (Fraction(64), 0)]
)
def test_as_many_digits_as_the_grid_where_the_noise_is_not_shown(step: Fraction, decimals: int) -> None:
    assert len(shown(Fraction(10, 3), scale=None, step=step).partition(".")[2]) == decimals
