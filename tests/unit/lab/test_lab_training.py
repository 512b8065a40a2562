"""What was printed, what is provided, and what DP-SGD would have given."""

import math

import pytest

from companions.lab.chapters.training import (
    LADDER,
    PRINTED,
    coded_epsilon,
    epsilon_by_moments,
    printed_epsilon,
    proper_epsilon,
)


def test_the_printed_epsilon():
    assert printed_epsilon(PRINTED) == pytest.approx(0.493, abs=5e-4)
    assert PRINTED.steps == 702


def test_the_epsilon_of_the_code_is_150_times_as_large():
    assert coded_epsilon(PRINTED) == pytest.approx(76.84, abs=0.01)


def test_the_epsilon_of_a_gaussian_in_closed_form():
    """`coded_epsilon` composes Gaussians, which are one Gaussian: delta at its epsilon is the stated one."""
    epsilon, shift = coded_epsilon(PRINTED), 2 * math.sqrt(8 * PRINTED.epochs) / PRINTED.noise

    def upper(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    delta = upper(epsilon / shift - shift / 2) - math.exp(epsilon) * upper(epsilon / shift + shift / 2)
    assert delta == pytest.approx(1e-5, rel=0.02)


def test_dp_sgd_proper():
    assert proper_epsilon(PRINTED) == pytest.approx(0.504, abs=1e-3)
    assert epsilon_by_moments(PRINTED) == pytest.approx(0.843, abs=1e-3)


@pytest.mark.parametrize(
    ("index", "printed", "proper"), [(0, 1.253, 7.33), (1, 0.783, 1.65), (4, 0.313, 0.245)]
)
def test_the_formula_is_off_in_both_directions(index, printed, proper):
    assert printed_epsilon(LADDER[index]) == pytest.approx(printed, abs=1e-3)
    assert proper_epsilon(LADDER[index]) == pytest.approx(proper, rel=5e-3)
