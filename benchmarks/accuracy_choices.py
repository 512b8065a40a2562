"""Accuracy of a correlation and of a group difference: what a preview recommends, against what was default.

    python benchmarks/accuracy_choices.py [--rounds 200]

272 people, drawn anew in each round. Both sides release through the platform's own code at the same epsilon.
Before: people hashed into blocks of 10, the statistic of each block, Laplace noise. Now: the block size and
the aggregator that `recommend` takes on a twin of as many other people, dealt into slots, noise of auto; and
for the correlation also what follows from five means over people one by one. The error is that against the
statistic of the people themselves.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from accuracy import Numbers, hashed

from privacy.block_rules import Aggregator, candidate_block_sizes
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import RunOutput
from privacy.partition import assign_blocks, block_count
from privacy.people import Part, Released, computed
from privacy.preview import TwinAnswers, forecast, recommend
from privacy.sample_aggregate import SampleAggregate

PEOPLE, EPSILONS = 272, (1, 2, 4)
HEIGHT, WEIGHT = (140.0, 210.0), (35.0, 120.0)
NAMES = [f"sub-{number}" for number in range(PEOPLE)]


@dataclass(frozen=True)
class Case:
    """A statistic of a table of two columns; None where these people do not have it."""

    name: str
    draw: Callable[[np.random.Generator], Numbers]
    statistic: Callable[[Numbers], float | None]
    bounds: tuple[float, float]


def bodies(rng: np.random.Generator) -> Numbers:
    """Height in cm and weight in kg, correlated by .5."""
    return rng.multivariate_normal((171, 70), ((81, 54), (54, 144)), PEOPLE)


def groups(rng: np.random.Generator) -> Numbers:
    """Whether somebody is a patient, as 142 of 272 are, and a mean score from 0 to 3."""
    patient = rng.permutation(PEOPLE) < 142
    return np.c_[patient, np.clip(rng.normal(0.3 + 0.5 * patient, 0.4), 0, 3)]


def correlation(table: Numbers) -> float | None:
    if len(table) < 3 or min(table.std(axis=0)) == 0:
        return None
    return float(np.corrcoef(table.T)[0, 1])


def difference(table: Numbers) -> float | None:
    patient = table[:, 0] == 1
    if not len(table) or patient.all() or not patient.any():
        return None
    return float(table[patient, 1].mean() - table[~patient, 1].mean())


CASES = (
    Case("correlation of height and weight", bodies, correlation, (-1, 1)),
    Case("group difference of a score", groups, difference, (-0.5, 1.5)),
)


def answers(case: Case, table: Numbers, block_of: Sequence[int | None], blocks: int) -> list[RunOutput]:
    """What a pipeline says of each block, in grid units; None where it fails."""
    grid, places = OutputGrid.build(*case.bounds), np.array([-1 if b is None else b for b in block_of])
    found = [case.statistic(table[places == block]) for block in range(blocks)]
    return [None if number is None else (grid.snap(number),) for number in found]


def dealt(blocks: int) -> Sequence[int | None]:
    return assign_blocks(NAMES, key=os.urandom(32), blocks=blocks, people=PEOPLE)


def before(case: Case, table: Numbers, epsilon: float) -> float:
    blocks = block_count(PEOPLE, 10)
    mechanism = SampleAggregate(
        (OutputGrid.build(*case.bounds),), blocks, micro_epsilon(epsilon), people=PEOPLE
    )
    return float(mechanism.release(answers(case, table, hashed(NAMES, blocks), blocks))[0].value)


def recommended(case: Case, epsilon: float, rng: np.random.Generator) -> tuple[int, Aggregator]:
    """On a twin: other people, every size that is worth trying."""
    twin, grid = case.draw(rng), OutputGrid.build(*case.bounds)
    sizes = candidate_block_sizes(PEOPLE)
    counts = {size: block_count(PEOPLE, size) for size in sizes}
    runs = {size: tuple(answers(case, twin, dealt(count), count)) for size, count in counts.items()}
    asked = SampleAggregate((grid,), 2, micro_epsilon(epsilon), people=PEOPLE)
    rows = forecast(
        asked,
        twin=TwinAnswers(numbers=(case.statistic(twin) or 0.0,), blocks=runs),
        nominal_size=PEOPLE,
        block_sizes=sizes,
        epsilons=(micro_epsilon(epsilon),),
    )
    choice = recommend(rows, grids=(grid,), names=("value",)).choice
    return choice.block_size, choice.aggregator


def now(case: Case, table: Numbers, epsilon: float, choice: tuple[int, Aggregator]) -> float:
    size, aggregator = choice
    blocks = block_count(PEOPLE, size)
    mechanism = SampleAggregate(
        (OutputGrid.build(*case.bounds),),
        blocks,
        micro_epsilon(epsilon),
        aggregator=aggregator,
        noise="auto",
        people=PEOPLE,
    )
    return float(mechanism.release(answers(case, table, dealt(blocks), blocks))[0].value)


def one_by_one(table: Numbers, epsilon: float) -> float:
    """The correlation that follows from five means over people; 0 where it is open."""
    middles = [(low + high) / 2 for low, high in (HEIGHT, WEIGHT)]
    a, b = ((high - low) / 2 for low, high in (HEIGHT, WEIGHT))
    bounds = (HEIGHT, WEIGHT, (-a * b, a * b), (0.0, a * a), (0.0, b * b))
    grids = tuple(OutputGrid.build(*each) for each in bounds)
    x, y = (np.clip(column, *each) for column, each in zip(table.T, (HEIGHT, WEIGHT), strict=True))
    u, v = x - middles[0], y - middles[1]
    columns = zip(x, y, u * v, u * u, v * v, strict=True)
    runs = [tuple(grid.snap(float(n)) for grid, n in zip(grids, row, strict=True)) for row in columns]
    parts = (Part(is_mean=True),) * 5
    mechanism = SampleAggregate(
        grids, PEOPLE, micro_epsilon(epsilon), noise="auto", people=PEOPLE, parts=parts
    )
    released = [Released(each.value, each.half_width_99 or Fraction(0)) for each in mechanism.release(runs)]
    found = computed("correlation", released, people=PEOPLE, centres=[Fraction(m) for m in middles])
    return found.value or 0.0


def row(case: Case, epsilon: float, rounds: int) -> str:
    started, rng = time.monotonic(), np.random.default_rng(7)
    choice = recommended(case, epsilon, rng)
    squares: dict[str, list[float]] = {"before": [], "recommended": [], "people": []}
    for _ in range(rounds):
        table = case.draw(rng)
        truth = case.statistic(table) or 0.0
        squares["before"].append((before(case, table, epsilon) - truth) ** 2)
        squares["recommended"].append((now(case, table, epsilon, choice) - truth) ** 2)
        if case.statistic is correlation:
            squares["people"].append((one_by_one(table, epsilon) - truth) ** 2)
    errors = {name: float(np.sqrt(np.mean(found))) for name, found in squares.items() if found}
    best = min(errors[name] for name in errors if name != "before")
    people = f"{errors['people']:.3g}" if "people" in errors else "-"
    told = f"{errors['recommended']:.3g} ({choice[1]}, {choice[0]})"
    cells = (case.name, epsilon, f"{errors['before']:.3g}", told, people, f"{errors['before'] / best:.1f}")
    return f"| {' | '.join(map(str, cells))} | {time.monotonic() - started:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    headings = ("statistic", "epsilon", "hashed, 10", "recommended", "one by one", "times better", "seconds")
    print(f"{PEOPLE} people, {arguments.rounds} rounds; root mean square error at the same epsilon\n")
    print(f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}")
    for case in CASES:
        for epsilon in EPSILONS:
            print(row(case, epsilon, arguments.rounds), flush=True)


if __name__ == "__main__":
    main()
