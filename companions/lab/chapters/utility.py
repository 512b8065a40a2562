"""Utility: what does privacy cost in accuracy, and what does noise look like?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from companions.lab.chapter import Chapter, Conditions, NumberTable, Part, Text, clock
from companions.lab.chapter import Drawing as Figure
from companions.lab.contenders.estimates import (
    ESTIMATES,
    Estimate,
    all_draws,
    by_stability,
    by_worlds,
    error_of,
    sampling_error,
)
from companions.lab.contenders.whole import LARGEST_LEAVE_ONE_OUT
from companions.lab.contenders.worlds import same_epsilon
from companions.lab.drawing import CYCLE, FLAWED, LIMIT, OURS, PLAIN, Axes, draw, draw_grid, log_axis
from companions.lab.flawed import leave_one_out_reach, leave_one_out_scale, mean_without_small_noise
from companions.lab.subjects import Subjects
from domain.mechanism import REQUESTS
from privacy.discrete_laplace import sample
from privacy.loss import MICRO, micro_epsilon
from privacy.posterior_bound import posterior_bound
from privacy.trusted import Count

Values = NDArray[np.float64]

LADDER = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
NATS = (7_812, 31_250, 125_000, 500_000)

Curve = tuple[Sequence[float], Sequence[float]]
"""Epsilons, and the error at each."""


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    parts: list[Part] = [
        Text(
            "Each curve is the error of a release against the same statistic of everybody. The dotted line "
            "is the sampling error: how far the statistic of another sample of as many people would be. "
            "Noise below it costs nothing that matters. pac and stability_calibrated have no epsilon: pac "
            "stands where pure_dp has the same bound on a guess, stability_calibrated at its noise dial. A "
            "standard deviation of small blocks is off on average, and no epsilon removes that."
        )
    ]
    for estimate in ESTIMATES:
        parts += _estimate(subjects, estimate, conditions)
    parts += [_counts(subjects, conditions), _noise(subjects, conditions)]
    question = "How large is the error of a release, for each epsilon and mechanism?"
    return Chapter("utility", "Accuracy against epsilon", question, tuple(parts))


# --- mean, median, standard deviation


def curves(subjects: Subjects, estimate: Estimate, conditions: Conditions) -> dict[str, Curve]:
    """The error of every mechanism along its ladder."""
    generator, trials = conditions.generator(f"utility {estimate.name}"), conditions.trials(300, 60)
    epsilons = LADDER[1::2] if conditions.quick else LADDER
    truth = estimate.statistic(subjects.clamped())
    found: dict[str, Curve] = {
        name: (epsilons, [error_of(draws, epsilon, trials, truth) for epsilon in epsilons])
        for name, draws in all_draws(subjects, estimate, generator).items()
    }
    worlds = by_worlds(subjects, estimate, generator)
    found["pac"] = (
        [_pac_epsilon(micro) for micro in NATS],
        [error_of(worlds, micro / MICRO, trials, truth) for micro in NATS],
    )
    if subjects.count <= LARGEST_LEAVE_ONE_OUT:
        stable = by_stability(subjects, estimate)
        found["stability_calibrated"] = (
            epsilons,
            [error_of(stable, epsilon, trials, truth) for epsilon in epsilons],
        )
    return found


def _estimate(subjects: Subjects, estimate: Estimate, conditions: Conditions) -> list[Part]:
    since = clock()
    found = curves(subjects, estimate, conditions)
    generator = conditions.generator(f"bootstrap {estimate.name}")
    spread = sampling_error(subjects, estimate, generator, resamples=200)
    ran = conditions.ran(
        since,
        people=subjects.count,
        trials=conditions.trials(300, 60),
        bounds=(subjects.lower, subjects.upper),
        smallest_block=estimate.smallest_block,
        sampling_error=spread,
    )
    slug = estimate.name.replace(" ", "-")
    title = f"Error of the {estimate.name} (root mean square)"
    figure = Figure(
        title,
        draw(
            lambda axes: _plot_curves(axes, found, spread),
            name=f"error-{slug}",
            shown=f"Error of the {estimate.name} against epsilon; figures in the table.",
            height=3.9,
        ),
        ran,
    )
    epsilons = found["trusted query"][0]
    rows = tuple(
        (name, *(f"{error:.3g}" for error in errors))
        for name, (places, errors) in found.items()
        if places is epsilons
    )
    table = NumberTable(title, ("mechanism", *(f"epsilon {epsilon:g}" for epsilon in epsilons)), rows, ran)
    return [figure, table]


def _plot_curves(axes: Axes, found: Mapping[str, Curve], spread: float) -> None:
    for (name, (epsilons, errors)), colour in zip(found.items(), CYCLE, strict=False):
        has_epsilon = name not in REQUESTS or "epsilon" in REQUESTS[name].model_fields
        style = "o-" if has_epsilon else "s--"
        axes.plot(epsilons, errors, style, color=colour, label=name)
    axes.axhline(spread, linestyle=":", color=PLAIN, label="sampling error")
    axes.set(yscale="log", xlabel="epsilon", ylabel="error")
    log_axis(axes, found["trusted query"][0])
    axes.figure.legend(loc="outside lower left", ncols=2)


def _pac_epsilon(micro_nats: int) -> float:
    return same_epsilon(float(posterior_bound(Fraction(micro_nats, MICRO))))


# --- counts


def count_errors(subjects: Subjects, epsilons: Sequence[float], trials: int) -> list[float]:
    """Mean absolute error of a trusted count: how many people lie above the middle of the bounds."""
    true = int((subjects.values > (subjects.lower + subjects.upper) / 2).sum())
    return [
        float(np.mean([abs(float(query.release((true,))[0].value) - true) for _ in range(trials)]))
        for query in (Count(micro_epsilon(epsilon)) for epsilon in epsilons)
    ]


def _counts(subjects: Subjects, conditions: Conditions) -> Figure:
    since, trials = clock(), conditions.trials(1_000, 200)
    found = count_errors(subjects, LADDER, trials)

    def plot(axes: Axes) -> None:
        fine = np.geomspace(LADDER[0], LADDER[-1], 80)
        axes.plot(fine, 1 / np.sinh(fine), color=LIMIT, label="1/sinh(epsilon), its exact mean")
        axes.plot(LADDER, found, "o", color=OURS, label="trusted count")
        axes.set(yscale="log", xlabel="epsilon", ylabel="mean absolute error")
        log_axis(axes, LADDER)
        axes.legend()

    return Figure(
        "Error of a count: the same for every data set",
        draw(plot, name="count", shown="Error of a count against epsilon, on the line of its exact mean."),
        conditions.ran(since, trials=trials, epsilon=LADDER),
    )


# --- noise


def _noise(subjects: Subjects, conditions: Conditions) -> Figure:
    """What each kind of noise looks like. All panels share the scale of Laplace noise at epsilon 1."""
    since, size = clock(), conditions.trials(20_000, 5_000)
    units = 2**20
    ours = {e: sample(Fraction(units) / Fraction(str(e)), size) / units for e in (0.5, 1.0, 5.0)}
    values = subjects.values
    hole = leave_one_out_reach(values) / leave_one_out_scale(values)
    generator = conditions.generator("noise")
    rejected = (mean_without_small_noise(values, size, generator) - values.mean()) / leave_one_out_scale(
        values
    )
    plots: list[Callable[[Axes], None]] = [
        lambda axes: _plot_ours(axes, ours),
        lambda axes: _plot_histogram(
            axes, np.clip(ours[1.0], -1, 1), "held inside bounds: private, biased", PLAIN
        ),
        lambda axes: _plot_histogram(
            axes, rejected, f"small noise rejected: a hole of {hole:.1f} scales on either side", FLAWED
        ),
    ]
    return Figure(
        "Noise in units of its scale",
        draw_grid(plots, name="noise", shown="Histograms of three kinds of noise.", height=1.9, columns=1),
        conditions.ran(since, draws=size, people=subjects.count),
    )


def _plot_ours(axes: Axes, ours: Mapping[float, Values]) -> None:
    edges = np.linspace(-6, 6, 121)
    for (epsilon, noise), colour in zip(ours.items(), CYCLE, strict=False):
        axes.hist(noise, edges, density=True, histtype="step", color=colour, label=f"epsilon {epsilon:g}")
    places = np.linspace(-6, 6, 400)
    axes.plot(places, np.exp(-np.abs(places)) / 2, ":", color=PLAIN, label="Laplace density, epsilon 1")
    axes.set_title("the platform's exact noise", color=OURS)
    axes.legend()


def _plot_histogram(axes: Axes, noise: Values, title: str, colour: str) -> None:
    reach = math.ceil(np.abs(noise).max())
    axes.hist(noise, np.linspace(-reach, reach, 121), density=True, color=colour, alpha=0.7)
    axes.set_title(title, color=colour)
