from decimal import Decimal
from fractions import Fraction
from math import log

import pytest

from privacy.posterior_bound import LADDER, custodian_sentence, ladder, percent, posterior_bound

# the table of the privacy design: nats, posterior, pure epsilon with the same posterior, noise multiplier
TABLE = [
    (Fraction(1, 128), 0.562, "0.25", "8.0"),
    (Fraction(1, 64), 0.588, "0.36", "5.7"),
    (Fraction(1, 32), 0.624, "0.51", "4.0"),
    (Fraction(1, 16), 0.675, "0.73", "2.8"),
    (Fraction(1, 8), 0.745, "1.07", "2.0"),
    (Fraction(1, 4), 0.838, "1.64", "1.4"),
    (Fraction(1, 2), 0.952, "2.98", "1.0"),
]


def divergence(p: float) -> float:
    return log(2) + p * log(p) + (1 - p) * log(1 - p)


def test_table_of_the_design(subtests):
    for nats, posterior in [row[:2] for row in TABLE]:
        with subtests.test(nats=nats, posterior=posterior):
            assert round(float(posterior_bound(nats)), 3) == posterior


def test_ladder_is_that_table():
    rows = ladder()
    assert tuple(row.micro_nats for row in rows) == LADDER
    assert [int(nats * 10**6) for nats, *_ in TABLE] == list(LADDER)
    for row, (_, posterior, epsilon, multiplier) in zip(rows, TABLE, strict=True):
        assert round(float(row.posterior_bound), 3) == posterior
        assert (row.same_as_epsilon, row.noise_multiplier) == (Decimal(epsilon), Decimal(multiplier))


@pytest.mark.parametrize(("releases", "published"), [(10**6, 0.5108), (210_000, 0.5049)])
def test_published_bounds_of_many_releases_at_2_to_the_minus_32_nat(releases, published):
    """Zhu, Sridhar, Devadas 2026: a million adaptive releases leave 51.08 %, 210,000 leave 50.49 %."""
    assert round(float(posterior_bound(Fraction(releases, 2**32))), 4) == published


@pytest.mark.parametrize("nats", [Fraction(1, 10**6), Fraction(1, 30), Fraction(1, 4), Fraction(1, 2)])
def test_bound_is_the_solution_rounded_up(nats):
    bound = posterior_bound(nats)
    assert divergence(float(bound)) == pytest.approx(float(nats), rel=1e-5)
    assert (bound * 2**40).denominator == 1
    # exact rational enclosure of the logarithms, as a check that no rounding favours us
    assert _divergence_at_least(bound, nats)


def _divergence_at_least(p: Fraction, nats: Fraction) -> bool:
    """KL(p || 1/2) >= nats, from lower bounds: with x = 2p - 1, KL is the series sum x^2k / (2k (2k - 1))."""
    x = (2 * p - 1) ** 2
    # the terms are positive, so every partial sum is a lower bound
    return sum(x**k / (2 * k * (2 * k - 1)) for k in range(1, 400)) >= nats


def test_more_nats_never_bound_less():
    bounds = [posterior_bound(Fraction(k, 100)) for k in range(1, 80)]
    assert bounds == sorted(bounds)
    assert bounds[0] > Fraction(1, 2)


@pytest.mark.parametrize("nats", [Fraction(6932, 10**4), Fraction(1), Fraction(44)])
def test_from_one_bit_on_nothing_is_promised(nats):
    assert posterior_bound(nats) == 1


@pytest.mark.parametrize("nats", [Fraction(0), Fraction(-1, 8)])
def test_no_information_is_no_input(nats):
    with pytest.raises(ValueError, match="above zero"):
        posterior_bound(nats)


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (Fraction(1, 2), "50.0"),
        (Fraction(62351, 100000), "62.4"),
        (Fraction(5001, 10000), "50.1"),
        (Fraction(1), "100.0"),
    ],
)
def test_percent_rounds_up(probability, text):
    assert percent(probability) == text


def test_sentence_for_a_custodian():
    sentence = custodian_sentence(31_250)
    assert "guesses whether a given person was in the half that was really analysed" in sentence
    assert "with probability at most 62.5 %" in sentence
    assert "not differential privacy" in sentence
