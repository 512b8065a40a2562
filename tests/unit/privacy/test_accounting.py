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


def true_epsilon(pico_rho: int, atto_delta: int) -> Decimal:
    """rho + 2 sqrt(rho ln(1/delta)) to 100 digits, the other way than the code takes."""
    with localcontext(prec=100):
        rho = Decimal(pico_rho) / PICO
        return rho + 2 * (rho * (Decimal(ATTO) / atto_delta).ln()).sqrt()


@settings(max_examples=60, deadline=None)
@given(epsilons, deltas)
def test_the_cap_is_the_largest_rho_that_keeps_the_promise(micro: int, atto: int) -> None:
    cap = rho_cap(micro_epsilon=micro, atto_delta=atto)
    epsilon = Decimal(micro) / MICRO
    assert cap == 0 or true_epsilon(cap, atto) <= epsilon
    assert true_epsilon(cap + 1, atto) > epsilon


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 1000 * PICO), deltas)
def test_what_is_spent_is_reported_as_the_smallest_epsilon_above(pico: int, atto: int) -> None:
    micro = rho_as_epsilon(pico, atto_delta=atto)
    assert Decimal(micro - 1) / MICRO < true_epsilon(pico, atto) <= Decimal(micro) / MICRO


@settings(max_examples=60, deadline=None)
@given(epsilons, deltas)
def test_a_full_account_is_reported_as_no_more_than_was_declared(micro: int, atto: int) -> None:
    assert rho_as_epsilon(rho_cap(micro_epsilon=micro, atto_delta=atto), atto_delta=atto) <= micro


def test_numbers_of_the_literature() -> None:
    """1-zCDP at delta 10^-6: 1 + 2 sqrt(ln 10^6) = 8.4338...; the way back loses nothing."""
    assert rho_as_epsilon(PICO, atto_delta=10**12) == 8_433_845
    assert math.isclose(rho_cap(micro_epsilon=8_433_845, atto_delta=10**12) / PICO, 1, abs_tol=1e-6)


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
    """(epsilon - rho)^2 is large for small epsilons too: without rho <= epsilon they would pass."""
    for rho in (20, 100, 200, 201, 300, 500, 1_000, 5_000):
        with subtests.test(rho=rho):
            micro = rho_as_epsilon(rho * PICO, atto_delta=ATTO // 100)
            assert (
                Decimal(micro - 1) / MICRO < true_epsilon(rho * PICO, ATTO // 100) <= Decimal(micro) / MICRO
            )
