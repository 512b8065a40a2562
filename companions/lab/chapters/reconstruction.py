"""Reconstruction: whose value can be named from what was released?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.membership import SIGMAS
from companions.lab.attacks.reconstruction import (
    Named,
    differences,
    find_divisor,
    level_from_metres,
    level_from_one_person,
    name_values,
    name_values_without_release,
)
from companions.lab.chapter import (
    Chapter,
    Conditions,
    NumberTable,
    Part,
    Standing,
    Text,
    Verdict,
    clock,
    percent,
)
from companions.lab.chapter import Drawing as Figure
from companions.lab.contenders import Contender
from companions.lab.contenders.blocks import sample_aggregate
from companions.lab.contenders.unsound import local_noise, shifted, without_small_noise
from companions.lab.contenders.whole import LARGEST_LEAVE_ONE_OUT, stability_calibrated, trusted_mean
from companions.lab.contenders.worlds import pac
from companions.lab.drawing import FLAWED, LIGHT, OURS, PLAIN, UNPROMISED, Axes, draw, draw_grid
from companions.lab.flawed import shared_noise_vector
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects

Values = NDArray[np.float64]

EPSILON = 1.0
MICRO_NATS = 125_000
NEARLY_ALL = 0.99
"""Share of people named correctly from which a mechanism that promises nothing counts as broken."""

SHOWN = 60
"""Most people that one figure can show; of more, this many are chosen at random."""


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    vector_parts, vector_verdicts = _vector(subjects, conditions)
    number_parts, number_verdicts = _number(subjects, conditions)
    published_parts, published_verdicts = _published(conditions)
    return Chapter(
        "reconstruction",
        "Reconstruction",
        "Noise was added to a mean, or to the means that leave one person out. Whose value can be named?",
        (*published_parts, *vector_parts, *number_parts),
        (*published_verdicts, *vector_verdicts, *number_verdicts),
    )


# --- a vector with one draw of noise


def recovered_in_each(released: Values, values: Values, *, known: int) -> NDArray[np.intp]:
    """How many people are recovered exactly from each released vector, by somebody who knows one of them."""
    found = level_from_one_person(
        differences(released, divisor=len(values) - 1), person=known, value=float(values[known])
    )
    # nearer than to anybody else's value, or as near as floats get
    nearest = max(np.diff(np.unique(values)).min() / 2, 1e-9 * np.ptp(values))
    return np.asarray((np.abs(found - values) < nearest).sum(axis=1))


def _published(conditions: Conditions) -> tuple[list[Part], list[Verdict]]:
    since = clock()
    vector = np.array(NOISY_MEANS)
    divisor = find_divisor(vector, grid=0.01)
    found = level_from_metres(differences(vector, divisor=divisor))
    words = (
        f"A notebook printed {len(vector)} of {PEOPLE} leave-one-out means of heights, all with the same "
        "draw of Laplace noise. The draw cancels in every difference. The smallest whole number that puts "
        f"all differences on a grid of 0.01 is {divisor}, so there were {divisor + 1} people. One value has "
        "a fraction: somebody typed metres. That fixes the level, and with it every height."
    )
    rows = [
        (f"{index + 1}", f"{mean:.6f}", f"{value:g}")
        for index, (mean, value) in enumerate(zip(vector, found, strict=True))
    ]
    table = NumberTable(
        "Heights recovered from the printed vector (public data, CC0), the first ten",
        ("entry", "printed, noised", "recovered height"),
        tuple(rows[:10]),
        conditions.ran(since, entries=len(vector), grid=0.01),
    )
    verdict = Verdict(
        "differences of a printed vector",
        "one draw of noise for a leave-one-out vector, as published",
        f"{len(found)} of {len(vector)} heights recovered exactly, and the number of people",
        Standing.BROKEN,
    )
    return [Text(words), table], [verdict]


def _vector(subjects: Subjects, conditions: Conditions) -> tuple[list[Part], list[Verdict]]:
    since = clock()
    generator, trials = conditions.generator("vector"), conditions.trials(200, 50)
    verdicts = []
    for reject in (True, False):
        released = shared_noise_vector(subjects.values, trials, generator, reject=reject)
        recovered = recovered_in_each(released, subjects.values, known=0)
        complete = int((recovered == subjects.count).sum())
        verdicts.append(
            Verdict(
                "differences, knowing one person's value",
                "one draw of noise for a leave-one-out vector" + (", small draws rejected" if reject else ""),
                f"all {subjects.count} people recovered exactly in {complete} of {trials} releases",
                Standing.BROKEN if complete else Standing.HOLDS,
            )
        )
    found = level_from_one_person(
        differences(released[0], divisor=subjects.count - 1), person=0, value=float(subjects.values[0])
    )
    figure = Figure(
        "One release of the whole vector: what the attacker computes, against the truth",
        draw(
            lambda axes: _plot_diagonal(axes, subjects.values, found),
            name="vector",
            shown=verdicts[1].outcome,
        ),
        conditions.ran(since, people=subjects.count, trials=trials, known_people=1),
    )
    return [figure], verdicts


def _plot_diagonal(axes: Axes, truth: Values, found: Values) -> None:
    axes.plot([truth.min(), truth.max()], [truth.min(), truth.max()], color=LIGHT)
    axes.plot(truth, found, "o", color=FLAWED, alpha=0.6)
    axes.set(xlabel="true value", ylabel="recovered value")


# --- one number


@dataclass(frozen=True)
class Outcome:
    """What the strongest guess achieved against one contender."""

    contender: Contender
    named: Named
    before: float

    @property
    def standing(self) -> Standing:
        rate, limit = self.named.hit_rate, self.contender.limit
        if limit is None:
            return Standing.BROKEN if rate > NEARLY_ALL else Standing.NO_PROMISE
        # releases are independent, people within one are not
        margin = SIGMAS * 0.5 / math.sqrt(self.named.hits.shape[1])
        return Standing.BROKEN if rate > limit * self.before + margin else Standing.HOLDS


def all_contenders(subjects: Subjects, generator: Generator) -> list[Contender]:
    """Everything that releases one mean, unsound ones first."""
    stable = [stability_calibrated(subjects, EPSILON)] if subjects.count <= LARGEST_LEAVE_ONE_OUT else []
    return [
        shifted(subjects.values),
        without_small_noise(subjects.values, generator),
        local_noise(subjects.values, EPSILON, generator),
        *stable,
        pac(subjects, MICRO_NATS, generator),
        trusted_mean(subjects, EPSILON),
        sample_aggregate(subjects, EPSILON, generator),
    ]


def attack_all(
    contenders: list[Contender], values: Values, people: NDArray[np.intp], *, trials: int
) -> list[Outcome]:
    before = name_values_without_release(values, people).hit_rate
    return [
        Outcome(one, name_values(one.draw(trials), one.log_likelihood, values, people), before)
        for one in contenders
    ]


def _number(subjects: Subjects, conditions: Conditions) -> tuple[list[Part], list[Verdict]]:
    since = clock()
    generator, trials = conditions.generator("number"), conditions.trials(200, 30)
    people = np.sort(generator.permutation(subjects.count)[:SHOWN])
    people = people[np.argsort(subjects.values[people], kind="stable")]
    outcomes = attack_all(all_contenders(subjects, generator), subjects.values, people, trials=trials)
    ran = conditions.ran(
        since, people=subjects.count, attacked=len(people), trials=trials, epsilon=EPSILON,
        nats=MICRO_NATS / 1e6, bounds=(subjects.lower, subjects.upper),
    )  # fmt: skip
    words = (
        "Now one number is released. The attacker knows everybody else's value, the mechanism, its "
        "parameters and its partition, and names the likeliest value of the one who is left. Before any "
        f"release that is right for {percent(outcomes[0].before)} of the people. A factor e^epsilon is the "
        "most that pure_dp lets a release add."
    )
    figure = Figure(
        "What the attacker names for each person (bars: 5 % to 95 % of releases, dots: the truth inside "
        "the bounds)",
        draw_grid(
            [_plot_guesses(outcome, subjects, people) for outcome in outcomes],
            name="guesses",
            shown="Named values and true values for each mechanism; the table below has the rates.",
            height=1.9,
        ),
        ran,
    )
    return [Text(words), figure, _rates(outcomes, ran)], [_verdict(outcome, trials) for outcome in outcomes]


def _rates(outcomes: list[Outcome], ran: str) -> NumberTable:
    rows = tuple(
        (
            outcome.contender.name,
            outcome.contender.promise,
            percent(outcome.named.hit_rate),
            percent(outcome.before),
            percent(min(1.0, outcome.contender.limit * outcome.before))
            if outcome.contender.limit
            else "none",
        )
        for outcome in outcomes
    )
    columns = ("mechanism", "promise", "named correctly", "without release", "most allowed")
    return NumberTable("How often a person's value is named correctly", columns, rows, ran)


def _verdict(outcome: Outcome, trials: int) -> Verdict:
    named, before = percent(outcome.named.hit_rate), percent(outcome.before)
    return Verdict(
        "likeliest value, knowing everybody else's",
        outcome.contender.name,
        f"{named} of people named correctly ({before} without a release), {trials} releases",
        outcome.standing,
    )


def _plot_guesses(outcome: Outcome, subjects: Subjects, people: NDArray[np.intp]) -> Callable[[Axes], None]:
    truth, colour = subjects.values[people], _colour(outcome.contender)

    def plot(axes: Axes) -> None:
        low, high = np.quantile(outcome.named.guesses, [0.05, 0.95], axis=1)
        order = np.arange(len(truth))
        axes.vlines(order, low, high, color=colour, alpha=0.35, linewidth=1.6)
        axes.plot(order, np.median(outcome.named.guesses, axis=1), "_", color=colour)
        axes.plot(order, truth, ".", color=PLAIN, markersize=2.5)
        axes.set_title(
            f"{outcome.contender.name}\n{percent(outcome.named.hit_rate)} named", fontsize=7.5, color=colour
        )
        axes.set(xticks=[], ylim=(subjects.lower, subjects.upper))

    return plot


def _colour(contender: Contender) -> str:
    if contender.limit is not None:
        return OURS
    return FLAWED if contender.promise.startswith("none") else UNPROMISED


# A published leave-one-out vector: what a notebook printed after adding its noise, and took for private.
# The first 48 of 58 entries, in the order of the table. Each is the mean height (cm) of everybody but one
# person of OpenNeuro ds004148, plus one Laplace draw that all of them share, drawn again while it was
# small.

PEOPLE = 58
"""How many people the table has. The attack does not need it: it finds the divisor 57 itself."""

NOISY_MEANS = (
    159.96687557898008, 160.37038435090992, 160.1247703158222, 160.33529663161167,
    160.08968259652394, 160.17740189476956, 160.15985803512044, 160.01950715792745,
    160.19494575441868, 160.2826650526643, 160.2826650526643, 160.3528404912608,
    160.37038435090992, 160.24757733336605, 160.1423141754713, 160.19494575441868,
    160.23003347371693, 160.2124896140678, 160.07213873687482, 159.93178785968183,
    160.2826650526643, 160.2826650526643, 160.2826650526643, 160.03705101757657,
    160.24757733336605, 160.2124896140678, 160.0545948772257, 160.1423141754713,
    160.2826650526643, 160.2826650526643, 160.10722645617307, 159.84406856143625,
    159.9844194386292, 159.9844194386292, 159.89670014038362, 160.01950715792745,
    160.19494575441868, 160.01950715792745, 159.93178785968183, 160.19494575441868,
    162.07213873687482, 159.84406856143625, 163.0607352281029, 160.15985803512044,
    160.40547207020816, 160.03705101757657, 160.0545948772257, 160.01950715792745,
)  # fmt: skip
