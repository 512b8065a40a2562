"""Accuracy of a correlation and of a group difference: what a preview recommends, against what was default.

    python benchmarks/accuracy_choices.py [--rounds 200] [--best 10]

272 people, drawn anew in each round. Both sides release through the platform's own code at the same epsilon.
Before: people hashed into blocks of 10, the statistic of each block, Laplace noise. Now: the block size and
the aggregator that `recommend` takes on a twin of as many other people, dealt into slots, noise of auto, as
many repeats as `recommended_repeats` says, of the twin too; ten twins take turns. For the correlation a
preview goes on: two means over people, with the twin's centres and spreads, are taken where its forecast of
them is better by a tenth; what the blocks give stands beside it, what follows from five means over people,
and a pipeline that corrects the correlation of a few people for its bias (Olkin, Pratt 1958). The error
is that against the plain statistic of the people themselves. *Best size* is the smallest error that any block
size has with `--best` repeats: nobody can choose it beforehand.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from accuracy import Numbers, hashed

from privacy.block_rules import Aggregator, candidate_block_sizes, recommended_repeats
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import RunOutput
from privacy.partition import assign_blocks, block_count
from privacy.people import SQUARES_MOST, Part, Released, computed, square
from privacy.preview import TwinAnswers, forecast, recommend
from privacy.preview.two_means import TwoMeans, beside_luck, forecast_two_means
from privacy.sample_aggregate import SampleAggregate

PEOPLE, EPSILONS = 272, (1, 2, 4)
HEIGHT, WEIGHT = (140.0, 210.0), (35.0, 120.0)
NAMES = [f"sub-{number}" for number in range(PEOPLE)]


@dataclass(frozen=True)
class Case:
    """A statistic of a table of two columns, None where these people do not have it, and the plain one that
    it stands for."""

    name: str
    draw: Callable[[np.random.Generator], Numbers]
    statistic: Callable[[Numbers], float | None]
    bounds: tuple[float, float]
    plain: Callable[[Numbers], float | None]


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


def corrected(table: Numbers) -> float | None:
    """The correlation times F(1/2, 1/2; (n - 2)/2; 1 - r^2), whose mean is right in normal people."""
    found = correlation(table)
    if found is None or len(table) < 4:
        return found
    middle, rest, term, total = (len(table) - 2) / 2, 1 - found * found, 1.0, 1.0
    for k in range(200):
        term *= (k + 0.5) ** 2 / ((middle + k) * (k + 1)) * rest
        total += term
        if term < 1e-5:
            break
    return min(max(found * total, -1.0), 1.0)


CASES = (
    Case("correlation of height and weight", bodies, correlation, (-1, 1), correlation),
    Case("the same, corrected in the pipeline", bodies, corrected, (-1, 1), correlation),
    Case("group difference of a score", groups, difference, (-0.5, 1.5), difference),
)
SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 20)
TWINS = 10


def answers(case: Case, table: Numbers, block_of: Sequence[int | None], blocks: int) -> list[RunOutput]:
    """What a pipeline says of each block, in grid units; None where it fails."""
    return _answers(case.statistic, OutputGrid.build(*case.bounds), table, block_of, blocks)


def _answers(
    statistic: Callable[[Numbers], float | None],
    grid: OutputGrid,
    table: Numbers,
    block_of: Sequence[int | None],
    blocks: int,
) -> list[RunOutput]:
    places = np.array([-1 if b is None else b for b in block_of])
    found = [statistic(table[places == block]) for block in range(blocks)]
    return [None if number is None else (grid.snap(number),) for number in found]


def dealt(blocks: int) -> Sequence[int | None]:
    return assign_blocks(NAMES, key=os.urandom(32), blocks=blocks, people=PEOPLE)


def before(case: Case, table: Numbers, epsilon: float) -> float:
    blocks = block_count(PEOPLE, 10)
    grid = OutputGrid.build(*case.bounds)
    mechanism = SampleAggregate((grid,), blocks, micro_epsilon(epsilon), people=PEOPLE)
    found = _answers(case.plain, grid, table, hashed(NAMES, blocks), blocks)
    return float(mechanism.release(found)[0].value)


@dataclass(frozen=True)
class Recommended:
    """Blocks, and two means where a preview says so."""

    size: int
    aggregator: Aggregator
    two: TwoMeans | None


def recommended(case: Case, epsilon: float, rng: np.random.Generator) -> Recommended:
    """On a twin: other people, every size that is worth trying."""
    twin, grid = case.draw(rng), OutputGrid.build(*case.bounds)
    sizes = candidate_block_sizes(PEOPLE)
    counts = {size: block_count(PEOPLE, size) for size in sizes}
    partitions = range(recommended_repeats(PEOPLE))
    runs = {
        size: tuple(run for _ in partitions for run in answers(case, twin, dealt(count), count))
        for size, count in counts.items()
    }
    asked = SampleAggregate((grid,), 2, micro_epsilon(epsilon), people=PEOPLE)
    rows = forecast(
        asked,
        twin=TwinAnswers(numbers=(case.statistic(twin) or 0.0,), blocks=runs),
        nominal_size=PEOPLE,
        block_sizes=sizes,
        epsilons=(micro_epsilon(epsilon),),
    )
    choice = recommend(rows, grids=(grid,), names=("value",)).choice
    two = None
    if case.statistic is correlation:
        x, y = (column.tolist() for column in clipped(twin))
        alone = replace(asked, noise="auto")
        two = forecast_two_means(alone, x, y, without=(0,), nominal_size=PEOPLE)
        row = next(row for row in rows if row.choice == choice)
        if two is not None:
            own, other = beside_luck((two.error, two.without_noise_95), (row.error, row.without_noise_95))
            two = two if own * 1.1 <= other else None
    return Recommended(choice.block_size, choice.aggregator, two)


def clipped(table: Numbers) -> tuple[Numbers, Numbers]:
    x, y = (np.clip(column, *each) for column, each in zip(table.T, (HEIGHT, WEIGHT), strict=True))
    return x, y


def of_two_means(table: Numbers, epsilon: float, two: TwoMeans) -> float:
    """0 where it is open."""
    pairs = zip(clipped(table), two.centres, two.spreads, strict=True)
    u, v = ((column - centre) / spread for column, centre, spread in pairs)
    grid = OutputGrid.build(0, SQUARES_MOST)
    runs = [
        tuple(grid.snap(square(float(a), float(sign * b))) for sign in (1, -1))
        for a, b in zip(u, v, strict=True)
    ]
    parts = (Part(is_mean=True, absent=0),) * 2
    mechanism = SampleAggregate(
        (grid, grid), PEOPLE, micro_epsilon(epsilon), noise="auto", people=PEOPLE, parts=parts
    )
    released = [Released(each.value, each.half_width_99 or Fraction(0)) for each in mechanism.release(runs)]
    return computed("correlation of squares", released, people=PEOPLE).value or 0.0


def now(case: Case, table: Numbers, epsilon: float, choice: Recommended) -> float:
    size, aggregator = choice.size, choice.aggregator
    blocks, repeats = block_count(PEOPLE, size), recommended_repeats(PEOPLE)
    mechanism = SampleAggregate(
        (OutputGrid.build(*case.bounds),),
        blocks,
        micro_epsilon(epsilon),
        aggregator=aggregator,
        noise="auto",
        people=PEOPLE,
        repeats=repeats,
    )
    runs = [run for _ in range(repeats) for run in answers(case, table, dealt(blocks), blocks)]
    return float(mechanism.release(runs)[0].value)


def best_size(case: Case, rounds: int, repeats: int) -> dict[int, tuple[float, int]]:
    """By epsilon, the smallest error of a mean over blocks of any size, from the closed form of its noise."""
    rng, low, high = np.random.default_rng(11), *case.bounds
    tables = [case.draw(rng) for _ in range(rounds)]
    found: dict[int, list[tuple[float, int]]] = {epsilon: [] for epsilon in EPSILONS}
    grid = OutputGrid.build(*case.bounds)
    for size in SIZES:
        blocks = block_count(PEOPLE, size)
        squares = []
        for table in tables:
            runs = [run for _ in range(repeats) for run in answers(case, table, dealt(blocks), blocks)]
            units = np.mean([grid.middle if run is None else run[0] for run in runs])
            squares.append((low + float(grid.step) * units - (case.plain(table) or 0.0)) ** 2)
        for epsilon in EPSILONS:
            noise = 2 * ((high - low) / (blocks * epsilon)) ** 2
            found[epsilon].append((float(np.sqrt(np.mean(squares) + noise)), size))
    return {epsilon: min(errors) for epsilon, errors in found.items()}


def one_by_one(table: Numbers, epsilon: float) -> float:
    """The correlation that follows from five means over people; 0 where it is open."""
    middles = [(low + high) / 2 for low, high in (HEIGHT, WEIGHT)]
    a, b = ((high - low) / 2 for low, high in (HEIGHT, WEIGHT))
    bounds = (HEIGHT, WEIGHT, (-a * b, a * b), (0.0, a * a), (0.0, b * b))
    grids = tuple(OutputGrid.build(*each) for each in bounds)
    x, y = clipped(table)
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


def row(case: Case, epsilon: float, rounds: int, best: tuple[float, int]) -> str:
    started, rng = time.monotonic(), np.random.default_rng(7)
    choices = [recommended(case, epsilon, rng) for _ in range(TWINS)]
    squares: dict[str, list[float]] = {"before": [], "blocks": [], "recommended": [], "people": []}
    for number in range(rounds):
        table, choice = case.draw(rng), choices[number % TWINS]
        truth = case.plain(table) or 0.0
        off = (now(case, table, epsilon, choice) - truth) ** 2
        squares["before"].append((before(case, table, epsilon) - truth) ** 2)
        squares["blocks"].append(off)
        two = choice.two
        squares["recommended"].append(
            off if two is None else (of_two_means(table, epsilon, two) - truth) ** 2
        )
        if case.statistic is correlation:
            squares["people"].append((one_by_one(table, epsilon) - truth) ** 2)
    errors = {name: float(np.sqrt(np.mean(found))) for name, found in squares.items() if found}
    people = f"{errors['people']:.3g}" if "people" in errors else "-"
    sizes = " ".join(map(str, sorted({choice.size for choice in choices})))
    twins = sum(choice.two is not None for choice in choices)
    taken = f"two means, {twins} of {TWINS}" if twins else "blocks"
    cells = (
        case.name, epsilon, f"{errors['before']:.3g}", f"{errors['blocks']:.3g} ({sizes})",
        f"{errors['recommended']:.3g} ({taken})", f"{errors['before'] / errors['recommended']:.2f}", people,
        f"{best[0]:.3g} ({best[1]})", f"{errors['before'] / best[0]:.2f}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} | {time.monotonic() - started:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--best", type=int, default=10, help="repeats of the best size")
    parser.add_argument("--cases", type=int, default=len(CASES), help="how many of the statistics")
    arguments = parser.parse_args()
    headings = (
        "statistic", "epsilon", "hashed, 10", "blocks (sizes)", "recommended", "times better", "one by one",
        "best size", "times better", "seconds",
    )  # fmt: skip
    print(f"{PEOPLE} people, {arguments.rounds} rounds; root mean square error at the same epsilon\n")
    print(f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}")
    for case in CASES[: arguments.cases]:
        best = best_size(case, arguments.rounds // 2, arguments.best)
        for epsilon in EPSILONS:
            print(row(case, epsilon, arguments.rounds, best[epsilon]), flush=True)


if __name__ == "__main__":
    main()
