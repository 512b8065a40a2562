"""Sample and aggregate: noised means or medians of what a black-box pipeline says about each block of people.

The whole argument for privacy is on this page. Un-noised numbers must never leave `release`, and no error
message may repeat a run's output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privacy.clipped_mean import noise_of_sum, noised_mean
from privacy.keystream import Keystream
from privacy.mechanism import MAX_OUTPUTS as MAX_OUTPUTS
from privacy.mechanism import NoisedOutput as NoisedOutput
from privacy.mechanism import RunOutput
from privacy.median import noisy_quantile, tally
from privacy.noise import LaplaceNoise
from privacy.run_outputs import check_run_outputs
from privacy.sample_parameters import SampleParameters
from privacy.sampling_interval import QUARTILES, mean_variance, median_variance, sampling_interval


@dataclass(frozen=True)
class SampleAggregate(SampleParameters):
    """Clipped means or medians over blocks with exact discrete noise; neighbours differ by one person.

    `SampleParameters` names the parameters. Below, e is the epsilon of the whole release, l the number of
    blocks, r that of repeats, m = r l that of runs, and K_k the number of grid cells of output k of p.

    Setting. In every repeat a = 0..r-1 people are dealt into the C slots of l blocks by a key that is secret
    and of this job alone (`partition.assign_blocks`); C is the public nominal size. A pipeline of which
    nothing is known runs on each of the m = r l blocks alone, in isolation. Run j yields a point q_j of the
    grids {0..K_1} x ... x {0..K_p}, or fails and counts as the constant `default(j)`. (A point is whatever is
    computed from the run's output alone, such as the product of two of its numbers.) Released, each with
    coins of its own:
      clipped mean   (sum_j q_jk + Z) / m, rounded to the grid; Z discrete Laplace of scale r K_k / e_k,
      joint means    the same, with one draw (Z_k)_k for all clipped means, `joint_noise` of the box with the
                     sides r K_k, at the sum of their e_k,
      median         a grid point by the exponential mechanism on ranks, loss e_k, r values change; so is any
                     other quantile that a `part` asks for,
      quartiles      two more such points each, if a sampling interval is asked for,
      failed runs    the number of failures + Z', Z' discrete Laplace of scale r / e_f.
    `epsilon_shares.divide` gives every part its e; the shares add up to e exactly.

    Theorem. With Laplace or joint noise the release is e-differentially private with respect to adding or
    removing one person. Proof. Take data sets D and D' = D + {i}, and the coupling of their blocks in the
    theorem of `partition.assign_blocks`. Fix a coupled pair of partitions, and the pipeline's own coins run
    by run. The contents of at most one block of each repeat differ, as C, l and r do not depend on the data.
    Whoever fails at a participant level is taken out of their block, which looks at one person alone.
    Isolation makes a run a function of its block alone, so all but r runs give the same in D and D', whereas
    those r are arbitrary: failed or any point of the grids. A failure changes nothing in this, as the
    default is a point of the grids that does not depend on data.
      Mean: the sums over D and D' differ by at most r K_k, and for every integer s the probability of
      sum + Z = s changes by at most exp(r K_k / (r K_k / e_k)) = e^(e_k), by the triangle inequality.
      Joint means: the vector of their sums moves by one within the box |s_k| <= r K_k, so the probability of
      each vector of noised sums changes by at most e^(sum of their e_k): the theorem of `joint_noise`.
      Median, quartiles: r of m values change; `median.noisy_quantile`, case (a).
      Failed runs: their number changes by at most r, so by at most e^(e_f), as for the mean.
    The parts draw their noise independently, so the probability of all of them together is the product, and
    changes by at most the product of these factors: e^(sum of shares) = e^e. What is computed from released
    and public numbers (division by the constant m, rounding, half widths, intervals) is post-processing. So
    for every coupled pair and all coins the release has each value with at most e^e times the probability
    that it has for the other one of the pair. The release of D is the mixture of these over the coupling,
    that of D' the mixture of the others with the same weights: the factor stays. QED.
    (Dwork, McSherry, Nissim, Smith 2006, Prop. 1; Nissim, Raskhodnikova, Smith 2007 for the blocks;
    Ghosh, Roughgarden, Sundararajan 2009 for the discrete noise.)

    Theorem. With Gaussian noise, whose variance is (r K_k)^2 / (2 rho_k), the release is (e, delta)-
    differentially private. Proof. As before the sums differ by at most r K_k, so output k is rho_k-zCDP
    (`clipped_mean.gaussian_noise`) and all means together, being independent, are zCDP with the sum of the
    rho_k (Bun, Steinke 2016, Lemma 2.3). That sum is the largest that implies (e_v, delta)-differential
    privacy for the e_v that the values have together (`concentrated.largest_pico_rho`). The other parts are
    pure and take e - e_v: basic composition (Dwork, Roth 2014, Theorem 3.16) adds them. All of this is for
    a coupled pair of partitions, given which the parts are independent. P(S) <= e^e P'(S) + delta is linear
    in the pair (P, P'), so it stays when both are averaged with the same weights. QED.

    With a `clip_norm` C every run's vector is first drawn back into the ball of `L2Clip`, whose radius is C
    in half-ranges. A run's vector stays a function of its block alone, and at most one vector of each repeat
    differs, so all means together are zCDP with the sum of the rho_k by the second theorem of `L2Clip`.

    What accounts of rho count (`pico_rho`) holds as well: for a coupled pair it is the sum over independent
    parts, and the Renyi divergence of two mixtures with the same weights is at most the largest of the
    divergences, as it is jointly quasi-convex (van Erven, Harremoes 2014, Theorem 13).

    What it rests on. The bounds hold on average over the key, not for each: whoever knows the key sees
    more of a person who comes or goes. It is secret, of one job, and the same for its retries, which
    release once. Keys of two jobs are independent, so jobs compose as any mechanisms with coins of their
    own do. That HMAC-SHA256 cannot be told from a random function is a premise, as it is of AES for noise.

    Changing a person's data under the same identifier costs the same, and for every key: nobody's place
    changes. Replacing a person by another (one removal, one addition) touches 2 r blocks in a coupling and
    costs 2 e under Laplace and joint noise.
    """

    def value_epsilon(self, index: int) -> Fraction:
        """What the value of output `index` is bought with; of joint or Gaussian noise, its share."""
        return self.shares.values[index]

    def quartile_epsilon(self, index: int) -> Fraction | None:
        """What each of two quartiles is bought with; None without sampling intervals."""
        return self.shares.quartiles[index] or None

    def draw_noise(self, index: int, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """Noise of output `index`'s sum over all runs, in grid units, of the very law that `release` adds; of
        joint noise, what this output gets of it.

        For previews. Raises ValueError for a median, which adds no noise.
        """
        noise = self.noises[index]
        if noise is None:
            raise ValueError("a median adds no noise; replay it with median.noisy_quantile.")
        return noise.draw(size, keystream=keystream)

    def release(
        self, outputs: Sequence[RunOutput], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """Draw the noise and return the release; call once per job, inside the publishing transaction.

        `outputs` has one entry per run of the plan: grid units for every output, or None for a failed run.
        Returned are the outputs in their order, then the `diagnostics`. Raises ValueError for anything else,
        which is a bug of the platform and never the pipeline's doing.
        """
        check_run_outputs(outputs, grids=self.grids, runs=self.plan.runs)
        filled = [self.default(run) if output is None else output for run, output in enumerate(outputs)]
        if self.clip is not None:
            filled = [self.clip.clip(vector) for vector in filled]
        drawn = self._draw_for_means(keystream=keystream)
        released = [
            self._release_output(index, column, drawn[index], keystream=keystream)
            for index, column in enumerate(zip(*filled, strict=True))
        ]
        if self.failure_noise is not None:
            failed = sum(output is None for output in outputs)
            released.append(_noised_count(failed, noise=self.failure_noise, keystream=keystream))
        return tuple(released)

    def _draw_for_means(self, *, keystream: Keystream | None) -> list[int | None]:
        """The noise of every output's sum, None for a median. Joint noise is one draw for all means: if each
        had one of its own, each would cost the epsilon of all."""
        if self.joint is None:
            return [
                None if noise is None else noise_of_sum(noise, keystream=keystream) for noise in self.noises
            ]
        together = iter(self.joint.draw(1, keystream=keystream)[0].tolist())
        return [None if noise is None else next(together) for noise in self.noises]

    def _release_output(
        self, index: int, column: Sequence[int], drawn: int | None, *, keystream: Keystream | None
    ) -> NoisedOutput:
        noise = self.noises[index]
        if noise is None or drawn is None:
            wanted, epsilon_of_it = self.quantile(index), self.value_epsilon(index)
            point = self._quantile(index, column, wanted, epsilon_of_it, keystream=keystream)
            output = NoisedOutput(value=self.grids[index].value(point))
        else:
            output = noised_mean(column, drawn, grid=self.grids[index], noise=noise)
        epsilon = self.quartile_epsilon(index)
        if epsilon is None:
            return output
        low, high = (
            self._quantile(index, column, quartile, epsilon, keystream=keystream) for quartile in QUARTILES
        )
        return replace(output, sampling_95=self._sampling_95(index, output.value, (low, high)))

    def _quantile(
        self,
        index: int,
        column: Sequence[int],
        quantile: Fraction,
        epsilon: Fraction,
        *,
        keystream: Keystream | None,
    ) -> int:
        return noisy_quantile(
            tally(column),
            cells=self.grids[index].cells,
            quantile=quantile,
            epsilon=epsilon,
            sensitivity=self.repeats,
            keystream=keystream,
        )

    def _sampling_95(
        self, index: int, value: Fraction, quartiles: tuple[int, int]
    ) -> tuple[Fraction, Fraction]:
        grid, noise = self.grids[index], self.noises[index]
        if noise is None:
            epsilon = self.value_epsilon(index)
            variance = median_variance(quartiles, grid=grid, blocks=self.blocks, epsilon=epsilon)
        else:
            at, of_noise = (value - grid.lower) / grid.step, noise.variance / self.plan.runs**2
            variance = mean_variance(quartiles, at=at, grid=grid, blocks=self.blocks, noise=of_noise)
        return sampling_interval(value, grid=grid, quartiles=quartiles, blocks=self.blocks, variance=variance)


def _noised_count(count: int, *, noise: LaplaceNoise, keystream: Keystream | None) -> NoisedOutput:
    return NoisedOutput(
        value=Fraction(count + int(noise.draw(1, keystream=keystream)[0])),
        noise_scale=noise.scale,
        half_width_95=Fraction(noise.half_width(Fraction(1, 20))),
        half_width_99=Fraction(noise.half_width(Fraction(1, 100))),
    )
