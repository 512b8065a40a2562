"""Gaussian noise of twins: what (epsilon, delta) of a whole job leaves to each table, and how noise is drawn.

All of it is public and fixed before any data is read, but for what `draw` returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from privacy import discrete_gaussian, gaussian_digits
from privacy.concentrated import largest_pico_rho
from privacy.cost import PICO, Currency, check_amount
from privacy.keystream import Keystream
from privacy.loss import MICRO, check_micro_epsilon
from privacy.noise import GaussianNoise

MAX_MICRO_EPSILON = 30 * MICRO
MAX_PARTS = 100
_UNSPENT = 1
_LEAST = 1000
"""Pico-rho of one table, so that each step of it gets some."""


@dataclass(frozen=True)
class GaussianLoss:
    """(epsilon, delta) of a whole job, whose rho is cut into `parts` equal ones: one for each counted table.

    Epsilon is at most 30, delta is in units of 10^-18 and at most 1 in 100. Raises ValueError otherwise.

    Theorem. Parts that are chosen one after another, each `rho`-zCDP whatever was released before it, are
    (epsilon, delta)-differentially private together.
    Proof. They are zCDP with the sum of their rho (Bun, Steinke 2016, Lemma 2.3; `accounting` proves it for
    parts that depend on earlier outcomes). The sum is below `largest_pico_rho(epsilon, delta)`, which implies
    (epsilon, delta): Canonne, Kamath, Steinke 2020, Corollary 13. QED.

    One pico-rho is left unspent, for the distance of `draw` from ideal draws. A release takes fewer than 2^22
    draws, whose probabilities are ideal up to a factor within 1 -+ 2^-163 each but for 2^-220 of the mass;
    where ideal ones are (epsilon, d)-DP these are (epsilon, d + 2^-130)-DP, by the argument of
    `gaussian_digits.sample`. The d of Corollary 13 has a factor exp((a - 1) a rho), a - 1 > 4 * 10^-5 in the
    search for the order: a rho less by 10^-12 makes d less by 10^-17 of it, that is 10^-35 or more.
    """

    micro_epsilon: int
    atto_delta: int
    parts: int = 1

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        if self.micro_epsilon > MAX_MICRO_EPSILON:
            raise ValueError("Gaussian noise takes an epsilon of at most 30; leave delta out above that.")
        check_amount(Currency.DELTA, self.atto_delta)
        if isinstance(self.parts, bool) or not 1 <= self.parts <= MAX_PARTS:
            raise ValueError(f"a job has 1 to {MAX_PARTS} counted tables.")
        if self.pico_rho < _LEAST:
            raise ValueError("epsilon and delta leave too little to each table; raise one of them.")

    @cached_property
    def pico_rho(self) -> int:
        """Of one part, in whole pico-rho, rounded down."""
        whole = largest_pico_rho(Fraction(self.micro_epsilon, MICRO), self.atto_delta)
        return (whole - _UNSPENT) // self.parts

    @property
    def rho(self) -> Fraction:
        """Of one part."""
        return Fraction(self.pico_rho, PICO)


def variance_of(tables: int, *, rows: int, rho: Fraction) -> Fraction:
    """Variance parameter of the noise of every count of so many tables: C^2 tables/(2 rho), or a little more.

    Theorem. Let each of `tables` histograms, fixed before, count the rows of a data set, each row in exactly
    one cell by a rule that looks at this row alone. With independent discrete Gaussian noise of this variance
    parameter v on every count, they are rho (c/C)^2-zCDP together for a person who comes or goes with c rows,
    c <= C = `rows`; so they are rho-zCDP.
    Proof. c rows change the counts of a histogram by a vector of whole numbers, all of one sign, with an L1
    norm of c: its L2 norm is at most c, which is reached where all are in one cell. A shift of one count by
    the integer d costs d^2/(2 v) (Canonne, Kamath, Steinke 2020, Proposition 5), and independent counts add
    up (their Theorem 14): at most c^2/(2 v) for each histogram, tables c^2/(2 v) = rho (c/C)^2 for all. QED.

    Rounded up to a whole number from 12 on, which `gaussian_digits` draws by the million.
    """
    exact = tables * rows**2 / (2 * rho)
    return Fraction(-(-exact.numerator // exact.denominator)) if _is_wide(exact) else exact


def draw(variance: Fraction, size: int, *, keystream: Keystream | None) -> NDArray[np.int64]:
    """`size` independent draws of discrete Gaussian noise of a variance that `variance_of` gave."""
    if _is_wide(variance):
        return gaussian_digits.sample(int(variance), size, keystream=keystream)
    return discrete_gaussian.sample(variance, size, keystream=keystream)


def deviation(variance: Fraction) -> Fraction:
    """Standard deviation of the noise, in rows, rounded up to 1024ths."""
    return GaussianNoise(variance).scale


def epsilon_of_choice(rho: Fraction, *, wanted: int) -> Fraction:
    """The largest epsilon, rounded down to 10^-12, with which `wanted` draws of `selection.exponential_best`
    take rho together: wanted epsilon^2/8 <= rho."""
    square = 8 * rho / wanted
    return Fraction(isqrt(square.numerator * PICO**2 // square.denominator), PICO)


def _is_wide(variance: Fraction) -> bool:
    return variance >= gaussian_digits.MIN_VARIANCE
