"""Joint noise of several sums: one draw for all of them, wide enough for the one person who moves them all.

The K-norm mechanism of a box (Hardt, Talwar 2010, section 4; Awan, Slavkovic 2021), on integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from privacy.discrete_gaussian import ceil_sqrt
from privacy.geometric_digits import unbounded
from privacy.keystream import Keystream, process_keystream

MAX_VALUES = 400
MAX_REACH = 2**44
"""Most grid units by which the widest side of the box, and 16 units in any case, grow over 1/rate shells."""

_MOST_RATES = 2**13
"""Largest radius in units of 1/rate: with MAX_REACH, all that is multiplied stays below 2^60."""

_SCALE_PLACES = 2**10
"""A standard deviation is stated in 1024ths of a unit, rounded up."""

_FINEST = 2**20
"""Cells of the coarsest grid (`privacy/grid.py`): how many shells are of use follows from it."""

_COARSEST = 16
"""Most that (p + 1) rate may be: then e^8 radii are tried for each that is taken."""

_CHUNK = 2**16
"""Random numbers of one kind that are made at once."""

_DIGITS = 60
_HALVINGS = 160
_SLACK = Decimal(10) ** -40


@dataclass(frozen=True)
class JointNoise:
    """Noise of p whole numbers, which one neighbour moves by at most `sensitivities`, all at once.

    Law. Let n_k be the sensitivities, m = `shells` any number, w_k = ceil(n_k/m) = `widths`, and
        P(Z = z) ~ exp(-rate rho(z)),   rho(z) = max_k ceil(|z_k|/w_k),   rate = epsilon/m.
    rho(z) is the least whole t for which z lies in the box |z_k| <= t w_k: the number of z's shell.

    Theorem. For all z and all s with |s_k| <= n_k, P(Z = z) <= e^epsilon P(Z = z + s). Proof. rho(s) <= m, as
    n_k <= m w_k. And rho(z + s) <= rho(z) + rho(s), as |z_k + s_k|/w_k <= |z_k|/w_k + |s_k|/w_k and
    ceil(x + y) <= ceil(x) + ceil(y). So rho(z + s) - rho(z) <= m, and the ratio of the two probabilities,
    exp(rate (rho(z + s) - rho(z))), is at most e^(m rate) = e^epsilon. QED.

    The box is the smallest convex body that holds every s, and all its sides count at once: to make one side
    wider gives that value more noise and no other value less. There is therefore nothing to weigh.

    Sampler. Draw a radius T with P(T = t) ~ V(t) e^(-rate t), V(t) = prod_k (2 t w_k + 1), then Z uniform in
    the box of T, which holds V(T) points. Each z of shell number u gets the sum over t >= u of e^(-rate t) up
    to a constant, which is e^(-rate u)/(1 - e^(-rate)): the law above.
    The radius. A sum of p + 1 geometric numbers, P(G = g) ~ e^(-rate g), is t with probability ~ C(t + p, p)
    e^(-rate t), as there are C(t + p, p) ways to write t so. It is accepted with probability
        prod_k (2 t w_k + 1) / (2 w_k (t + k)),   k = 1..p,
    whose denominators multiply to p! C(t + p, p) times a constant. Each factor is a fraction of integers and
    at most 1, as 1 <= 2 w_k k: one exact coin each. About exp(p^2/(2t)) tries are made at the usual t of
    p/rate, so about exp(p rate/2): below 1.2 for p = 100 and epsilon <= 10, with the shells of `joint_noise`.

    Nothing but whole numbers takes part. The digits of a geometric number are off by a factor within
    1 -+ 2^-127 each (`geometric_digits`), and at most 2^12 of them make a radius of up to 2^13/rate for p <=
    400: the privacy loss is off by less than 2^-110. Larger radii, which have probability below 2^-8000,
    raise OverflowError. Memory: p + 1 numbers for each draw, at most 2^16 at once, and the digits' tables.

    Raises ValueError for no or more than 400 sensitivities, for one that is no positive whole number, for
    shells so coarse that thousands of radii would be tried, for an epsilon that is no exact positive
    fraction, and for noise too wide for 64 bits.
    """

    sensitivities: tuple[int, ...]
    epsilon: Fraction
    shells: int

    def __post_init__(self) -> None:
        if not 1 <= len(self.sensitivities) <= MAX_VALUES:
            raise ValueError(f"joint noise is for 1 to {MAX_VALUES} values.")
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise ValueError("epsilon must be an exact fraction above zero.")
        if not all(_is_count(number) for number in (*self.sensitivities, self.shells)):
            raise ValueError("sensitivities and shells must be whole numbers above zero.")
        if self.rate * (len(self.widths) + 1) > _COARSEST:
            raise ValueError("the joint noise would be too coarse; lower epsilon or declare fewer values.")
        if max(*self.widths, 16) > MAX_REACH * self.rate:
            raise ValueError("the joint noise is beyond 2^44 units, too wide for 64 bits; raise epsilon.")

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """w_k: by how much each side grows from shell to shell, in grid units."""
        return tuple(-(-n // self.shells) for n in self.sensitivities)

    @property
    def facts(self) -> dict[str, object]:
        """For a certificate: what the draw costs, and the box of each of its shells, in grid units."""
        return {"epsilon": str(self.epsilon), "shells": self.shells, "widths": list(self.widths)}

    @cached_property
    def rate(self) -> Fraction:
        """The loss from one shell to the next."""
        return self.epsilon / self.shells

    @cached_property
    def marginals(self) -> tuple[JointMarginal, ...]:
        """The law of each value's noise by itself."""
        return tuple(JointMarginal(self, index) for index in range(len(self.sensitivities)))

    def draw(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """`size` independent draws, one row each: an array of shape (size, p), in grid units."""
        stream = keystream if keystream is not None else process_keystream()
        out = np.empty((size, len(self.widths)), np.int64)
        rows = max(1, _CHUNK // (len(self.widths) + 1))
        for start in range(0, size, rows):
            part = out[start : start + rows]
            part[:] = self._draw(len(part), np.array(self.widths), stream=stream)
        return out

    def draw_of(self, index: int, size: int, *, keystream: Keystream) -> NDArray[np.int64]:
        """`size` independent draws of one value's noise, for forecasts: a release must draw all jointly."""
        out = np.empty(size, np.int64)
        rows = max(1, _CHUNK // (len(self.widths) + 1))
        for start in range(0, size, rows):
            part = out[start : start + rows]
            part[:] = self._draw(len(part), np.array(self.widths[index : index + 1]), stream=keystream)[:, 0]
        return out

    def _draw(self, n: int, widths: NDArray[np.int64], *, stream: Keystream) -> NDArray[np.int64]:
        """n points uniform in the box of a radius of its own each, of the sides with these widths."""
        halves = self._radii(n, stream=stream)[:, None] * widths
        return uniform_below(2 * halves + 1, stream=stream) - halves

    def _radii(self, n: int, *, stream: Keystream) -> NDArray[np.int64]:
        radii = np.empty(n, np.int64)
        missing = np.arange(n)
        while missing.size:
            tried = self._tried_radii(missing.size, stream=stream)
            accepted = self._accepts(tried, stream=stream)
            radii[missing[accepted]] = tried[accepted]
            missing = missing[~accepted]
        return radii

    def _tried_radii(self, n: int, *, stream: Keystream) -> NDArray[np.int64]:
        parts = len(self.widths) + 1
        geometric = unbounded(1 / self.rate).draw(n * parts, stream=stream).reshape(n, parts)
        largest = int(_MOST_RATES / self.rate)
        # by themselves as well: a sum of 401 parts of up to 2^62 would wrap around, one of 2^53 does not
        radii: NDArray[np.int64] = np.minimum(geometric, largest + 1).sum(axis=1)
        if int(radii.max()) > largest:
            raise OverflowError("a joint noise draw does not fit into 64 bits.")
        return radii

    def _accepts(self, radii: NDArray[np.int64], *, stream: Keystream) -> NDArray[np.bool_]:
        twice, place = 2 * np.array(self.widths), np.arange(1, len(self.widths) + 1)
        coins = uniform_below(twice * (radii[:, None] + place), stream=stream)
        wins = coins < twice * radii[:, None] + 1
        accepted: NDArray[np.bool_] = np.logical_and.reduce(wins, axis=1)
        return accepted


@dataclass(frozen=True)
class JointMarginal:
    """What joint noise is to one of its values. It states widths: a release draws all values at once.

    Bounds. Given T, |Z_k| > h exactly if (T + b)|U| >= (h + 1/2)/w_k, where U is uniform on -1..1 and b =
    1/(2 w_k): a uniform whole number is a uniform real one, rounded. Let Y have density ~ y^p e^(-rate y).
    Then T is stochastically at most ceil(Y) <= Y + 1. Proof. P(T = t)/P(ceil(Y) = t) is, up to a constant,
    1 over the integral over 0 < u < 1 of e^(-rate u) prod_j (t - 1 + u)/(t + b_j), each factor of which grows
    with t as u - 1 <= b_j: the likelihood ratio falls. QED. So, with b <= 1/2,
        |Z_k| > h  has at most the probability of  (Y + 3/2)|U| >= (h + 1/2)/w_k,  and hence of
                                                    rate Y |U| >= rate ((h + 1/2)/w_k - 3/2) = x,
    which is `_tail(x)`; the variance of Z_k is E f (f + 1)/3 with f = T w_k, at most w_k^2 E (Y + 3/2)^2/3.
    """

    joint: JointNoise
    index: int

    @property
    def scale(self) -> Fraction:
        """The standard deviation, rounded up to 1024ths of a unit."""
        return Fraction(ceil_sqrt(self.variance * _SCALE_PLACES**2), _SCALE_PLACES)

    @property
    def variance(self) -> Fraction:
        """w^2/(3 rate^2) ((p + 1)(p + 2) + 3 (p + 1) rate + 9/4 rate^2), from E Y = (p + 1)/rate and E Y^2 =
        (p + 1)(p + 2)/rate^2. With one value it is that of Laplace noise, with many (p/epsilon)^2/3."""
        p, rate = len(self.joint.widths), self.joint.rate
        square = (p + 1) * (p + 2) + 3 * (p + 1) * rate + Fraction(9, 4) * rate**2
        return self.joint.widths[self.index] ** 2 * square / (3 * rate**2)

    def draw(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """Independent draws of this value's noise alone, for forecasts."""
        stream = keystream if keystream is not None else process_keystream()
        return self.joint.draw_of(self.index, size, keystream=stream)

    def half_width(self, alpha: Fraction) -> int:
        """An integer h with P(|Z_k| > h) <= alpha, for 0 < alpha < 1: the least that the bound gives."""
        reach = _quantile(alpha, len(self.joint.widths)) / self.joint.rate
        exact = self.joint.widths[self.index] * (reach + Fraction(3, 2)) - Fraction(1, 2)
        return -(-exact.numerator // exact.denominator)


def joint_noise(sensitivities: Sequence[int], *, epsilon: Fraction) -> JointNoise:
    """With as many shells as suit: the least power of two whose square is at least 2^20 epsilon, but no more
    than there are units in the least sensitivity.

    More shells make what `JointMarginal` states tighter (by 1.5 shells), fewer make it matter less that sides
    are rounded up (m/n_k, n_k at least 2^20 on a grid): both are about a thousandth at epsilon 1.
    """
    least = 1 << (ceil_sqrt(_FINEST * epsilon) - 1).bit_length()
    return JointNoise(tuple(sensitivities), epsilon, min(least, 1 << (min(sensitivities).bit_length() - 1)))


def uniform_below(bounds: NDArray[np.int64], *, stream: Keystream) -> NDArray[np.int64]:
    """For each bound, 1 to 2^62, a whole number that is uniform from 0 to below it; any shape.

    As many bits as bound - 1 has are drawn, and drawn again until they are below the bound.
    """
    flat = bounds.ravel()
    masks = _all_ones(flat - 1)
    drawn = np.empty(flat.size, np.int64)
    missing = np.arange(flat.size)
    while missing.size:
        drawn[missing] = stream.words(missing.size, np.uint64).view(np.int64) & masks[missing]
        missing = missing[drawn[missing] >= flat[missing]]
    return drawn.reshape(bounds.shape)


def _all_ones(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least 2^b - 1 that is not below each number."""
    masks = numbers.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> shift
    return masks


@lru_cache(maxsize=256)
def _quantile(alpha: Fraction, values: int) -> Fraction:
    """An x with _tail(x) <= alpha, within 10^-39 of the least one. Raises ValueError for another alpha."""
    if not 0 < alpha < 1:
        raise ValueError("alpha must be above 0 and below 1.")
    with localcontext(Context(prec=_DIGITS)):
        wanted = Decimal(alpha.numerator) / alpha.denominator
        low, high = Decimal(0), Decimal(values)
        while _tail(high, values) > wanted:
            high *= 2
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _tail(middle, values) > wanted else (low, middle)
        # far above what sums of 400 terms lose of 60 digits
        return Fraction(high.quantize(_SLACK, rounding=ROUND_CEILING) + _SLACK)


def _tail(x: Decimal, values: int) -> Decimal:
    """P(G |U| >= x) for G of density ~ g^p e^-g and U uniform on -1..1:
    e^-x sum over j = 0..p-1 of (1 - j/p) x^j/j!.

    It is E max(0, 1 - x/G) = Q(p + 1) - (x/p) Q(p), where Q(a) = e^-x sum over j < a of x^j/j! is the
    probability that a Gamma variable of whole shape a is at least x.
    """
    term, total = Decimal(1), Decimal(0)
    for j in range(values):
        total += term * (values - j)
        term = term * x / (j + 1)
    return total / values * (-x).exp()


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
