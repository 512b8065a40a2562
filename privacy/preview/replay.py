"""The law of a release, replayed many times at once on resamples of a twin's blocks.

A replay asks the mechanism object itself for its noise and its shares of epsilon, so that preview and
release cannot disagree on a parameter; only the arithmetic is done for all replays together. Its law is
tested equal to that of `SampleAggregate.release`. Must never be given original data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import MAX_OUTPUTS
from privacy.people import Part
from privacy.preview.bootstrap import Bootstrap
from privacy.preview.ranks import Ranks
from privacy.preview.unit_noise import unit_normal
from privacy.sample_aggregate import SampleAggregate

Values = NDArray[np.float64]
"""One number per replay, in the output's own units."""

_CELLS = 2**20
"""Counts made floats at once: 8 MiB."""
_PLAIN = Part()


@dataclass(frozen=True)
class Resamples:
    """What all resamples say about one output."""

    bootstrap: Bootstrap
    index: int
    grid: OutputGrid
    part: Part = _PLAIN

    @classmethod
    def of(cls, mechanism: SampleAggregate, bootstrap: Bootstrap, index: int) -> Resamples:
        part = _PLAIN if mechanism.parts is None else mechanism.parts[index]
        return cls(bootstrap, index, mechanism.grids[index], part)

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """The sum over the blocks of each resample, failed blocks in the middle or as their part says; exact
        integers."""
        absent = self.grid.middle if self.part.absent is None else self.part.absent
        units = self.bootstrap.units(self.index, even=absent, odd=absent)
        counts = self.bootstrap.counts
        total = np.empty(len(counts), np.int64)
        rows = max(1, _CELLS // len(units))
        for start in range(0, len(counts), rows):
            # at most 2^21 cells times 10^6 blocks: a float64 product and sum are exact below 2^53
            total[start : start + rows] = counts[start : start + rows].astype(np.float64) @ units
        return total

    @cached_property
    def ranks(self) -> Ranks:
        return Ranks.of(self.bootstrap, self.index, self.grid, quantile=self.part.quantile)

    def own_units(self, units: NDArray[np.number]) -> Values:
        return float(self.grid.lower) + float(self.grid.step) * units.astype(np.float64)


def noise_of_many(mechanism: SampleAggregate, replays: int, *, keystream: Keystream) -> Values | None:
    """The noise of all means of so many releases, of shape (replays, outputs), in grid units; None for up to
    20 outputs, for which `replay` draws it output by output. More are means, with joint or Gaussian noise.

    Joint noise is drawn as a release draws it, once for all outputs rather than for each of them again.
    Gaussian noise of many outputs, millions of units wide, is a rounded normal number: the discrete law
    differs from it by less than any float shows at these widths.
    """
    if len(mechanism.grids) <= MAX_OUTPUTS:
        return None
    places = [index for index, noise in enumerate(mechanism.noises) if noise is not None]
    drawn = np.zeros((replays, len(mechanism.grids)))
    if mechanism.joint is not None:
        drawn[:, places] = mechanism.joint.draw(replays, keystream=keystream)
    else:
        deviations = np.sqrt([float(noise.variance) for noise in mechanism.noises if noise is not None])
        normal = unit_normal(replays * len(places), keystream=keystream).reshape(replays, len(places))
        drawn[:, places] = np.rint(normal * deviations)
    return drawn


def replay(
    mechanism: SampleAggregate,
    resamples: Resamples,
    *,
    keystream: Keystream,
    drawn: Values | None = None,
) -> Values:
    """What `release` would give on every resample; `drawn` is this mean's noise, if that is drawn already."""
    index, noise = resamples.index, mechanism.noises[resamples.index]
    if noise is None:
        epsilon, quantile = float(mechanism.value_epsilon(index)), float(mechanism.quantile(index))
        return resamples.own_units(resamples.ranks.choose(quantile, epsilon, keystream=keystream))
    added = noise.draw(resamples.bootstrap.replays, keystream=keystream) if drawn is None else drawn
    # rounded to the grid, as a release is
    return resamples.own_units(np.rint((resamples.sums * mechanism.repeats + added) / mechanism.plan.runs))


def without_noise(mechanism: SampleAggregate, resamples: Resamples) -> Values:
    """The aggregate of every resample before noise: what an epsilon beyond all bounds would leave."""
    if mechanism.noises[resamples.index] is None:
        return resamples.own_units(resamples.ranks.plain(mechanism.quantile(resamples.index)))
    return resamples.own_units(resamples.sums / mechanism.blocks)
