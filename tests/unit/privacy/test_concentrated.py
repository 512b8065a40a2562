import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.concentrated import ceil_pico, largest_pico_rho, rho_of_bounded_range, rho_of_pure
from privacy.cost import ATTO, PICO

epsilons = st.fractions(min_value="1/1000", max_value=1000, max_denominator=10**6)
deltas = st.integers(1, ATTO // 100)


def log_delta(rho: float, epsilon: float) -> float:
    """ln of the smallest delta that the theorem gives: a plain float search over orders."""
    best = math.inf
    for step in range(-4_000, 8_000):
        x = math.exp(step / 400)
        bound = x * ((1 + x) * rho - epsilon) - math.log(x) + (1 + x) * (math.log(x) - math.log1p(x))
        best = min(best, bound)
    return best


@given(epsilons, deltas)
@settings(max_examples=25, deadline=None)
def test_rho_implies_epsilon_and_delta_and_hardly_more_would(epsilon, atto_delta):
    pico = largest_pico_rho(epsilon, atto_delta)
    wanted = math.log(atto_delta / ATTO)
    assert pico == 0 or log_delta(pico / PICO, float(epsilon)) <= wanted + 1e-3
    assert log_delta(pico * 1.001 / PICO + 1e-12, float(epsilon)) > wanted


@given(epsilons, deltas)
@settings(max_examples=50, deadline=None)
def test_never_worse_than_the_plain_conversion(epsilon, atto_delta):
    """rho + 2 sqrt(rho ln(1/delta)) <= epsilon suffices (Bun, Steinke 2016, Proposition 1.3)."""
    log = -math.log(atto_delta / ATTO)
    plain = (math.sqrt(log + float(epsilon)) - math.sqrt(log)) ** 2
    assert largest_pico_rho(epsilon, atto_delta) >= math.floor(plain * PICO * (1 - 1e-6)) - 1


@pytest.mark.parametrize(
    ("epsilon", "atto_delta", "pico"),
    [
        (Fraction(1), 10**12, 24_355_970_359),
        (Fraction(1), 10**16, 103_412_831_433),
        (Fraction(1, 10), 10**9, 177_138_447),
        (Fraction(10), 1, 579_489_340_727),
    ],
)
def test_known_answers(epsilon, atto_delta, pico):
    assert largest_pico_rho(epsilon, atto_delta) == pico


def test_more_epsilon_or_delta_buys_more_rho():
    rhos = [largest_pico_rho(Fraction(step, 10), 10**12) for step in range(1, 40)]
    assert rhos == sorted(set(rhos))
    rhos = [largest_pico_rho(Fraction(1), 10**power) for power in range(17)]
    assert rhos == sorted(set(rhos))


def test_nothing_may_be_left_to_state():
    assert largest_pico_rho(Fraction(1, 10**6), 1) == 0


def test_the_least_that_a_job_can_ask_for_is_not_nothing():
    least = Fraction(1, 1_000) * Fraction(95, 100) * Fraction(7, 10)
    assert largest_pico_rho(least, 1) > 1_000


@pytest.mark.parametrize("epsilon", [0, -1, 0.5, Fraction(1, 10**6 + 1), 1001])
def test_epsilon_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        largest_pico_rho(epsilon, 10**12)


@pytest.mark.parametrize("atto_delta", [0, -1, ATTO, 1e12, True])
def test_delta_is_refused(atto_delta):
    with pytest.raises(ValueError, match="delta"):
        largest_pico_rho(Fraction(1), atto_delta)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.floats(0.01, 3), st.floats(1.01, 50))
def test_bounded_range_bounds_every_renyi_divergence(masses, width, order):
    """Q from `masses`, ln(P/Q) from two values `width` apart: the extreme of the lemma."""
    total = sum(masses)
    q = [mass / total for mass in masses]
    lifted = [index % 2 for index in range(len(q))]
    norm = sum(mass * math.exp(width * up) for mass, up in zip(q, lifted, strict=True))
    loss = [width * up - math.log(norm) for up in lifted]
    moment = sum(mass * math.exp(order * z) for mass, z in zip(q, loss, strict=True))
    divergence = math.log(moment) / (order - 1)
    assert divergence <= order * float(rho_of_bounded_range(Fraction(width))) + 1e-9


def test_pure_epsilon_is_half_its_square():
    assert rho_of_pure(Fraction(1)) == Fraction(1, 2)
    assert rho_of_pure(Fraction(0)) == 0


def test_pico_rho_is_rounded_up():
    assert ceil_pico(Fraction(1, 3)) == 333_333_333_334
    assert ceil_pico(Fraction(7, PICO)) == 7
    assert ceil_pico(Fraction(0)) == 0


def test_the_ends_of_epsilon_belong_to_it():
    assert largest_pico_rho(Fraction(1000), 10**12) > 500 * PICO
    assert largest_pico_rho(Fraction(1, 10**6), ATTO // 100) > 0
