"""The upper tail of the standard normal law in decimals, to as many digits as the caller's context has."""

from __future__ import annotations

from decimal import Context, Decimal, getcontext, localcontext

_MOST = 20
_PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803"
    "48253421170679821480865132823066470938446095505822317253594081284811174502841027019385211"
)


def upper_tail(x: Decimal) -> Decimal:
    """P(N > x) for |x| <= 20, with all but the last few digits of the context right, also far out.

    P(0 < N < x) = exp(-x^2/2)/sqrt(2 pi) sum_(n>=0) x^(2n+1)/(1 * 3 * ... * (2n+1)): every term is positive,
    so the series loses nothing. The subtraction from 1/2 loses as many digits as the tail has leading zeros,
    0.22 x^2 + 2, which are added beforehand. Terms shrink by more than half from x^2 < n on, and are summed
    until they no longer change the sum. (Abramowitz and Stegun 1964, formula 26.2.11.)
    """
    digits = getcontext().prec
    if abs(x) > _MOST or digits > 64:
        raise ValueError("the tail is computed up to 20 standard deviations, to 64 digits.")
    with localcontext(Context(prec=digits + 10 + int(Decimal("0.22") * x * x))):
        inside = _series(x) * (-x * x / 2).exp() / (2 * _PI).sqrt()
        outside = Decimal("0.5") - inside
    return +outside


def _series(x: Decimal) -> Decimal:
    term = total = x
    odd, before = 1, None
    while total != before:
        odd, before = odd + 2, total
        term *= x * x / odd
        total += term
    return total
