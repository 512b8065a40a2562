"""PAC privacy on 64 fixed half-samples: the output of one secret world, noised by how much the worlds differ.

The whole argument is on this page. The worlds' outputs, the noise scale and the state depend on the data
and must never leave `release` unsealed; no error message may repeat one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar

from privacy.cost import Cost, Currency, exact, format_amount
from privacy.discrete_gaussian import sample
from privacy.grid import OutputGrid
from privacy.half_samples import WORLDS
from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass
from privacy.mechanism import NoisedOutput, RunOutput
from privacy.pac_state import LOG_BITS, PacState
from privacy.plan import HalfSamples
from privacy.posterior_bound import percent, posterior_bound
from privacy.run_outputs import check_grids, check_run_outputs, middle

MAX_MICRO_NATS = 500_000
SMALLEST_SPREAD = Fraction(1, 4096)
"""Share of the declared range that the worlds' outputs are taken to spread by, at least. Public."""

_ROOT_BITS = 32


@dataclass(frozen=True)
class Pac:
    """One secret half-sample's output with exact discrete Gaussian noise: at most beta nats about which half.

    Parameters, public and fixed before any data is read: one grid per output (1 to 20) and beta in
    micro-nats (1 to 500,000). Raises ValueError otherwise.

    Setting. Every person is in exactly 32 of 64 fixed worlds. The pipeline runs on all of them, in isolation,
    and gives Y_j in {0..K_1} x ... x {0..K_p}; a failed run counts as the middle of every range. The secret J
    was drawn uniformly when the cohort made its first release and stays. Released: Y_J + Z with independent
    Z_k, P(Z_k = z) ~ exp(-z^2 / (2 v_k)). With w the posterior of J given all earlier releases of the cohort
    (uniform at first) and m_k a whole number near the mean of Y_jk under w,
        s_k = sum_j w_j (Y_jk - m_k)^2,   r_k >= max(sqrt(s_k), K_k / 4096),
        v_k >= r_k sum_c r_c / (2 beta).

    Theorem. I(J; this release | earlier releases = h) <= beta for every h. Hence all releases of a cohort
    together tell at most the sum of their betas about J, however each was chosen in view of the others; and
    anybody, knowing the data, the worlds, the pipelines and their coins, guesses whether a given person is
    in world J with probability at most `posterior_bound` of that sum.
    Proof. Given h, J has law w, and the release has law P_j = law of Y_j + Z if J = j. For any law Q,
        I = sum_j w_j KL(P_j || sum_i w_i P_i) = sum_j w_j KL(P_j || Q) - KL(sum_i w_i P_i || Q)
          <= sum_j w_j KL(P_j || Q).
    Let Q be the law of m + Z. Both Y_jk and m_k are whole numbers, so P_j and Q have equal normalisers, and
        KL(P_j || Q) = sum_k E[(R_k - m_k)^2 - (R_k - Y_jk)^2] / (2 v_k) = sum_k (Y_jk - m_k)^2 / (2 v_k),
    because E R_k = Y_jk under P_j (Canonne, Kamath, Steinke 2020, Prop. 5, for order 1). On average over w
        sum_j w_j KL(P_j || Q) = sum_k s_k / (2 v_k) <= sum_k r_k^2 beta / (r_k sum_c r_c) = beta.
    The chain rule, I(J; R_1, ..., R_T) = sum_t E_h I(J; R_t | h), gives the sum; h may have decided the t-th
    pipeline and its beta, and whether there is a t-th, as long as no history exceeds the account's cap. A
    pipeline's coins are independent of J, since all 64 worlds are run alike: giving them away only helps. The
    bit "this person is in world J" is a function of J and a fair coin, as 32 of 64 worlds hold the person; so
    its information is at most that of J, and `posterior_bound` applies. QED.
    (Xiao, Devadas 2023 for the bound by a Gaussian; Zhu, Sridhar, Devadas 2026 for a posterior in its place.
    The discrete law and the whole-number centre make the argument exact.)

    Nothing above is approximate in the code. The posterior is exact: 1/(2 v_k) is rounded down to a multiple
    of 2^-128, so logarithms of likelihoods are whole multiples too (`PacState`). Where w enters s_k it is
    replaced by upper bounds u_j >= w_j, roots are rounded up, and v_k is rounded up by rounding 1/(2 v_k)
    down. Sampling is exact in the sense of `privacy.discrete_gaussian`.

    The floor K_k / 4096 is not needed for the theorem: where all worlds agree, s_k = 0, and the exact value
    tells nothing about J. But it would tell that they agree, to readers who know less than the theorem allows
    them, and what all halves of a register share is a fact about the register. With the floor no output is
    ever released without noise: its deviation is at least K_k / (4096 sqrt(2 beta)), 0.1 % of the range at
    beta = 1/32. The floor is no promise about such facts; PAC privacy makes none.

    A release that a reviewer withholds has been made all the same: the posterior then knows more than any
    reader, and the sum of the betas bounds what readers learn from the rest. A failed transaction that wrote
    neither value nor state made none.

    What this is not. It is not differential privacy: the secret is which half was analysed, not who is in the
    register. The prior is 1/2 and no other. The noise scale depends on the register, so it is not published,
    and neither is any half width. A reader knows that the noise is about 1/sqrt(2 beta) times as wide as the
    half-samples spread (wider with several outputs), but not how far they do; a twin gives an idea of that.
    """

    mechanism: ClassVar[str] = "pac"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.PAC
    relation: ClassVar[str] = "which half of the privacy units was analysed; each was in it with chance 1/2"

    grids: tuple[OutputGrid, ...]
    micro_nats: int

    def __post_init__(self) -> None:
        check_grids(self.grids)
        if type(self.micro_nats) is not int or not 1 <= self.micro_nats <= MAX_MICRO_NATS:
            raise ValueError(
                "the mutual information must be from 0.000001 to 0.5 nat in whole millionths: at half a nat "
                "a guess about a person may be right 19 times of 20; ask for less."
            )

    @property
    def plan(self) -> HalfSamples:
        return HalfSamples()

    @property
    def cost(self) -> Cost:
        return Cost.of({Currency.NATS: self.micro_nats})

    @property
    def nats(self) -> Fraction:
        return exact(Currency.NATS, self.micro_nats)

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate."""
        return {
            "worlds": WORLDS,
            "nats": format_amount(Currency.NATS, self.micro_nats),
            "posterior_at_most_percent": percent(posterior_bound(self.nats)),
            "noise": "discrete_gaussian",
            "smallest_spread": str(SMALLEST_SPREAD),
        }

    def release(
        self, outputs: Sequence[RunOutput], *, state: PacState, keystream: Keystream | None = None
    ) -> tuple[tuple[NoisedOutput, ...], PacState]:
        """Draw the noise and return the release and the state that the cohort's next release starts from.

        Call once per job, inside the publishing transaction, which reads and replaces the state under a lock.
        `outputs` has one entry per world, None for a failed run. Raises ValueError for anything else, which
        is a bug of the platform.
        """
        worlds = self._completed(outputs)
        precisions = self._precisions(worlds, state)
        released = [
            units + int(sample(_variance(precision), 1, keystream=keystream)[0])
            for units, precision in zip(worlds[state.secret], precisions, strict=True)
        ]
        values = tuple(
            NoisedOutput(value=grid.value(units)) for grid, units in zip(self.grids, released, strict=True)
        )
        return values, state.learned(_log_likelihoods(worlds, released, precisions))

    def noise_variances(self, outputs: Sequence[RunOutput], *, state: PacState) -> tuple[Fraction, ...]:
        """v_k in grid units squared. They depend on the data: for a twin's outputs only, and for audits."""
        return tuple(_variance(precision) for precision in self._precisions(self._completed(outputs), state))

    def _completed(self, outputs: Sequence[RunOutput]) -> list[tuple[int, ...]]:
        check_run_outputs(outputs, grids=self.grids, runs=WORLDS)
        return [middle(self.grids) if output is None else output for output in outputs]

    def _precisions(self, worlds: Sequence[tuple[int, ...]], state: PacState) -> list[int]:
        """1/(2 v_k) in units of 2^-128, rounded down; at least 2^61, as r_k <= 2^21 and beta >= 10^-6."""
        weights, denominator = state.weights
        roots = [
            max(_root(Fraction(_square_distance(column, weights), denominator)), SMALLEST_SPREAD * grid.cells)
            for column, grid in zip(zip(*worlds, strict=True), self.grids, strict=True)
        ]
        total = sum(roots)
        return [int(2**LOG_BITS * self.nats / (root * total)) for root in roots]


def _square_distance(column: Sequence[int], weights: Sequence[int]) -> int:
    """The weighted sum of squared distances from a whole number near the weighted mean: s_k, not yet divided.

    The theorem holds for every whole number m_k; the nearest to the mean makes s_k smallest.
    """
    centre = round(Fraction(_weighted_sum(column, weights), sum(weights)))
    return _weighted_sum([(units - centre) ** 2 for units in column], weights)


def _weighted_sum(numbers: Sequence[int], weights: Sequence[int]) -> int:
    return sum(weight * number for weight, number in zip(weights, numbers, strict=True))


def _root(square: Fraction) -> Fraction:
    """A multiple of 2^-32 above the square root, by at most 2^-31."""
    return Fraction(isqrt(int(square * 4**_ROOT_BITS)) + 1, 2**_ROOT_BITS)


def _variance(precision: int) -> Fraction:
    """The v with 1/(2v) = precision / 2^128."""
    return Fraction(2 ** (LOG_BITS - 1), precision)


def _log_likelihoods(
    worlds: Sequence[tuple[int, ...]], released: Sequence[int], precisions: Sequence[int]
) -> list[int]:
    """ln P_j(released) for every world up to one constant, in units of 2^-128 nat; exact."""
    return [
        -sum(
            precision * (value - units) ** 2
            for value, units, precision in zip(released, world, precisions, strict=True)
        )
        for world in worlds
    ]
