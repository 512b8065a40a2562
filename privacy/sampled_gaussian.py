"""What repeated Gaussian noise on sums over random people costs: the Poisson-subsampled discrete Gaussian.

The loss of training by noised gradients (DP-SGD). Decimals of 60 digits, rounded so that a loss is never
understated; no float takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from functools import lru_cache

from privacy import gaussian_digits
from privacy.bounded_noise import check_atto_delta
from privacy.cost import ATTO
from privacy.loss import MICRO, check_micro_epsilon

RATE_BITS = 32
"""A person takes part in a step with probability `rate` / 2^32: 32 bits of the keystream are below `rate`."""

MAX_STEPS = 2**20
MAX_NORM = 2**44
MAX_MICRO_EPSILON = 30 * MICRO

ORDERS = (*range(2, 64), *range(64, 128, 4), *range(128, 256, 16), *range(256, 1025, 64))
"""Any order gives a valid bound; these are close enough to the best one for epsilons of .01 to 30."""

_PRECISION = 2**12
"""The variance is within 1 part in 4096 of the least that is shown to be enough: .01 % of the noise."""

_UP = 1 + Decimal(10) ** -50
"""Above every rounding of `log_moment`: at most 1024 terms, all positive, each with less than 2^20 roundings
of one part in 10^59, counting the k^2/2 of a power."""

_SLACK = Decimal(2) ** -100
"""For the difference between exact draws and those of gaussian_digits, and for roundings of logarithms."""

_CONTEXT = Context(prec=60, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True)
class SampledGaussian:
    """T steps, each on vectors of Z^d that the earlier steps' releases may choose.

    In each step every person takes part with probability q = rate / 2^32, independently. A person who does
    adds a vector c of Z^d with |c| <= C = `norm` (Euclidean), a function of this person and of what was
    released before. Released is the sum plus Z, whose d coordinates are independent with
    P(Z_i = z) ~ exp(-z^2/(2 v)), v = `variance`. Neighbours differ by one person who comes or goes.

    Theorem. For every whole order a >= 2 and both directions, with
        A = sum_(k=0..a) binom(a, k) (1 - q)^(a-k) q^k exp(k (k - 1) C^2/(2 v)),
    all T steps together have E_Q (P/Q)^a <= A^T, and for every epsilon are (epsilon, delta)-DP with
        delta = A^T exp(-(a - 1) epsilon) (1 - 1/a)^(a-1) / a.
    Neither depends on d, and the lattice costs nothing beside the continuous law.

    Proof. One step. Let N be the law of Z and S the others who take part. Given S, the law with the person
    is (1 - q) N(.-s) + q N(.-s-c), the law without is N(.-s), s a vector of Z^d; s moves both alike and is
    left out. E_Q (P/Q)^a is jointly convex in (P, Q), so the mean over S is at most the worst S. Write
    L(z) = N(z - c)/N(z) = exp((2 z.c - |c|^2)/(2 v)) and X = 1 - q + q L.
      With the person against without: E_N X^a = sum_k binom(a, k) (1 - q)^(a-k) q^k E_N L^k, and
    completing the square, E_N L^k = exp(k (k - 1)|c|^2/(2 v)) sum_z exp(-|z - k c|^2/(2 v)) / sum_z
    exp(-|z|^2/(2 v)). As k c is a point of the lattice, the two sums are one and the same. So E_N X^a is A
    with |c| for C, which grows with |c|. (Mironov, Talwar, Zhang 2019, "Renyi Differential Privacy of the
    Sampled Gaussian Mechanism", section 3.3, for the continuous law; whole orders make it exact here.)
      Without against with: E_P (Q/P)^a = E_N X^(1-a), which is at most E_N X^a for every real a >= 1. The
    map z -> c - z is a bijection of Z^d, its own inverse, and N(c - z) = N(z - c) = N(z) L(z), so it turns
    L into 1/L. Let Y = 1 - q + q/L. Added up over z and c - z, what has to be shown is
        (X^a - X^(1-a)) + L (Y^a - Y^(1-a)) >= 0       wherever L >= 1
    (for L <= 1 exchange the two points). There X >= 1 >= Y, and with b = a - 1/2, X^a - X^(1-a) = 2 X^(1/2)
    sinh(b ln X), Y^(1-a) - Y^a = 2 Y^(1/2) sinh(b ln(1/Y)). At b = 1/2 both sides are q (L - 1): equal. X Y
    = (1 - q)^2 + q^2 + q (1 - q)(L + 1/L) >= 1, so ln X >= ln(1/Y) >= 0; and sinh(b x)/sinh(b y) grows with
    b for x >= y > 0, as its logarithm has the derivative x coth(b x) - y coth(b y) and t coth t grows. (For
    y = 0, L = 1 or q = 0 and all is zero.) So X^(1/2) sinh(b ln X) >= L Y^(1/2) sinh(b ln(1/Y)) for b >= 1/2.
    (The same paper, Theorem 5, shows this for densities by another way.)
      T steps: E_Q (P/Q)^a of everything is at most A times the largest of what follows the first step, by
    induction A^T; the later vectors may depend on what was released, as the bound holds for any.
      epsilon and delta: Canonne, Kamath, Steinke 2020, Proposition 12; the proof is that of
    `concentrated.largest_pico_rho`, with A^T for the mean of e^((a-1) Z). QED.

    Draws of `gaussian_digits` have probabilities right up to a factor within 1 -+ 2^-163 but for 2^-220. For
    up to 2^40 of them, P'(S) <= (1 + 2^-122)(e^epsilon Q(S) + delta) + 2^-180 and the same of Q, so the delta
    of what is drawn is at most delta + 2^-100 for epsilon <= 30: where e^epsilon Q'(S) > 1 there is nothing
    to prove, and elsewhere the excess is below 2^-120 + 2 e^30 2^-180. `least_micro_epsilon` allows for it.

    Not covered: batches of a fixed size, or people in turn. Their losses are others.
    """

    rate: int
    norm: int
    variance: int
    steps: int

    def __post_init__(self) -> None:
        _check_whole(self.rate, 2**RATE_BITS, "the rate, in 2^-32 of the people,")
        _check_whole(self.norm, MAX_NORM, "the norm of a person's vector")
        _check_whole(self.steps, MAX_STEPS, "the number of steps")
        if not gaussian_digits.MIN_VARIANCE <= self.variance <= gaussian_digits.MAX_VARIANCE:
            raise ValueError(
                "the variance must be from 12 to 2^100 squared units; change epsilon or the norm."
            )

    def log_moment(self, order: int) -> Decimal:
        """ln A for one step, rounded up."""
        with localcontext(_CONTEXT):
            share = Decimal(self.rate) / 2**RATE_BITS
            return (_UP * sum(self._terms(order, share))).ln() * _UP

    def _terms(self, order: int, share: Decimal) -> Iterator[Decimal]:
        """binom(a, k) (1 - q)^(a-k) q^k exp(k (k - 1) C^2/(2 v)), k = 0..a."""
        absent = [Decimal(1)]
        for _ in range(order):
            absent.append(absent[-1] * (1 - share))
        # exp(k (k - 1)/2 x) is the product of exp(j x) over j < k
        growth = (Decimal(self.norm) ** 2 / self.variance).exp()
        present, step = Decimal(1), Decimal(1)
        for k in range(order + 1):
            yield present * absent[order - k]
            present *= share * step * (order - k) / (k + 1)
            step *= growth

    def least_micro_epsilon(self, atto_delta: int) -> int:
        """The smallest epsilon, rounded up to 10^-6, for which the theorem gives delta = atto_delta / 10^18.

        ln A^T is convex in the order, so the epsilons have one trough, which halving finds. Any order gives a
        valid epsilon: the search decides how good the result is, never whether it holds.
        """
        check_atto_delta(atto_delta)
        low, high = 0, len(ORDERS) - 1
        while low < high:
            half = (low + high) // 2
            if self._epsilon(ORDERS[half], atto_delta) <= self._epsilon(ORDERS[half + 1], atto_delta):
                high = half
            else:
                low = half + 1
        least = self._epsilon(ORDERS[low], atto_delta)
        return max(1, int((least * MICRO).to_integral_value(ROUND_CEILING)))

    def _epsilon(self, order: int, atto_delta: int) -> Decimal:
        """(T ln A - ln delta - ln a)/(a - 1) + ln(1 - 1/a)."""
        with localcontext(_CONTEXT):
            log_delta = (Decimal(atto_delta) / ATTO - _SLACK).ln()
            log_order, log_below = Decimal(order).ln(), Decimal(order - 1).ln()
            moments = self.steps * self.log_moment(order)
            return (moments - log_delta - log_order) / (order - 1) + log_below - log_order + _SLACK


@lru_cache(maxsize=256)
def least_variance(*, rate: int, norm: int, steps: int, micro_epsilon: int, atto_delta: int) -> int:
    """A variance that is enough for (epsilon, delta), within 1 part in 4096 of the least of the theorem.

    epsilon is from .001 to 30, delta = atto_delta / 10^18 at most 1 in 100. Raises ValueError where 2^100 is
    not enough: for an epsilon of less than about .004, orders up to 1024 give no bound at a delta of 10^-5.
    """
    check_micro_epsilon(micro_epsilon)
    if micro_epsilon > MAX_MICRO_EPSILON:
        raise ValueError("Gaussian noise takes an epsilon of at most 30; ask for a smaller one.")

    def is_enough(variance: int) -> bool:
        sampled = SampledGaussian(rate=rate, norm=norm, variance=variance, steps=steps)
        return sampled.least_micro_epsilon(atto_delta) <= micro_epsilon

    too_small, enough = gaussian_digits.MIN_VARIANCE - 1, max(gaussian_digits.MIN_VARIANCE, norm**2 // 16)
    while not is_enough(enough):
        too_small, enough = enough, 4 * enough
    while enough - too_small > max(1, enough // _PRECISION):
        middle = (enough + too_small) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_small = middle
    return enough


def _check_whole(number: int, largest: int, what: str) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= largest:
        raise ValueError(f"{what} must be a whole number from 1 to {largest}.")
