"""The two ways to add up losses: exact conversions, rounded against us, and filters that hold."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.accounting import in_rho, pure_as_rho, rho_as_epsilon, rho_cap
from privacy.cost import ATTO, PICO, Cost, Currency
from privacy.loss import MICRO

E, D, R, N = Currency.EPSILON, Currency.DELTA, Currency.RHO, Currency.NATS
epsilons = st.integers(1_000, 1_000_000_000)
deltas = st.integers(1, ATTO // 100)


@pytest.mark.parametrize(
    ("micro", "pico"),
    [(1_000_000, PICO // 2), (1_000, 500_000), (1_001, 501_001), (1_000_000_000, 500_000 * PICO)],
)
def test_half_the_square_of_epsilon_rounded_up(micro: int, pico: int) -> None:
    assert pure_as_rho(micro) == pico
    assert Fraction(pico - 1, PICO) < Fraction(micro, MICRO) ** 2 / 2 <= Fraction(pico, PICO)


@pytest.mark.parametrize("micro", [0, -1, 10**9 + 1, True, 1.0])
def test_no_rho_of_what_is_no_epsilon(micro: int) -> None:
    with pytest.raises(ValueError, match="an amount of epsilon"):
        pure_as_rho(micro)


def test_epsilon_and_delta_give_way_to_rho() -> None:
    assert in_rho(Cost.of({E: 2_000_000}), pico_rho=None) == Cost.of({R: 2 * PICO})
    assert in_rho(Cost.of({E: 2_000_000}), pico_rho=7) == Cost.of({R: 7})
    assert in_rho(Cost.of({E: 2_000_000, D: 5}), pico_rho=7) == Cost.of({R: 7})
    assert in_rho(Cost.of({E: 2_000_000, N: 3}), pico_rho=7) == Cost.of({R: 7, N: 3})


@pytest.mark.parametrize("currency", [N, Currency.RELEASES])
def test_what_is_no_epsilon_stays_what_it_is(currency: Currency) -> None:
    cost = Cost.of({currency: 1})
    assert in_rho(cost, pico_rho=None) == cost


def test_a_delta_without_a_rho_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="no rho of its own"):
        in_rho(Cost.of({E: 1_000_000, D: 1}), pico_rho=None)


def true_delta(rho: Decimal, epsilon: Decimal) -> Decimal:
    """Canonne, Kamath, Steinke 2020, Corollary 13, to 80 digits: the best order is where the slope of
    ln delta, (2a - 1) rho - epsilon + ln(1 - 1/a), crosses zero. The code searches another function."""
    with localcontext(prec=80):
        low, high = (
            Decimal("1e-12"),
            (epsilon + 1) / (2 * rho) + 2,
        )  # a - 1; at the upper end the slope is > 0
        for _ in range(160):
            middle = (low + high) / 2
            slope = (2 * middle + 1) * rho - epsilon + (middle / (1 + middle)).ln()
            low, high = (middle, high) if slope < 0 else (low, middle)
        order = 1 + low
        return (low * (order * rho - epsilon) + order * (low / order).ln()).exp() / low


def pico(amount: int) -> Decimal:
    return Decimal(amount) / PICO


def micros(amount: int) -> Decimal:
    return Decimal(amount) / MICRO


@settings(max_examples=30, deadline=None)
@given(epsilons, deltas)
def test_the_cap_is_the_largest_rho_that_keeps_the_promise(micro: int, atto: int) -> None:
    cap = rho_cap(micro_epsilon=micro, atto_delta=atto)
    assert cap == 0 or true_delta(pico(cap), micros(micro)) <= Decimal(atto) / ATTO
    assert true_delta(pico(cap + 1), micros(micro)) > Decimal(atto) / ATTO


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 1000 * PICO), deltas)
def test_what_is_spent_is_reported_as_the_smallest_epsilon_above(amount: int, atto: int) -> None:
    micro = rho_as_epsilon(amount, atto_delta=atto)
    assert true_delta(pico(amount), micros(micro)) <= Decimal(atto) / ATTO
    assert micro == 1 or true_delta(pico(amount), micros(micro - 1)) > Decimal(atto) / ATTO


@settings(max_examples=30, deadline=None)
@given(epsilons, deltas)
def test_a_full_account_is_reported_as_no_more_than_was_declared(micro: int, atto: int) -> None:
    cap = rho_cap(micro_epsilon=micro, atto_delta=atto)
    assert cap == 0 or rho_as_epsilon(cap, atto_delta=atto) <= micro


@settings(max_examples=30, deadline=None)
@given(epsilons, deltas)
def test_nobody_gets_less_than_by_the_older_conversion(micro: int, atto: int) -> None:
    """rho + 2 sqrt(rho ln(1/delta)) is an epsilon as well (Bun, Steinke 2016, Proposition 1.3)."""
    with localcontext(prec=60):
        logarithm = (Decimal(ATTO) / atto).ln()
        rho = ((logarithm + micros(micro)).sqrt() - logarithm.sqrt()) ** 2
        assert rho_cap(micro_epsilon=micro, atto_delta=atto) >= int(rho * PICO)


def test_numbers_of_the_literature() -> None:
    """1-zCDP at delta 10^-6: 8.4338 by Bun and Steinke's conversion, 7.7662 by the tight one."""
    assert rho_as_epsilon(PICO, atto_delta=10**12) == 7_766_217
    assert math.isclose(rho_cap(micro_epsilon=7_766_217, atto_delta=10**12) / PICO, 1, abs_tol=1e-6)


@pytest.mark.parametrize("amount", [-1, True, 1.0, 10**6 * PICO + 1])
def test_an_epsilon_of_what_is_no_rho_is_refused(amount: int) -> None:
    with pytest.raises(ValueError, match="rho must be a whole number of pico units"):
        rho_as_epsilon(amount, atto_delta=10**12)


def test_many_small_releases_are_where_rho_pays() -> None:
    """A hundred releases of epsilon 0.1 and a thousand of 0.01, under a declared (10, 10^-6)."""
    cap = rho_cap(micro_epsilon=10_000_000, atto_delta=10**12)
    by_rho = [cap // pure_as_rho(micro) for micro in (10_000, 100_000, 1_000_000)]
    by_sum = [10_000_000 // micro for micro in (10_000, 100_000, 1_000_000)]
    assert by_sum == [1_000, 100, 10]
    assert by_rho[0] > 20 * by_sum[0]
    assert by_rho[1] > 2 * by_sum[1]
    assert by_rho[2] < by_sum[2]


@pytest.mark.parametrize("atto", [0, -1, ATTO // 100 + 1, True])
def test_a_delta_out_of_range_is_refused(atto: int) -> None:
    with pytest.raises(ValueError, match="an amount of delta"):
        rho_cap(micro_epsilon=1_000_000, atto_delta=atto)
    with pytest.raises(ValueError, match="an amount of delta"):
        rho_as_epsilon(1, atto_delta=atto)


# An adaptive analyst against the filters, with a mechanism that spends all that it may: randomised response.


def respond(epsilon: float, bit: int) -> list[float]:
    """Probabilities of the two answers of randomised response with this epsilon."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return [keep, 1 - keep] if bit == 0 else [1 - keep, keep]


def outcomes(budget: float, costs: list[tuple[float, float]], seen: int = 0) -> list[tuple[float, float]]:
    """(P, Q) of every transcript of an analyst whose next epsilon depends on the answers so far.

    `costs` are (epsilon, what it takes of the budget); an answer of 1 makes the analyst bold, 0 careful.
    """
    affordable = [pair for pair in costs if pair[1] <= budget]
    if not affordable:
        return [(1.0, 1.0)]
    epsilon, price = affordable[-1 if seen % 2 else 0]
    found = []
    for answer, (p, q) in enumerate(zip(respond(epsilon, 0), respond(epsilon, 1), strict=True)):
        rest = outcomes(budget - price, costs, seen + answer)
        found += [(p * later_p, q * later_q) for later_p, later_q in rest]
    return found


def test_the_sum_of_epsilons_bounds_every_adaptive_transcript() -> None:
    loss = [math.log(p / q) for p, q in outcomes(1.0, [(0.125, 0.125), (0.25, 0.25)])]
    assert max(loss) <= 1 + 1e-9
    assert max(loss) > 0.99  # the analyst above can reach it: the filter is tight


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, 32.0])
def test_the_sum_of_rhos_bounds_the_divergence_of_adaptive_transcripts(order: float) -> None:
    costs = [(epsilon, epsilon**2 / 2) for epsilon in (0.25, 0.5)]
    pairs = outcomes(0.5, costs)
    assert math.isclose(sum(p for p, _ in pairs), 1, abs_tol=1e-9)
    moment = sum(q * (p / q) ** order for p, q in pairs)
    assert math.log(moment) / (order - 1) <= order * 0.5


@pytest.mark.parametrize("micro", [0, -1, 10**9 + 1, True])
def test_an_epsilon_out_of_range_has_no_cap(micro: int) -> None:
    with pytest.raises(ValueError, match="an amount of epsilon"):
        rho_cap(micro_epsilon=micro, atto_delta=10**12)


def test_nothing_spent_is_epsilon_zero() -> None:
    assert rho_as_epsilon(0, atto_delta=1) == 0


def test_a_rho_far_above_the_logarithm_is_reported_in_full(subtests: pytest.Subtests) -> None:
    for rho in (20, 100, 200, 201, 300, 500, 1_000, 5_000):
        with subtests.test(rho=rho):
            micro = rho_as_epsilon(rho * PICO, atto_delta=ATTO // 100)
            assert true_delta(Decimal(rho), micros(micro)) <= Decimal("0.01")
            assert true_delta(Decimal(rho), micros(micro - 1)) > Decimal("0.01")
