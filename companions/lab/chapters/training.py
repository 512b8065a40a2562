"""Training: what a "DP-SGD" really costs, by its printed formula, by its code, and if it were one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from companions.lab.chapter import Chapter, Conditions, NumberTable, Standing, Text, Verdict, clock
from companions.lab.chapter import Drawing as Figure
from companions.lab.drawing import FLAWED, LIMIT, OURS, Axes, draw
from companions.lab.subjects import Subjects
from privacy.cost import ATTO
from privacy.loss import MICRO
from privacy.sampled_gaussian import RATE_BITS, SampledGaussian

DELTA = 1e-5
TENSORS = 8
"""A network of two convolutions and two dense layers has so many: weights and offsets of each."""

_NORM = 2**32
"""Units of the clipping norm: only noise over norm matters."""


@dataclass(frozen=True)
class Training:
    """One training run: examples, batch size, passes over the data, and noise over the clipping norm."""

    examples: int
    batch: int
    epochs: int
    noise: float

    @property
    def steps(self) -> int:
        return self.epochs * (self.examples // self.batch)

    @property
    def rate(self) -> float:
        return self.batch / self.examples


PRINTED = Training(examples=60_000, batch=256, epochs=3, noise=1.1)
LADDER = tuple(
    Training(examples=30_000, batch=256, epochs=2, noise=noise) for noise in (0.5, 0.8, 1.1, 1.5, 2.0)
)


def printed_epsilon(training: Training) -> float:
    """The formula that was printed: rate/noise sqrt(2 steps ln(1/delta)). It holds for no mechanism."""
    return training.rate / training.noise * math.sqrt(2 * training.steps * math.log(1 / DELTA))


def proper_epsilon(training: Training) -> float:
    """Of DP-SGD proper: each example's gradient clipped, batches drawn by Poisson sampling."""
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent

    step = PoissonSampledDpEvent(training.rate, GaussianDpEvent(training.noise))
    return _pld_epsilon(step, training.steps, resolution=1e-4)


def epsilon_by_moments(training: Training) -> float:
    """The same DP-SGD by Renyi moments of whole orders, rounded up: what is proven without a distribution."""
    sampled = SampledGaussian(
        rate=round(training.rate * 2**RATE_BITS),
        norm=_NORM,
        variance=int((training.noise * _NORM) ** 2),
        steps=training.steps,
    )
    return sampled.least_micro_epsilon(int(DELTA * ATTO)) / MICRO


def coded_epsilon(training: Training) -> float:
    """Of the code: a batch's mean gradient is clipped, tensor by tensor, and batches come from shuffling.

    Exchanging one example can turn each tensor's clipped gradient from g to -g, which is 2 clipping norms:
    2 sqrt(8) over all tensors. It does so in one batch of every epoch, with certainty, so nothing is gained
    from sampling: `epochs` Gaussian mechanisms with noise / (2 sqrt(8)).
    """
    from dp_accounting import GaussianDpEvent

    step = GaussianDpEvent(training.noise / (2 * math.sqrt(TENSORS)))
    return _pld_epsilon(step, training.epochs, resolution=1e-3)


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    """The same for all data: an account of published parameters."""
    del subjects
    since = clock()
    ladder = LADDER[::2] if conditions.quick else LADDER
    rows = [
        (
            training,
            printed_epsilon(training),
            proper_epsilon(training),
            epsilon_by_moments(training),
            coded_epsilon(training),
        )
        for training in (PRINTED, *ladder)
    ]
    ran = conditions.ran(since, delta=DELTA, tensors=TENSORS, accountant="privacy loss distributions")
    _, printed, proper, _, coded = rows[0]
    table = NumberTable(
        "Epsilon of training runs",
        ("noise", "steps", "batch", "printed", "if it were DP-SGD", "the same by moments", "as coded"),
        tuple(
            (
                f"{t.noise:g}",
                f"{t.steps:,}",
                f"{t.batch} of {t.examples:,}",
                f"{p:.2f}",
                f"{q:.3f}",
                f"{m:.3f}",
                f"{c:.1f}",
            )
            for t, p, q, m, c in rows
        ),
        ran,
    )
    figure = Figure(
        f"Epsilon against noise, {ladder[0].examples:,} examples, {ladder[0].epochs} epochs",
        draw(lambda axes: _plot(axes, rows[1:]), name="training", shown="Three lines; figures in the table."),
        ran,
    )
    verdict = Verdict(
        "accounting",
        "a clipped batch gradient, taken for DP-SGD",
        f"prints epsilon {printed:.2f}, provides {coded:.1f}; proper DP-SGD with these parameters: "
        f"{proper:.3f}",
        Standing.BROKEN,
    )
    words = (
        "A notebook clips the mean gradient of each batch, adds Gaussian noise and prints an epsilon from "
        "a closed formula. Clipping the mean bounds nobody's influence but the batch's, so the epsilon of "
        "the code is far larger. Where batches are small against the data the formula is near the truth "
        "for proper DP-SGD, by chance: at small noise it is too low by a factor."
    )
    return Chapter(
        "training",
        "Training",
        "A training run prints a privacy loss. What was it?",
        (Text(words), table, figure),
        (verdict,),
    )


def _pld_epsilon(step: object, times: int, *, resolution: float) -> float:
    """An upper bound, nearer to the truth the finer the resolution of the losses."""
    # imported here, because it takes two seconds
    from dp_accounting import SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=resolution)
    return float(accountant.compose(SelfComposedDpEvent(step, times)).get_epsilon(DELTA))


def _plot(axes: Axes, rows: list[tuple[Training, float, float, float, float]]) -> None:
    noise = [training.noise for training, *_ in rows]
    lines = (1, "printed", LIMIT), (2, "if it were DP-SGD", OURS), (4, "as coded", FLAWED)
    for index, label, colour in lines:
        axes.plot(noise, [row[index] for row in rows], "o-", color=colour, label=label)
    axes.set(yscale="log", xlabel="noise over clipping norm", ylabel=f"epsilon at delta {DELTA:g}")
    axes.legend()
