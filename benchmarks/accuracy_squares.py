"""Accuracy of a correlation that follows from two means over people, against what was default.

    python benchmarks/accuracy_squares.py [--rounds 400]

272 people, drawn anew in each round, whose two columns have a correlation. Each person is a run that writes
(u + v)^2 and (u - v)^2, u and v being the columns with public centres and scales: mean and standard deviation
of each column on a twin of as many other people, of which nothing else is used. Both squares lie in 0 to 16,
typed before anything was run. With P and M the means of a release, (P - M)/(P + M) is the correlation as far
as u and v have mean 0 and one spread. Released by the platform's own code, noise of auto. *Off*: both centres
are .3 standard deviations too low. The other side and the error are those of `accuracy_choices.py`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from accuracy import Numbers
from accuracy_choices import CASES, EPSILONS, PEOPLE, before, correlation

from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.people import Part
from privacy.sample_aggregate import SampleAggregate

CORRELATIONS, TWINS = (0.0, 0.3, 0.5, 0.8), 20
BOUNDS, OFF = (0.0, 16.0), 0.3


def two_squares(table: Numbers, epsilon: float, twin: Numbers, *, off: float = 0.0) -> float:
    """0 where noise leaves nothing of both."""
    scales = twin.std(axis=0)
    u, v = ((table - (twin.mean(axis=0) - off * scales)) / scales).T
    grid = OutputGrid.build(*BOUNDS)
    runs = [
        (grid.snap(float(a)), grid.snap(float(b))) for a, b in zip((u + v) ** 2, (u - v) ** 2, strict=True)
    ]
    parts = (Part(is_mean=True),) * 2
    mechanism = SampleAggregate(
        (grid, grid), PEOPLE, micro_epsilon(epsilon), noise="auto", people=PEOPLE, parts=parts
    )
    plus, minus = (max(float(each.value), 0.0) for each in mechanism.release(runs))
    return 0.0 if plus + minus == 0 else (plus - minus) / (plus + minus)


def row(rho: float, epsilon: float, rounds: int) -> str:
    rng = np.random.default_rng(7)

    def draw() -> Numbers:
        return rng.multivariate_normal((171, 70), ((81, 108 * rho), (108 * rho, 144)), PEOPLE)

    case, twins = replace(CASES[0], name="correlation"), [draw() for _ in range(TWINS)]
    squares: dict[str, list[float]] = {"before": [], "squares": [], "off": []}
    for number in range(rounds):
        table, twin = draw(), twins[number % TWINS]
        truth = correlation(table) or 0.0
        squares["before"].append((before(case, table, epsilon) - truth) ** 2)
        squares["squares"].append((two_squares(table, epsilon, twin) - truth) ** 2)
        squares["off"].append((two_squares(table, epsilon, twin, off=OFF) - truth) ** 2)
    hashed, ours, off = (float(np.sqrt(np.mean(found))) for found in squares.values())
    return f"| {rho} | {epsilon} | {hashed:.3g} | {ours:.3g} | {hashed / ours:.2f} | {off:.3g} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400)
    arguments = parser.parse_args()
    headings = ("correlation", "epsilon", "hashed, 10", "two squares", "times better", "centres off")
    print(f"{PEOPLE} people, {arguments.rounds} rounds; root mean square error at the same epsilon\n")
    print(f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}")
    for rho in CORRELATIONS:
        for epsilon in EPSILONS:
            print(row(rho, epsilon, arguments.rounds), flush=True)


if __name__ == "__main__":
    main()
