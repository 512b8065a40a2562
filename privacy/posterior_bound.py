"""What a mutual information of so many nats means: how well anybody can guess who was in the secret half.

Decimal arithmetic with a rounding that is always against us; a bound shown to a reader is never too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from privacy.loss import MICRO

LADDER = (7_812, 15_625, 31_250, 62_500, 125_000, 250_000, 500_000)
"""Micro-nats of the rows shown to people who choose: 1/128, 1/64, ..., 1/2 nat."""

_STEPS = 2**40
_CONTEXT = Context(prec=60)


@dataclass(frozen=True)
class LadderRow:
    """`same_as_epsilon` is the pure epsilon with the same posterior bound, for comparison only: the secret
    is another one. `noise_multiplier` is the noise's standard deviation over that of the 64 worlds' outputs,
    for a single output."""

    micro_nats: int
    posterior_bound: Fraction
    same_as_epsilon: Decimal
    noise_multiplier: Decimal


@lru_cache(maxsize=1024)
def posterior_bound(nats: Fraction) -> Fraction:
    """The largest p with KL(p || 1/2) <= nats, rounded up to a multiple of 2^-40; 1 from ln 2 on.

    Theorem. Let B be one bit that is 0 or 1 with probability 1/2 each, R anything with I(B; R) <= nats.
    Then every guess g(R) is right with probability at most p.
    Proof. Let P be the law of (B, R) and Q that of independent B and R with the same margins. Then
    I(B; R) = KL(P || Q). Apply the map (b, r) -> [g(r) = b]: it is 1 with probability s = P(g(R) = B) under
    P, and with probability exactly 1/2 under Q, where B is a fair coin independent of the guess. A map
    cannot increase KL, so KL(s || 1/2) <= I(B; R) <= nats. KL(s || 1/2) = ln 2 + s ln s + (1 - s) ln(1 - s)
    increases in s from 1/2 on, hence s <= p. QED. (Xiao, Devadas 2023, Theorem 1, for a prior of 1/2.)
    """
    if nats <= 0:
        raise ValueError("a mutual information must be above zero.")
    with localcontext(_CONTEXT):
        # one part in 10^50 more than asked: the divergence below is computed with errors far below that
        allowed = Decimal(nats.numerator) / Decimal(nats.denominator) * (1 + Decimal(10) ** -50)
        low, high = _STEPS // 2, _STEPS
        while high - low > 1:
            between = (low + high) // 2
            low, high = (between, high) if _divergence(between) <= allowed else (low, between)
    return Fraction(high, _STEPS)


def percent(probability: Fraction) -> str:
    """A probability in percent with one decimal, rounded up: 0.62351 gives "62.4"."""
    tenths = -(-probability.numerator * 1000 // probability.denominator)
    return f"{tenths // 10}.{tenths % 10}"


def custodian_sentence(micro_nats: int) -> str:
    """What a custodian is told about a release of so many micro-nats, or about all that an account holds."""
    bound = percent(posterior_bound(Fraction(micro_nats, MICRO)))
    return (
        "Even someone who knows every record in the register and everything about the program guesses "
        "whether a given person was in the half that was really analysed with probability at most "
        f"{bound} % (50 % without the release). This is not differential privacy: the secret is which half "
        "was analysed, not who is in the register."
    )


def ladder() -> tuple[LadderRow, ...]:
    """The table a custodian chooses from."""
    return tuple(_row(micro_nats) for micro_nats in LADDER)


def _row(micro_nats: int) -> LadderRow:
    bound = posterior_bound(Fraction(micro_nats, MICRO))
    with localcontext(_CONTEXT):
        odds = Decimal(bound.numerator) / Decimal(bound.denominator - bound.numerator)
        return LadderRow(
            micro_nats=micro_nats,
            posterior_bound=bound,
            same_as_epsilon=odds.ln().quantize(Decimal("0.01")),
            noise_multiplier=(Decimal(MICRO) / (2 * micro_nats)).sqrt().quantize(Decimal("0.1")),
        )


def _divergence(steps: int) -> Decimal:
    """KL(p || 1/2) in nats for p = steps / 2^40, 1/2 < p < 1."""
    p = Decimal(steps) / _STEPS
    return Decimal(2).ln() + p * p.ln() + (1 - p) * (1 - p).ln()
