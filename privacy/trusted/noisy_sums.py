"""Integer sums over rows with exact discrete Laplace noise: the argument that all linear queries share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privacy.concentrated import rho_of_pure
from privacy.discrete_laplace import MAX_SCALE, quantile, sample
from privacy.keystream import Keystream
from privacy.loss import MICRO, check_micro_epsilon
from privacy.rows_of_a_person import check_rows
from privacy.trusted.query import check_totals


@dataclass(frozen=True)
class NoisySums:
    """S_k + Z_k for k = 1..m, P(Z_k = z) ~ exp(-|z|/t_k), t_k = C m bounds[k] / epsilon, C = `rows`.

    Setting. A row adds an integer vector x with |x_k| <= bounds[k], a function of that row alone. A person
    contributes at most C rows, chosen by a rule that looks at no other person. S is the sum over all chosen
    rows.

    Theorem. If D' is D with one person added or removed who contributes c <= C rows, the loss between D and
    D' is at most epsilon c/C. In particular the release is epsilon-differentially private.
    Proof. The rows of all others are chosen and read alike in D and D', so S - S' is, up to its sign, the
    sum of c vectors of the box: |S_k - S'_k| <= c bounds[k]. For every integer vector s,
        P(S + Z = s) / P(S' + Z = s) = prod_k exp((|s_k - S'_k| - |s_k - S_k|) / t_k)
            <= exp(sum_k c bounds[k] / t_k) = exp(sum_k epsilon c / (C m)) = e^(epsilon c/C).
    (Dwork, McSherry, Nissim, Smith 2006, Prop. 1, in the L1 norm that weighs coordinate k by 1/bounds[k];
    Ghosh, Roughgarden, Sundararajan 2009 for the discrete noise.) QED.

    In zero-concentrated terms each sum is (epsilon c/(C m))-differentially private by itself, so together
    they are (c/C)^2 rho-zCDP with rho = m (epsilon/m)^2/2 = epsilon^2/(2m): see `concentrated.rho_of_pure`.

    Changing one person's rows moves S by at most 2 c bounds[k] and costs at most 2 epsilon, and so does
    replacing a person by another.
    """

    bounds: tuple[int, ...]
    rows: int
    micro_epsilon: int

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        check_rows(self.rows)
        if not self.bounds or min(self.bounds) < 1:
            raise ValueError("platform bug: every sum needs a bound of at least one unit.")
        if max(map(self.scale, range(len(self.bounds)))) > MAX_SCALE:
            raise ValueError(
                "the noise is too wide for 64-bit integers; raise epsilon, lower rows, ask for fewer "
                "columns, or choose bounds that are narrow compared with their distance from zero."
            )

    @property
    def rho(self) -> Fraction:
        """What the release takes of an account of rho."""
        sums = len(self.bounds)
        return sums * rho_of_pure(Fraction(self.micro_epsilon, MICRO * sums))

    def scale(self, index: int) -> Fraction:
        """t_k of sum `index`, exactly, in the units of that sum."""
        return Fraction(self.rows * len(self.bounds) * self.bounds[index] * MICRO, self.micro_epsilon)

    def half_width(self, index: int, *, alpha: Fraction) -> int:
        """Smallest h with P(|Z_k| > h) <= alpha."""
        return quantile(alpha, self.scale(index))

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> tuple[int, ...]:
        """The sums with their noise."""
        check_totals(totals, width=len(self.bounds))
        return tuple(
            total + int(sample(self.scale(index), 1, keystream=keystream)[0])
            for index, total in enumerate(totals)
        )
