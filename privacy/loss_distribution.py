"""Privacy losses of many steps together, in whole numbers: overstated, never understated.

No float takes part, and no transform whose roundings would have to be bounded: polynomials are multiplied as
long whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from functools import cached_property

from privacy.bounded_noise import check_atto_delta
from privacy.cost import ATTO
from privacy.loss import MICRO

UNIT_DIGITS = 30
UNIT = 10**UNIT_DIGITS
"""Masses are whole numbers of 10^-30, rounded up."""

_WIDTH = 2 * UNIT_DIGITS + 2
"""Digits of one coefficient of a product: of masses that sum to less than 10 each."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SLACK = Decimal(2) ** -100
"""For the difference between exact draws and those that are made."""

_UP = 1 + Decimal(10) ** -40


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """Mass `masses[i]` at the loss (first + i)/`per_one`, and `beyond` at an infinite one.

    Its profile is H(y) = sum_l m_l max(0, 1 - y e^-l) + beyond. It covers a pair (P, Q) if for every y >= 0
        max over events S of P(S) - y Q(S) <= H(y).
    More mass, or mass at a larger loss, makes H larger: so whatever is rounded up, or moved up, still covers.

    Theorem. If each step, whatever was released before, is covered by one of these distributions, all steps
    together are covered by their convolution.
    Proof, from the last step backwards. Let P_1, Q_1 be the laws of the first release r, and let what follows
    each r be covered by the masses m. For every event, with t = Q_1(r)/P_1(r),
        P(S) - y Q(S) = sum_r P_1(r) (P_r(S_r) - y t Q_r(S_r)),
    where r with P_1(r) = 0 add nothing above zero and are left out. So it is at most
        sum_r P_1(r) sum_l m_l max(0, 1 - y e^-l t) = sum_l m_l (max over S of P_1(S) - y e^-l Q_1(S)),
    with e^-l = 0 at the infinite loss. By the cover n of the first step this is at most
        sum_l m_l sum_k n_k max(0, 1 - y e^-l e^-k),
    the profile of the convolution. QED. (Sommer, Meiser, Mohammadi 2019, "Privacy Loss Classes"; Zhu, Dong,
    Wang 2022, "Optimal Accounting of Differential Privacy via Characteristic Function", Theorem 10.)
    """

    per_one: int
    first: int
    masses: tuple[int, ...]
    beyond: int

    def __post_init__(self) -> None:
        if self.total >= 10 * UNIT or min(self.beyond, *self.masses) < 0:
            raise ValueError("losses have masses from 0, of less than 10 together.")

    @cached_property
    def total(self) -> int:
        return sum(self.masses) + self.beyond

    def then(self, other: LossDistribution, *, negligible: int) -> LossDistribution:
        """The convolution, with `negligible` mass at either end moved up: `narrowed`."""
        product = _product(self.masses, other.masses)
        beyond = self.beyond * other.total + (self.total - self.beyond) * other.beyond
        return LossDistribution(
            self.per_one,
            self.first + other.first,
            tuple(-(-mass // UNIT) for mass in product),
            -(-beyond // UNIT),
        ).narrowed(negligible=negligible)

    def narrowed(self, *, negligible: int) -> LossDistribution:
        """Without the ends, of `negligible` mass at most, which moves up: to infinity, or to the lowest loss
        that is kept."""
        masses = list(self.masses)
        end, cut = len(masses), 0
        while end > 1 and cut + masses[end - 1] <= negligible:
            end -= 1
            cut += masses[end]
        start, moved = 0, 0
        while start < end - 1 and moved + masses[start] <= negligible:
            moved += masses[start]
            start += 1
        masses[start] += moved
        return LossDistribution(self.per_one, self.first + start, tuple(masses[start:end]), self.beyond + cut)

    def repeated(self, times: int, *, negligible: int) -> LossDistribution:
        """The convolution of `times` of these."""
        found = self
        for bit in f"{times:b}"[1:]:
            found = found.then(found, negligible=negligible)
            if bit == "1":
                found = found.then(self, negligible=negligible)
        return found

    def least_micro_epsilon(self, atto_delta: int) -> int:
        """The smallest epsilon >= 0, rounded up to 10^-6, with H(e^epsilon) at most delta; at least 10^-6.

        Raises ValueError if there is none. For an epsilon between two neighbouring losses, H is A - e^epsilon
        B with the sums A of all masses from the upper one on, and B of these masses times e^-l. From the top
        down, the first pair of losses at whose lower end H is above delta has the epsilon in it. Roundings of
        60 digits, fewer than 2^24, are covered by a part in 10^40.
        """
        check_atto_delta(atto_delta)
        with localcontext(Context(prec=60, rounding=ROUND_CEILING)):
            delta = (Decimal(atto_delta) / ATTO - _SLACK) * UNIT
            if self.beyond >= delta:
                raise ValueError("no epsilon is shown to hold at this delta; ask for more noise.")
            above, weighted = Decimal(self.beyond), Decimal(0)
            growth = (1 / Decimal(self.per_one)).exp()
            weight = (-Decimal(self.first + len(self.masses) - 1) / self.per_one).exp()
            ratio = Decimal(0)
            for mass in reversed(self.masses):
                above, weighted = above + mass, weighted + mass * weight
                weight *= growth
                # e^epsilon where these masses alone count; below 1/weight, the next lower loss does as well
                ratio = (above - delta) / weighted * _UP if weighted else ratio
                if ratio * weight >= 1 or weight >= 1:
                    break
            return max(1, int((max(ratio, Decimal(1)).ln() * MICRO).to_integral_value(ROUND_CEILING)))


def _product(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Of polynomials with whole coefficients: as numbers in base 10^62, where no coefficient overflows.

    The decimals of Python multiply long numbers by number-theoretic transforms: exact, and nearly linear.
    """
    length = len(one) + len(other) - 1
    with localcontext(_EXACT):
        digits = str(_number(one) * _number(other)).zfill(length * _WIDTH)
    return [int(digits[at : at + _WIDTH]) for at in range(0, length * _WIDTH, _WIDTH)]


def _number(coefficients: Sequence[int]) -> Decimal:
    return Decimal("".join(f"{each:0{_WIDTH}d}" for each in coefficients))
