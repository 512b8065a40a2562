"""DP-SGD on people: random batches, clipped sums, exact noise, a fixed number of steps, and the last weights.

Un-noised sums must never leave a step, nor weights of the way there leave `train`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privacy import gaussian_digits
from privacy.cost import Cost, Currency
from privacy.keystream import Keystream, process_keystream
from privacy.loss import format_epsilon
from privacy.sampled_gaussian import RATE_BITS, SampledGaussian, least_variance
from privacy.sampled_losses import tight_variance
from privacy.training.clipping import clipped_sum
from privacy.training.fixed_point import GRADIENT_BITS, WEIGHT_BITS, Floats, nearest_weights
from privacy.training.network import Network
from privacy.training.rows import PeopleRows

MIN_CLIP, MAX_CLIP = Fraction(1, 100), Fraction(100)


@dataclass(frozen=True)
class Trainer:
    """A model's training, complete before any data is read. Raises ValueError that names parameter and fix.

    In each of `steps` steps every person takes part with probability `batch`/`nominal_size`, rounded down to
    2^-32. The gradients of a person's rows are added up and drawn back to length `clip`; the sum over those
    who take part and discrete Gaussian noise is divided by `batch`, which is public, and moves the weights.
    Released are the means of the weights after the last half of the steps if `average`, else the last ones.

    Theorem. The weights are (epsilon, delta)-differentially private, for one person, with all their rows, who
    comes or goes. Proof. The sum of a step is that of `SampledGaussian`: `clipped_sum` makes of a person a
    vector of Z^d of length C at most, which depends on the person and the weights alone; the random words
    that decide who takes part are independent of each other, of data and of the noise. The number of steps,
    the first weights and everything by which noised sums become weights depend on no data: post-processing,
    in floats or not. Sums of 64 bits may wrap, which is a function of the noised sum as well. (Abadi
    et al. 2016, "Deep Learning with Differential Privacy"; Kairouz, Liu, Steinke 2021,
    "The Distributed Discrete Gaussian Mechanism", for the noise.) QED.

    How long a step takes depends on how many people take part: whoever runs this must pad the time.
    """

    network: Network
    nominal_size: int
    batch: int
    steps: int
    clip: Fraction
    micro_epsilon: int
    atto_delta: int
    learning_rate: float
    momentum: float = 0.0
    average: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= self.nominal_size:
            raise ValueError(
                "the expected batch is from 1 to the nominal number of people; choose a smaller one."
            )
        if not MIN_CLIP <= self.clip <= MAX_CLIP:
            raise ValueError("clip, the length of a person's gradient, is from 0.01 to 100.")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0 and 0 <= self.momentum < 1):
            raise ValueError("the learning rate is above 0, the momentum from 0 to below 1.")
        # rates, steps, epsilon and delta have bounds of their own, and there is a noise for them
        least_variance(**self._asked, micro_epsilon=self.micro_epsilon, atto_delta=self.atto_delta)

    @property
    def cost(self) -> Cost:
        """What the release takes from the data set's accounts."""
        return Cost.of({Currency.EPSILON: self.micro_epsilon, Currency.DELTA: self.atto_delta})

    @cached_property
    def sampled(self) -> SampledGaussian:
        """The mechanism of all steps, with the least variance that is shown to be enough: takes seconds."""
        variance = tight_variance(**self._asked, micro_epsilon=self.micro_epsilon, atto_delta=self.atto_delta)
        return SampledGaussian(**self._asked, variance=variance)

    @property
    def epsilon_by_moments(self) -> str:
        """Of the same noise at the same delta, as far as moments alone prove it; not what is charged."""
        return format_epsilon(self.sampled.least_micro_epsilon(self.atto_delta))

    @property
    def _asked(self) -> dict[str, int]:
        return {
            "rate": max(1, (self.batch << RATE_BITS) // self.nominal_size),
            "norm": int(self.clip * 2**GRADIENT_BITS),
            "steps": self.steps,
        }

    def train(self, people: PeopleRows, *, keystream: Keystream | None = None) -> Floats:
        """The released weights, one flat vector in own units. `Network.split` tells the layers."""
        stream = keystream if keystream is not None else process_keystream()
        weights = self.network.first_weights(keystream=stream)
        speed, total, taken = np.zeros(self.network.size), np.zeros(self.network.size), 0
        for step in range(self.steps):
            noised = self.noised_sum(weights, people, keystream=stream)
            gradient = np.ldexp(noised.astype(np.float64), -GRADIENT_BITS) / self.batch
            speed = self.momentum * speed + gradient
            moved = np.ldexp(weights, -WEIGHT_BITS) - self.learning_rate * speed
            weights = nearest_weights(moved)
            if not self.average or step <= self.steps // 2:
                total, taken = np.zeros_like(total), 0
            total, taken = total + weights, taken + 1
        return nearest_weights(np.ldexp(total / taken, -WEIGHT_BITS)) * 2.0**-WEIGHT_BITS

    def noised_sum(self, weights: Floats, people: PeopleRows, *, keystream: Keystream) -> NDArray[np.int64]:
        """One step's release, in units of 2^-32."""
        total = np.zeros(self.network.size, np.int64)
        taking_part = np.flatnonzero(keystream.words(len(people), np.uint32) < self.sampled.rate)
        for part in people.parts(taking_part):
            layers = self.network.layers(weights, part.inputs, part.targets, part.there)
            total += clipped_sum(layers, norm=self.sampled.norm)
        noise: NDArray[np.int64] = gaussian_digits.sample(
            self.sampled.variance, self.network.size, keystream=keystream
        )
        return total + noise
