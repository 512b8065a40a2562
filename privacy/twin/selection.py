"""Which pairs of columns are worth their noise: chosen one by one, at random, by scores.

Must never be given a score that one row can move by more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privacy.discrete_gaussian import bernoulli_exp
from privacy.discrete_laplace import check_scale
from privacy.geometric_digits import unbounded
from privacy.keystream import Keystream, process_keystream

Pair = tuple[int, int]


def choose_pairs(
    scores: Mapping[Pair, int],
    *,
    columns: int,
    wanted: int,
    epsilon: Fraction,
    rows: int,
    keystream: Keystream | None = None,
) -> tuple[Pair, ...]:
    """`wanted` pairs: first those of a spanning tree of the columns, each without closing a cycle, then more.

    Each choice takes an equal part of epsilon (`noisy_best`), and which pairs it is among follows from the
    choices before it: together they are epsilon-differentially private by basic composition, and their loss
    is at most epsilon c/C for a person with c <= C = `rows` rows.
    """
    scale = Fraction(2 * rows * wanted) / epsilon
    return _one_by_one(
        scores,
        columns=columns,
        wanted=wanted,
        best=lambda among: noisy_best(among, scale=scale, keystream=keystream),
    )


def choose_pairs_concentrated(
    scores: Mapping[Pair, int],
    *,
    columns: int,
    wanted: int,
    epsilon: Fraction,
    rows: int,
    keystream: Keystream | None = None,
) -> tuple[Pair, ...]:
    """The same by `exponential_best`, each of the choices with all of epsilon: they are zCDP together with
    wanted epsilon^2/8 of rho, and (c/C)^2 of that for a person with c <= C = `rows` rows."""
    rate = epsilon / (2 * rows)
    return _one_by_one(
        scores,
        columns=columns,
        wanted=wanted,
        best=lambda among: exponential_best(among, rate=rate, keystream=keystream),
    )


def _one_by_one(
    scores: Mapping[Pair, int], *, columns: int, wanted: int, best: Callable[[Sequence[int]], int]
) -> tuple[Pair, ...]:
    part = list(range(columns))
    left = list(scores)
    chosen: list[Pair] = []
    while len(chosen) < wanted:
        growing = len(chosen) < columns - 1
        among = [pair for pair in left if not growing or part[pair[0]] != part[pair[1]]]
        found = among[best([scores[pair] for pair in among])]
        chosen.append(found)
        left.remove(found)
        old, new = part[found[1]], part[found[0]]
        part = [new if label == old else label for label in part]
    return tuple(chosen)


def noisy_best(scores: Sequence[int], *, scale: Fraction, keystream: Keystream | None = None) -> int:
    """The position of the largest score + G, P(G = g) ~ exp(-g/scale), g >= 0; the first one of equals.

    Theorem. Let each score be an integer that changes by at most c when one person comes or goes who
    contributes c <= C rows. With scale = 2 C/epsilon the position is drawn with a loss of at most
    epsilon c/C; in particular it is epsilon-differentially private.
    Proof. Fix the G_j of all positions but i. Position i is drawn if and only if G_i >= h, where
    h = max over j of s_j + G_j - s_i, plus 1 if j comes before i: an integer. For the other data set h' lies
    within 2 c of h. As P(G >= h) = exp(-max(h, 0)/scale) for integers h,
        P(G_i >= h) <= exp(2 c/scale) P(G_i >= h') = e^(epsilon c/C) P(G_i >= h').
    The G_j are drawn alike for both; taking the mean over them proves it for P(i). QED.
    (Dwork, Roth 2014, Claim 3.9, for one-sided noise on integers. In the limit of fine scores this is
    "permute and flip", whose expected score is never below the exponential mechanism's: McKenna, Sheldon
    2020; Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang 2021.)

    It needs no table of weights as long as the range of the scores, which is that of the number of people.
    G is drawn digit by digit: `discrete_laplace.sample` says how exactly.
    """
    stream = keystream if keystream is not None else process_keystream()
    noise = unbounded(check_scale(scale)).draw(len(scores), stream=stream)
    return max(
        range(len(scores)),
        key=[score + drawn for score, drawn in zip(scores, noise.tolist(), strict=True)].__getitem__,
    )


def exponential_best(scores: Sequence[int], *, rate: Fraction, keystream: Keystream | None = None) -> int:
    """Position i with probability proportional to exp(rate s_i), exactly: the exponential mechanism.

    Theorem. Let each score be an integer that changes by at most c when one person comes or goes who
    contributes c <= C rows, and rate = epsilon/(2 C). Then the position is drawn with a loss whose values lie
    in an interval of width epsilon c/C, and which is epsilon c/C at most; so it is (epsilon c/C)^2/8-zCDP.
    Proof. With N = sum_j exp(rate s_j) the loss at i is rate (s_i - s'_i) - ln(N/N'). The first term lies
    within -rate c..rate c, an interval of width epsilon c/C, and the second is the same for all i; it lies
    within the same bounds, so the loss is at most 2 rate c. The rest is `concentrated.rho_of_bounded_range`.
    QED. (McSherry, Talwar 2007; Dong, Durfee, Rogers 2020 for bounded range; Cesar, Rogers 2021 for zCDP.
    The noise of `noisy_best` is not known to have that width, so it would cost up to four times as much.)

    Positions are proposed uniformly and accepted with probability exp(-rate (max - s_i)) until one is: the
    best is always accepted, so this takes no more proposals than there are positions, on average.
    """
    stream = keystream if keystream is not None else process_keystream()
    most = max(scores)
    while True:
        position = stream.below(len(scores))
        behind = (most - scores[position]) * rate
        if bernoulli_exp(behind.numerator, behind.denominator, stream=stream):
            return position


def dependence(
    counts: NDArray[np.int64], first: NDArray[np.float64], second: NDArray[np.float64], *, noise: Fraction
) -> int:
    """How far two columns are from independent, less what their noise would add: whole rows.

    sum |counts - expected| - noise, where `expected` are whole numbers near what the noisy counts of the two
    columns, `first` and `second`, both scaled to the same total, say of independent columns.

    Only `counts` has seen data that is not yet noised. A row more or less is one count more or less by one,
    which moves the sum by at most one, whatever the rest: c rows move the score by at most c.
    """
    total = max(float(first.sum()), 1.0)
    expected = np.rint(np.outer(first, second) / total).astype(np.int64)
    return int(np.abs(counts - expected).sum()) - int(noise)
