"""Zero-concentrated differential privacy (zCDP) of Gaussian noise, and what it says about epsilon and delta.

Decimals are rounded so that a loss is never understated: rho for a wanted (epsilon, delta) down, rho of a
mechanism up. No float takes part.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from privacy.cost import ATTO, PICO

_DIGITS = 60
_STEPS = 120
"""Halvings of the search for the best order; each narrows it by a third and the first interval is 45 wide."""

_SLACK = Decimal(10) ** -40
"""Above every rounding of `_pico_rho_at`: 60 digits, and no number on the way is beyond 10^16."""


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
    it holds. ln delta is convex in a for fixed rho, so rho(a) has one peak and thirds of an interval find it.
    """
    if not isinstance(epsilon, Fraction | int) or not Fraction(1, 10**6) <= epsilon <= 1000:
        raise ValueError("epsilon must be an exact fraction from 0.000001 to 1000.")
    if isinstance(atto_delta, bool) or not isinstance(atto_delta, int) or not 0 < atto_delta < ATTO:
        raise ValueError("delta must be a whole number of atto units, above 0 and below 1.")
    with localcontext(Context(prec=_DIGITS)):
        exact_epsilon = Decimal(epsilon.numerator) / epsilon.denominator
        log_delta = (Decimal(atto_delta) / ATTO).ln()
        low, high = Decimal(-10), Decimal(35)  # ln(a - 1)
        for _ in range(_STEPS):
            third = (high - low) / 3
            one, other = low + third, high - third
            if _rho_at(one, exact_epsilon, log_delta) < _rho_at(other, exact_epsilon, log_delta):
                low = one
            else:
                high = other
        rho = _rho_at(low, exact_epsilon, log_delta) - _SLACK
        return max(0, int((rho * PICO).to_integral_value(rounding=ROUND_FLOOR)))


def _rho_at(log_excess: Decimal, epsilon: Decimal, log_delta: Decimal) -> Decimal:
    """rho(a) for a = 1 + exp(log_excess)."""
    excess = log_excess.exp()
    order = 1 + excess
    log_factor = log_excess - order * (log_excess - order.ln())
    return (epsilon + (log_delta + log_factor) / excess) / order


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
