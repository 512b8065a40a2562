"""Stability-calibrated noise: the full-data output, noised by how much it moves when one person is left out.

No guarantee of differential privacy, and none may be printed. The leave-one-out outputs and their largest
change must never leave `release`, and no error message may repeat one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar

from privacy.cost import Cost, Currency
from privacy.discrete_laplace import quantile, sample
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass
from privacy.mechanism import NoisedOutput, RunOutput
from privacy.plan import LeaveOneOut
from privacy.run_outputs import check_grids, check_run_outputs, middle

LABEL = (
    "EMPIRICAL - noise matched to observed leave-one-out stability. Not differential privacy; protects "
    "typical participants against accidental disclosure, not outliers, not an adversarial pipeline."
)
"""Printed with every release of this mechanism, word for word."""

MIN_PEOPLE = 10
MAX_PEOPLE = 10_000
MIN_MICRO_EPSILON_PRIME = MICRO // 1_000
MAX_MICRO_EPSILON_PRIME = 10 * MICRO


@dataclass(frozen=True)
class StabilityCalibrated:
    """The output on everybody plus discrete Laplace noise as wide as the largest leave-one-out change.

    Parameters, all public and fixed before any data is read: one grid per output (1 to 20), the PUBLIC
    nominal number of people n (10 to 10,000; n + 1 runs), and eps', a dial for the width of the noise in
    millionths (0.001 to 10). Raises ValueError otherwise. eps' is shown as the noise multiplier 1/eps' and
    never as an epsilon.

    Release. theta is the output of the run on everybody, theta^(-i) that without person i, in grid units, p
    the number of outputs, K_k the number of grid steps of output k. For every output k, in exact fractions,
        D_k = max_i |theta_k - theta_k^(-i)|,
        b_k = the smallest power of two that is at least max(p D_k / eps', K_k / (n eps')),
        released: theta_k + Z_k, with independent Z_k, P(Z_k = z) ~ exp(-|z|/b_k).
    The second term of b_k is a public floor: an output that moves for nobody is noised as if one person
    could move it by an n-th of the range. Where the floor applies nothing says so.

    A run that fails leaves a change of unknown size. So if any run fails, D_k = K_k for every k, and theta
    is the middle if the run on everybody is among them. The usual default, "a failed run gave the middle",
    would fail here: without the one person who makes the pipeline work, D_k would be the distance of theta
    from the middle, which may be small or zero, and that person would get the least noise of all.

    What this is not. It is not differentially private for any epsilon, because D_k is itself a function of
    the data: it is the LOCAL sensitivity at these data, whose neighbours may have quite another.
      * The scale is shown, as a power of two. Whoever moves it past one is seen in it: one height typed as
        1.65 among 57 in centimetres moves D of the mean from 0.30 to 2.87, and unless the floor is above
        that the scale grows by a factor of 8 or 16.
      * Where D_k falls to the floor the released value may be as good as exact. The median of whole-number
        heights moves for nobody in most samples; only the floor stands between it and the reader.
      * A pipeline written for the purpose singles a person out. Asked whether at least two of A, B and C
        are ill, by someone who knows that A and B are, the answer moves for nobody if C is ill, and by the
        whole range if not: the scale alone says which.
      * Releases do not add up to a known loss. They are counted, not measured.
    (Nissim, Raskhodnikova, Smith 2007, section 1: noise scaled to local sensitivity reveals information
    through its own magnitude.)

    What it does. For a reviewed pipeline whose output is close to a sum over people, p D_k / b_k <= eps' at
    these data: leaving any one person out (with more people than declared, any of a keyed sample of them)
    shifts the centre of the noise by at most eps' scales, all outputs taken together, and a power of two
    says about D_k no more than its order of magnitude. The noise is drawn once, independent for each
    output, never redrawn because it is small: excluding small noise excludes outputs that a neighbour can
    give, which tells the two apart with certainty (with probability (1 - e^(-D/b)) / 2 for noise that
    must exceed s >= D/2).

    Which pipelines may use it is not decided here. The rights holder has read the pipeline; it runs once per
    data set; releases have an account of their own. Those rules belong to the declaration of the data set.
    """

    mechanism: ClassVar[str] = "stability_calibrated"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.EMPIRICAL
    relation: ClassVar[str] = "none: the noise is matched to leaving out one privacy unit of these data"

    grids: tuple[OutputGrid, ...]
    people: int
    micro_epsilon_prime: int

    def __post_init__(self) -> None:
        check_grids(self.grids)
        if not _is_int(self.people) or not MIN_PEOPLE <= self.people <= MAX_PEOPLE:
            raise ValueError(
                f"the nominal number of people must be from {MIN_PEOPLE} to {MAX_PEOPLE}: with fewer the "
                "noise is wider than a tenth of the range, and each costs a run; choose sample_aggregate."
            )
        if (
            not _is_int(self.micro_epsilon_prime)
            or not MIN_MICRO_EPSILON_PRIME <= self.micro_epsilon_prime <= MAX_MICRO_EPSILON_PRIME
        ):
            raise ValueError(
                "the noise dial eps' must be from 0.001 to 10 in whole millionths: above 10 the noise is "
                "less than a tenth of what one person moves; choose a smaller one."
            )

    @property
    def plan(self) -> LeaveOneOut:
        return LeaveOneOut(self.people)

    @property
    def cost(self) -> Cost:
        return Cost.of({Currency.RELEASES: 1})

    @property
    def noise_multiplier(self) -> Fraction:
        """Noise scale over the largest leave-one-out change, before rounding up, for a single output."""
        return Fraction(MICRO, self.micro_epsilon_prime)

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate."""
        return {
            "label": LABEL,
            "people": self.people,
            "noise": "discrete_laplace",
            "noise_multiplier": _decimal_text(self.noise_multiplier),
        }

    def release(
        self, outputs: Sequence[RunOutput], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """Draw the noise and return the release; call once per job, inside the publishing transaction.

        `outputs` has the run on everybody first, then one run for each person left out; None for a failed
        run. Raises ValueError for anything else, which is a bug of the platform.
        """
        scales = self.scales(outputs)
        whole = outputs[0] if outputs[0] is not None else middle(self.grids)
        return tuple(
            _noised(grid, units, scale=scale, keystream=keystream)
            for grid, units, scale in zip(self.grids, whole, scales, strict=True)
        )

    def scales(self, outputs: Sequence[RunOutput]) -> tuple[Fraction, ...]:
        """b_k of every output, in grid units. Takes what `release` takes, and raises as it does."""
        check_run_outputs(outputs, grids=self.grids, runs=self.plan.runs)
        return tuple(
            self._scale(grid, change) for grid, change in zip(self.grids, self._changes(outputs), strict=True)
        )

    def _changes(self, outputs: Sequence[RunOutput]) -> list[int]:
        """D_k: the most that leaving one person out moved output k; all of its range if any run failed."""
        complete = [output for output in outputs if output is not None]
        if len(complete) < len(outputs):
            return [grid.cells for grid in self.grids]
        whole, *without_one = complete
        return [
            max(abs(units - other) for other in column)
            for units, column in zip(whole, zip(*without_one, strict=True), strict=True)
        ]

    def _scale(self, grid: OutputGrid, change: int) -> Fraction:
        """b_k in grid units."""
        observed = Fraction(len(self.grids) * change)
        floor = Fraction(grid.cells, self.people)
        return next_power_of_two(max(observed, floor) * self.noise_multiplier)


def next_power_of_two(value: Fraction) -> Fraction:
    """The smallest power of two that is at least `value`, which is above zero; exactly.

    With a and b bits in numerator and denominator, 2^(a-b-1) < value < 2^(a-b+1): only two can be it.
    """
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power >= value else 2 * power


def _noised(grid: OutputGrid, units: int, *, scale: Fraction, keystream: Keystream | None) -> NoisedOutput:
    noise = int(sample(scale, 1, keystream=keystream)[0])
    return NoisedOutput(
        value=grid.value(units + noise),
        noise_scale=scale * grid.step,
        half_width_95=quantile(Fraction(1, 20), scale) * grid.step,
        half_width_99=quantile(Fraction(1, 100), scale) * grid.step,
    )


def _decimal_text(value: Fraction) -> str:
    """Six significant digits, for a certificate."""
    return f"{Context(prec=6).divide(Decimal(value.numerator), Decimal(value.denominator)).normalize():f}"


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
