"""Membership inference: was the most exposed person in the data?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np

from companions.lab.attacks.membership import (
    SIGMAS,
    Success,
    attack_membership,
    impossible_share,
    laplace_best,
    pure_dp_bound,
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
from companions.lab.contenders import neighbours as worlds_of
from companions.lab.contenders.neighbours import Mechanism, Neighbours
from companions.lab.contenders.whole import LARGEST_LEAVE_ONE_OUT
from companions.lab.contenders.worlds import draw_worlds, guess_membership, released, snapped
from companions.lab.drawing import FLAWED, LIMIT, OURS, PLAIN, UNPROMISED, Axes, draw, log_axis
from companions.lab.flawed import leave_one_out_reach
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.pac import Pac
from privacy.posterior_bound import posterior_bound

LADDER = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
NATS = (7_812, 31_250, 125_000, 500_000)
"""Micro-nats."""


class Claim(Enum):
    PROVEN = "pure_dp, with a proof"
    SUPPOSED = "an epsilon, without one"
    NONE = "nothing"


COLOURS = {Claim.PROVEN: OURS, Claim.SUPPOSED: FLAWED, Claim.NONE: UNPROMISED}


@dataclass(frozen=True)
class Series:
    """One mechanism along the ladder, and what it says of itself."""

    name: str
    mechanism: Mechanism
    claims: Claim


SERIES = (
    Series("sample_aggregate, traitor pipeline", worlds_of.sample_aggregate_of_traitor, Claim.PROVEN),
    Series("sample_aggregate, mean", worlds_of.sample_aggregate_of_mean, Claim.PROVEN),
    Series("trusted mean", worlds_of.trusted_mean, Claim.PROVEN),
    Series("stability_calibrated, mean", worlds_of.stability_of_mean, Claim.NONE),
    Series("stability_calibrated, traitor pipeline", worlds_of.stability_of_traitor, Claim.NONE),
    Series("scale read off the data, mean", worlds_of.local_noise, Claim.SUPPOSED),
    Series("small noise rejected, mean", worlds_of.rejecting, Claim.SUPPOSED),
)

Found = dict[Series, list[Success]]


def series_for(subjects: Subjects) -> list[Series]:
    """All, but for those that would leave out each of very many people."""
    few = subjects.count <= LARGEST_LEAVE_ONE_OUT
    return [series for series in SERIES if few or series.claims is not Claim.NONE]


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    dp_parts, dp_verdicts = _along_epsilon(subjects, conditions)
    pac_parts, pac_verdicts = _along_nats(subjects, conditions)
    return Chapter(
        "membership",
        "Membership inference",
        "Two data sets differ in the person who is farthest from the mean. Which of the two was analysed?",
        (*dp_parts, *pac_parts),
        (_hole(subjects, conditions), *dp_verdicts, *pac_verdicts),
    )


def measure(
    subjects: Subjects, series: Series, epsilons: Sequence[float], conditions: Conditions, *, trials: int
) -> list[Success]:
    """Along the ladder, with the same partition everywhere: its luck would hide what epsilon does."""
    both = Neighbours.of(subjects)
    return [
        attack_membership(*series.mechanism(both, epsilon, trials, conditions.generator(series.name)))
        for epsilon in epsilons
    ]


def hole_share(subjects: Subjects, conditions: Conditions, *, trials: int) -> float:
    """Share of releases with rejected small noise that come from the one data set for certain."""
    both = Neighbours.of(subjects)
    with_person = worlds_of.rejecting(both, 0.0, trials, conditions.generator("hole"))[0]
    without = both.without
    return impossible_share(with_person, float(without.mean()), leave_one_out_reach(without))


def _hole(subjects: Subjects, conditions: Conditions) -> Verdict:
    share = hole_share(subjects, conditions, trials=conditions.trials(4_000, 1_200))
    return Verdict(
        "outputs that the other data set cannot give",
        "small noise rejected, mean",
        f"{percent(share)} of releases identify the data set for certain, one by one",
        Standing.BROKEN if share else Standing.NO_PROMISE,
    )


def _along_epsilon(subjects: Subjects, conditions: Conditions) -> tuple[list[Part], list[Verdict]]:
    since = clock()
    epsilons = LADDER[1:5:2] if conditions.quick else LADDER
    trials = conditions.trials(4_000, 1_200)
    found = {
        series: measure(subjects, series, epsilons, conditions, trials=trials)
        for series in series_for(subjects)
    }
    ran = conditions.ran(
        since, people=subjects.count, releases_of_each=trials, epsilon=tuple(epsilons),
        interval=f"{SIGMAS} standard errors",
    )  # fmt: skip
    figure = Figure(
        "How often the attacker is right (0.5 is a coin)",
        draw(
            lambda axes: _plot_success(axes, epsilons, found),
            name="membership",
            shown="Success against epsilon for each mechanism, with the bound of pure_dp; figures in the "
            "table.",
            height=4.4,
        ),
        ran,
    )
    words = (
        "A traitor pipeline answers the upper bound where the person is and the lower bound elsewhere. "
        "Against pure_dp nobody is right more often than e^epsilon/(1 + e^epsilon), whatever the pipeline; "
        "the best attack on Laplace noise reaches 1 - e^(-epsilon/2)/2. Mechanisms without such a promise "
        "may do as well on a mean, and fail on a traitor or an outlier."
    )
    rows = tuple(
        (series.name, *(f"{success.rate:.3f}" for success in successes))
        for series, successes in found.items()
    )
    bounds = ("most that pure_dp allows", *(f"{pure_dp_bound(epsilon):.3f}" for epsilon in epsilons))
    columns = ("mechanism", *(f"epsilon {epsilon:g}" for epsilon in epsilons))
    table = NumberTable("Share of right answers", columns, (*rows, bounds), ran)
    verdicts = [judge(series, epsilons, successes) for series, successes in found.items()]
    return [Text(words), figure, table], verdicts


def judge(series: Series, epsilons: Sequence[float], successes: list[Success]) -> Verdict:
    """Judged where the attacker exceeds the bound most, or comes nearest to it."""
    excess, epsilon, success = max(
        (
            (success.rate - pure_dp_bound(epsilon), epsilon, success)
            for epsilon, success in zip(epsilons, successes, strict=True)
        ),
        key=lambda found: found[0],
    )
    beyond = excess > success.margin
    standing = Standing.HOLDS if series.claims is Claim.PROVEN else Standing.NO_PROMISE
    if beyond and series.claims is not Claim.NONE:
        standing = Standing.BROKEN
    return Verdict(
        "membership of the most exposed person",
        series.name,
        f"right {percent(success.rate)} of the time where epsilon {epsilon:g} would allow "
        f"{percent(pure_dp_bound(epsilon))}",
        standing,
    )


def _plot_success(axes: Axes, epsilons: Sequence[float], found: Found) -> None:
    fine = np.geomspace(epsilons[0], epsilons[-1], 100)
    axes.fill_between(fine, [pure_dp_bound(e) for e in fine], 1, color=LIMIT, alpha=0.12, linewidth=0)
    axes.plot(fine, [pure_dp_bound(e) for e in fine], color=LIMIT, label="bound of pure_dp")
    axes.plot(fine, [laplace_best(e) for e in fine], ":", color=PLAIN, label="best attack on Laplace noise")
    marks = {claim: iter("os^") for claim in Claim}
    for series, successes in found.items():
        rates = [success.rate for success in successes]
        line = "-" if series.claims is Claim.PROVEN else "--"
        colour = COLOURS[series.claims]
        axes.plot(epsilons, rates, next(marks[series.claims]) + line, color=colour, label=series.name)
    axes.set(xlabel="epsilon, or the dial that looks like it", ylabel="right answers", ylim=(0.45, 1.02))
    log_axis(axes, epsilons)
    axes.figure.legend(loc="outside lower left", ncols=1)


# --- which half


def measure_pac(subjects: Subjects, micro_nats: int, conditions: Conditions, *, trials: int) -> Success:
    """How often the best guess is right whether the most exposed person was in the secret half."""
    worlds = draw_worlds(subjects.names, conditions.generator("pac membership"))
    grid = OutputGrid.build(subjects.lower, subjects.upper)
    outputs = worlds.outputs(subjects.values, lambda part: float(part.mean()))
    releases, secrets = released(Pac((grid,), micro_nats), snapped(outputs, grid), trials)
    right = guess_membership(
        releases, secrets, worlds=worlds, outputs=outputs, person=Neighbours.of(subjects).person,
        nats=micro_nats / MICRO, width=subjects.upper - subjects.lower,
    )  # fmt: skip
    return Success(float(right.mean()), trials=trials)


def pac_bound(micro_nats: int) -> float:
    return float(posterior_bound(Fraction(micro_nats, MICRO)))


def _along_nats(subjects: Subjects, conditions: Conditions) -> tuple[list[Part], list[Verdict]]:
    since = clock()
    ladder = NATS[1::2] if conditions.quick else NATS
    trials = conditions.trials(4_000, 1_000)
    found = [measure_pac(subjects, micro_nats, conditions, trials=trials) for micro_nats in ladder]
    ran = conditions.ran(since, people=subjects.count, cohorts=trials, worlds=64)
    figure = Figure(
        "pac: was the most exposed person in the half that was analysed?",
        draw(
            lambda axes: _plot_pac(axes, ladder, found),
            name="pac",
            shown="Success against nats, with the bound.",
        ),
        ran,
    )
    verdicts = [
        Verdict(
            "membership in the secret half",
            f"pac, {micro_nats / MICRO:g} nats",
            f"right {percent(success.rate)} of the time, at most {percent(pac_bound(micro_nats))} allowed",
            Standing.HOLDS if success.rate <= pac_bound(micro_nats) + success.margin else Standing.BROKEN,
        )
        for micro_nats, success in zip(ladder, found, strict=True)
    ]
    return [figure], verdicts


def _plot_pac(axes: Axes, ladder: Sequence[int], found: list[Success]) -> None:
    nats = [micro_nats / MICRO for micro_nats in ladder]
    axes.plot(nats, [pac_bound(micro_nats) for micro_nats in ladder], color=LIMIT, label="bound of pac")
    axes.plot(nats, [success.rate for success in found], "o-", color=OURS, label="strongest guess")
    axes.set(xlabel="mutual information (nats)", ylabel="right answers", ylim=(0.45, 1.02))
    log_axis(axes, nats)
    axes.legend(loc="upper left")
