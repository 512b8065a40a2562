"""What every mechanism for black-box pipelines is: a frozen description, a run plan, and one release.

A description is complete before any data is read. `release` is called once per job, inside the publishing
transaction; un-noised numbers never leave it, and no error message repeats one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from privacy.cost import Cost
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass
from privacy.plan import RunPlan

MAX_OUTPUTS = 20

RunOutput = tuple[int, ...] | None
"""Grid units for every output of one run, or None for a run that failed."""


@dataclass(frozen=True)
class NoisedOutput:
    """One released number, in the output's own units. Everything but `value` follows from public parameters,
    or from numbers that are themselves released and paid for (the sampling interval, the noisy count under a
    mean, the power of two of stability_calibrated).

    A half width h means: with probability at least 95% (99%) over the noise, `value` lies within h of the
    un-noised aggregate. It covers noise and rounding, not the sampling error. Both are None where they would
    tell something about the data (PAC), where the noise may be all there is (coefficients of hardly anybody),
    and for medians and quantiles: their noise is one of ranks, and how far the next rank lies is not public.
    The scale is None wherever it is not one number.
    `sampling_95` is an interval for what the whole population would give, if it was asked for.
    """

    value: Fraction
    noise_scale: Fraction | None = None
    half_width_95: Fraction | None = None
    half_width_99: Fraction | None = None
    sampling_95: tuple[Fraction, Fraction] | None = None


class Mechanism(Protocol):
    """Frozen and public. Constructors raise ValueError that names the parameter and the fix."""

    @property
    def mechanism(self) -> str:
        """Its name in manifests, certificates and pages, such as sample_aggregate."""

    @property
    def guarantee(self) -> GuaranteeClass:
        """The class of the promise."""

    @property
    def relation(self) -> str:
        """What neighbouring data sets differ by, or what stands in its place, in words."""

    @property
    def grids(self) -> tuple[OutputGrid, ...]:
        """One grid per output."""

    @property
    def plan(self) -> RunPlan:
        """Which people each run sees."""

    @property
    def cost(self) -> Cost:
        """What the release takes from the data set's accounts."""

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate, JSON values only: aggregator, blocks, repeats, scales, ..."""

    def release(
        self, outputs: Sequence[RunOutput], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """Draw the noise, once. `outputs` has one entry per run of the plan, in order."""
