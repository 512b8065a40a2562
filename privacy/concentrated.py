"""Zero-concentrated differential privacy (zCDP) of Gaussian noise, and what it says about epsilon and delta.

Decimals are rounded so that a loss is never understated: rho for a wanted (epsilon, delta) down, rho of a
mechanism up. No float takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from privacy.cost import ATTO, PICO
from privacy.loss import MICRO

_DIGITS = 60
_STEPS = 120
"""Halvings of the search for the best order; each narrows it by a third and the first interval is 45 wide."""

_SLACK = Decimal(10) ** -40
"""Above every rounding of `_rho_at` and `_epsilon_at`: 60 digits, and no number at the best order is beyond
10^16."""


@lru_cache(maxsize=256, typed=True)  # typed: 0.5 must not find the answer for 1/2
def largest_pico_rho(epsilon: Fraction, atto_delta: int) -> int:
    """The largest rho, in pico-rho rounded down, for which rho-zCDP implies (epsilon, delta)-DP.

    epsilon is an exact fraction from 10^-6 to 1000 and delta = atto_delta / 10^18, below one; anything else
    is a ValueError. May be 0: then no Gaussian noise is wide enough to be stated here.

    Theorem (Canonne, Kamath, Steinke 2020, Corollary 13). rho-zCDP implies (epsilon, delta)-DP with
        delta = exp((a - 1)(a rho - epsilon)) / (a - 1) * (1 - 1/a)^a      for every order a > 1.
    Proof. Let Y be drawn from P and Z = ln(P(Y)/Q(Y)). For every event, P(E) - e^epsilon Q(E) is at most
    E[max(0, 1 - e^(epsilon - Z))] <= E[e^((a-1) Z)] * max_z (1 - e^(epsilon - z)) e^(-(a-1) z). The first
    factor is at most e^((a-1) a rho) by the definition of zCDP. The second is largest where
    e^(epsilon - z) = 1 - 1/a, and is e^(-(a-1) epsilon) (1/a) (1 - 1/a)^(a-1). QED.

    Solved for rho, each order allows rho(a) = (epsilon + ln(delta (a - 1) / (1 - 1/a)^a) / (a - 1)) / a.
    Any order gives a valid rho, so the search for the best one decides how good the result is, never whether
    it holds. ln delta is convex in a for fixed rho and epsilon, so the orders that allow a rho (an epsilon)
    are an interval: rho(a) has one peak, epsilon(a) one trough, and thirds of an interval find them.
    """
    if not isinstance(epsilon, Fraction | int) or not Fraction(1, 10**6) <= epsilon <= 1000:
        raise ValueError("epsilon must be an exact fraction from 0.000001 to 1000.")
    _check_delta(atto_delta)
    with localcontext(Context(prec=_DIGITS)):
        exact_epsilon, log_delta = _decimal(epsilon), _log_delta(atto_delta)
        rho = _best(lambda log_excess: _rho_at(log_excess, exact_epsilon, log_delta)) - _SLACK
        return max(0, int((rho * PICO).to_integral_value(rounding=ROUND_FLOOR)))


@lru_cache(maxsize=256)
def least_micro_epsilon(pico_rho: int, atto_delta: int) -> int:
    """The smallest epsilon, in micro-epsilon rounded up, for which rho-zCDP implies (epsilon, delta)-DP.

    rho = pico_rho / 10^12 is at most a million, delta = atto_delta / 10^18 below one; anything else is a
    ValueError. 0 for a rho of 0 alone.

    The theorem of `largest_pico_rho`, solved for epsilon: each order a allows
    epsilon(a) = a rho - ln(delta (a - 1) / (1 - 1/a)^a) / (a - 1), and the least of them is searched for.
    """
    if isinstance(pico_rho, bool) or not isinstance(pico_rho, int) or not 0 <= pico_rho <= MICRO * PICO:
        raise ValueError("rho must be a whole number of pico units, from 0 to a million in all.")
    _check_delta(atto_delta)
    if not pico_rho:
        return 0
    with localcontext(Context(prec=_DIGITS)):
        rho, log_delta = _decimal(Fraction(pico_rho, PICO)), _log_delta(atto_delta)
        epsilon = _SLACK - _best(lambda log_excess: -_epsilon_at(log_excess, rho, log_delta))
        return max(1, int((epsilon * MICRO).to_integral_value(rounding=ROUND_CEILING)))


def _check_delta(atto_delta: int) -> None:
    if isinstance(atto_delta, bool) or not isinstance(atto_delta, int) or not 0 < atto_delta < ATTO:
        raise ValueError("delta must be a whole number of atto units, above 0 and below 1.")


def _decimal(number: Fraction | int) -> Decimal:
    return Decimal(number.numerator) / number.denominator


def _log_delta(atto_delta: int) -> Decimal:
    return (Decimal(atto_delta) / ATTO).ln()


def _best(value: Callable[[Decimal], Decimal]) -> Decimal:
    """The value at the best of all orders, given ln(a - 1), by thirds of an interval."""
    low, high = Decimal(-10), Decimal(35)
    for _ in range(_STEPS):
        third = (high - low) / 3
        one, other = low + third, high - third
        if value(one) < value(other):
            low = one
        else:
            high = other
    return value(low)


def _rho_at(log_excess: Decimal, epsilon: Decimal, log_delta: Decimal) -> Decimal:
    """rho(a) for a = 1 + exp(log_excess)."""
    order, gain = _order_and_gain(log_excess, log_delta)
    return (epsilon + gain) / order


def _epsilon_at(log_excess: Decimal, rho: Decimal, log_delta: Decimal) -> Decimal:
    """epsilon(a) for a = 1 + exp(log_excess)."""
    order, gain = _order_and_gain(log_excess, log_delta)
    return order * rho - gain


def _order_and_gain(log_excess: Decimal, log_delta: Decimal) -> tuple[Decimal, Decimal]:
    """a = 1 + exp(log_excess), and ln(delta (a - 1) / (1 - 1/a)^a) / (a - 1)."""
    excess = log_excess.exp()
    order = 1 + excess
    log_factor = log_excess - order * (log_excess - order.ln())
    return order, (log_delta + log_factor) / excess


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """rho of an epsilon-differentially private part: epsilon^2/2 (Bun, Steinke 2016, Proposition 1.4).

    Its loss ln(P/Q) lies within -epsilon..epsilon, a range of 2 epsilon: see `rho_of_bounded_range`.
    """
    return rho_of_bounded_range(2 * epsilon)


def rho_of_bounded_range(width: Fraction) -> Fraction:
    """rho of a part whose loss ln(P/Q) takes values in an interval of this width, for neighbours: width^2/8.

    An exponential mechanism that is epsilon-differentially private has width epsilon, not 2 epsilon: its loss
    is ln(W[d(v)]/W[d'(v)]), within -epsilon/2..epsilon/2, plus one constant for all points v.
    Proof. Under Q, K(a) = ln E_Q (P/Q)^a is a cumulant generating function of a variable in an interval of
    width w, so K'' <= w^2/4 (Popoviciu). And K(0) = K(1) = 0. So (w^2/8) a (a - 1) - K(a) is convex in a and
    0 at both 0 and 1, hence not negative for a > 1: K(a) <= (a - 1) a w^2/8, which is zCDP. QED.
    (Cesar, Rogers 2021, "Bounding, Concentrating, and Truncating".)
    """
    return width * width / 8


def ceil_pico(rho: Fraction) -> int:
    """rho in whole pico-rho, rounded up."""
    return -(-rho.numerator * PICO // rho.denominator)
