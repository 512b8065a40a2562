"""The least noise for sums over random people: the loss of the sampled Gaussian by its whole distribution.

What `sampled_gaussian` bounds by moments, here nearly as it is. Decimals of 50 digits, rounded so that a loss
is never understated; the tests find a hundredth or less between both directions and an exact sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from functools import lru_cache
from itertools import pairwise

from privacy.gaussian_tail import upper_tail
from privacy.loss_distribution import UNIT, UNIT_DIGITS, LossDistribution
from privacy.sampled_gaussian import RATE_BITS, SampledGaussian, least_variance

MIN_VARIANCE = 2**10
MAX_STEPS = 2**17
LEAST_NOISE = 64
"""The variance is at least the square of the norm over this: mu is hardly above 8, nothing overflows."""

_ROUNDED_AWAY = 8
"""The variance r of the theorem."""

_FARTHEST = Decimal(20)
"""Standard deviations: beyond lies less than 10^-88, less than what each mass is raised by."""

_NEAR_TOP = 9
_CELLS = 2**13
_PER_DEVIATION = 8
_RAISED = 2
_TRIES = 8
_CLOSE = 1000
"""The search ends within a thousandth of the epsilon that was asked for."""

_CONTEXT = Context(prec=50, rounding=ROUND_CEILING)
_UP = 1 + Decimal(10) ** -45


def tight_micro_epsilon(sampled: SampledGaussian, atto_delta: int) -> int:
    """An epsilon, in 10^-6, for which the steps of `sampled` are (epsilon, delta)-DP; delta as it is drawn.

    Raises ValueError for a variance below 2^10 or C^2/64, for more than 2^17 steps, and where no epsilon is
    shown to hold.

    Theorem. Let N be the standard normal law, mu = C/sqrt(v - 8), m = (1 - q) N + q N(. - mu). If H and H'
    are profiles that cover (m, N) and (N, m) in the sense of `LossDistribution`, then both directions of one
    step of `SampledGaussian`, whatever was released before, are covered by H and H' up to a factor within
    1 -+ 2^-223 d on the probabilities of what is released, d the number of coordinates.

    Proof. Rounding. For x in R let K(x) be k of Z with probability ~ exp(-(k - x)^2/(2 r)), r = 8, and let
    X ~ N(c, s), s = v - r, c an integer. P(K(X) = k) is the integral over x of the density of X times
    exp(-(k - x)^2/(2 r))/T(x), T(x) = sum_j exp(-(j - x)^2/(2 r)). By Poisson summation T is sqrt(2 pi r), up
    to a factor within 1 -+ 2.1 exp(-2 pi^2 r), for all x; with that number for T the integral is
    exp(-(k - c)^2/(2 v))/sqrt(2 pi v), a Gaussian folded with a Gaussian; and sqrt(2 pi v) is nearly the
    normaliser of the discrete Gaussian of variance v. So K(X) has the law of c + Z up to a factor within
    1 -+ 2^-223. In each coordinate by itself: a step releases, up to that factor to the power d, K of a sum
    plus a CONTINUOUS Gaussian of variance s in R^d, and K looks at that alone: post-processing, which leaves
    a cover a cover. (The convolution of Peikert 2010, Theorem 3.1.)
      One dimension. Given who else takes part, the continuous step without the person is N(g, s I), and
    with the person (1 - q) N(g, s I) + q N(g + c, s I). Their ratio depends on the coordinate along c alone,
    in which they are N and m in units of sqrt(s), with |c|/sqrt(s) for mu. A shorter c is covered by C: x ->
    x |c|/C plus an independent Gaussian turns N into N and the shift by mu into that by |c|/sqrt(s).
    max_S P(S) - y Q(S) is convex in (P, Q) jointly, so the mean over who takes part is covered. QED.

    For all steps: `LossDistribution` composes covers, and up to 2^40 coordinates times steps change P and Q
    by factors within 1 -+ 2^-182, which 2^-100 of delta, kept back, covers as in `SampledGaussian`.
    """
    if sampled.variance < _floor(sampled.norm) or sampled.steps > MAX_STEPS:
        raise ValueError("this bound is for noise of an eighth of the norm or more, and up to 2^17 steps.")
    # what is moved up at the ends is, after all steps, less than a thousandth of delta
    negligible = atto_delta * 10 ** (UNIT_DIGITS - 18) // (2**14 * sampled.steps)
    return max(
        each.narrowed(negligible=negligible)
        .repeated(sampled.steps, negligible=negligible)
        .least_micro_epsilon(atto_delta)
        for each in one_step(sampled)
    )


def one_step(sampled: SampledGaussian) -> tuple[LossDistribution, LossDistribution]:
    """Covers of (m, N) and of (N, m), on losses a fixed distance apart.

    Theorem. Let (P, Q) have the loss l = ln(P/Q), and let a part of the outcomes have losses from u to w,
    masses P_i and Q_i. Mass b = (P_i - e^u Q_i)/(1 - e^(u-w)) at w and P_i - b at u covers this part.
    Proof. Its share of max_S P(S) - y Q(S) is the integral of max(0, p - y q), convex in y. For y <= e^u it
    is P_i - y Q_i and for y >= e^w 0, as is that of the two masses: P_i together, and times e^-l Q_i.
    In between the two masses' share is linear in y, and the same at both ends: a chord. QED. (Doroshenko,
    Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the Dots: Tighter Discrete Approximations".) Moved up as
    well: what lies above the highest loss, to infinity, and what lies below the lowest, to that one. Every
    mass is rounded up to 10^-30, and two more: that covers 50 digits, of which less than ten are lost.
    """
    with localcontext(_CONTEXT):
        share = Decimal(sampled.rate) / 2**RATE_BITS
        shift = (Decimal(sampled.norm) ** 2 / (sampled.variance - _ROUNDED_AWAY)).sqrt() * _UP
        per_one, lowest, highest = _grid(share, shift)
        losses = [Decimal(place) / per_one for place in range(lowest, highest + 1)]
        tails = [_tails(loss, share, shift) for loss in losses]
        width = 1 - (Decimal(-1) / per_one).exp()
        present, absent = [Decimal(0)] * len(losses), [Decimal(0)] * len(losses)
        for at, ((normal, mixed), (normal_above, mixed_above)) in enumerate(pairwise(tails)):
            n, m = normal - normal_above, mixed - mixed_above
            raised = (m - losses[at].exp() * n) / width
            present[at + 1] += raised
            present[at] += m - raised
            raised = (n - (-losses[at + 1]).exp() * m) / width
            absent[at] += raised
            absent[at + 1] += n - raised
        normal_below, mixed_below = (1 - each for each in tails[0])
        normal_above, mixed_above = tails[-1]
        present[0] += mixed_below
        absent[-1] += normal_above
        return (
            LossDistribution(per_one, lowest, _up(present), *_up([mixed_above])),
            LossDistribution(per_one, -highest, _up(reversed(absent)), *_up([normal_below])),
        )


def _grid(share: Decimal, shift: Decimal) -> tuple[int, int, int]:
    """Losses per one, a power of two, and the lowest and highest in these: a choice of quality alone.

    An eighth of the standard deviation q sqrt(e^(mu^2) - 1) of one step's loss, as far as 2^14 of them reach.
    """
    spread = share * ((shift * shift).exp() - 1).sqrt()
    top = min(_FARTHEST, shift + _NEAR_TOP)
    highest = (1 - share + share * (shift * top - shift * shift / 2).exp()).ln()
    lowest = (1 - share + share * (-shift * top - shift * shift / 2).exp()).ln()
    per_one = 2
    while per_one * spread < _PER_DEVIATION and per_one * (highest - lowest) < _CELLS:
        per_one *= 2
    return per_one, int(lowest * per_one) - 1, int(highest * per_one) + 1


def _tails(loss: Decimal, share: Decimal, shift: Decimal) -> tuple[Decimal, Decimal]:
    """Of N and of m: the mass of outcomes whose loss of m against N is above this one."""
    beyond = loss.exp() - 1 + share
    if beyond <= 0:
        return Decimal(1), Decimal(1)
    start = ((beyond / share).ln() + shift * shift / 2) / shift
    normal, moved = (upper_tail(max(-_FARTHEST, min(_FARTHEST, each))) for each in (start, start - shift))
    return normal, (1 - share) * normal + share * moved


def _up(masses: Iterator[Decimal] | list[Decimal]) -> tuple[int, ...]:
    return tuple(max(0, int((mass * UNIT).to_integral_value(ROUND_CEILING))) + _RAISED for mass in masses)


@lru_cache(maxsize=64)
def tight_variance(*, rate: int, norm: int, steps: int, micro_epsilon: int, atto_delta: int) -> int:
    """A variance that is enough for (epsilon, delta) by `tight_micro_epsilon`, hardly more than the least.

    The one that is enough by moments where this bound does not reach. Secants of the logarithms find the
    least; what is returned has been asked.
    """
    asked = {"rate": rate, "norm": norm, "steps": steps}
    found = least_variance(**asked, micro_epsilon=micro_epsilon, atto_delta=atto_delta)
    if found < _floor(norm) or steps > MAX_STEPS:
        return found
    aimed = micro_epsilon - micro_epsilon // (2 * _CLOSE)
    variance, before, slope = found, (Decimal(0), Decimal(0)), Decimal(-1)
    for _ in range(_TRIES):
        epsilon = tight_micro_epsilon(SampledGaussian(**asked, variance=variance), atto_delta)
        if epsilon <= micro_epsilon:
            found = min(found, variance)
            if epsilon >= micro_epsilon - micro_epsilon // _CLOSE or variance == _floor(norm):
                break
        here = Decimal(variance).ln(), Decimal(epsilon).ln()
        if before[0] and here[0] != before[0]:
            slope = min((here[1] - before[1]) / (here[0] - before[0]), Decimal("-0.1"))
        before = here
        move = (Decimal(aimed).ln() - here[1]) / slope
        factor = max(Decimal("0.25"), min(Decimal(4), move.exp()))
        variance = max(_floor(norm), int(variance * factor))
    return found


def _floor(norm: int) -> int:
    return max(MIN_VARIANCE, norm**2 // LEAST_NOISE)
