"""Accuracy: the error of means at the same epsilon, with people hashed into blocks and dealt into slots.

    python benchmarks/accuracy.py [--rounds 400] [--people 1000]

Both sides release through the platform's own code. The rule of before, a keyed hash of the identifier
modulo the number of blocks, is kept here to compare with: the better of blocks of 3 and of 10, as each
analysis might have chosen. Beside it stand blocks of one into which people are dealt, with the noise of each
output drawn alone, and drawn jointly where this version can. Each round draws other people; the error is that
of the first output against the mean of all of them, within the bounds.
"""

from __future__ import annotations

import argparse
import hmac
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import RunOutput
from privacy.partition import assign_blocks, block_count
from privacy.sample_aggregate import SampleAggregate
from privacy.sample_parameters import SampleParameters

Numbers = NDArray[np.float64]
Assign = Callable[[Sequence[str], int], Sequence[int | None]]
"""The block of each of these people, of so many blocks, under a fresh key."""

HAS_JOINT = "joint" in get_args(get_type_hints(SampleParameters)["noise"])
SIZES_BEFORE = (3, 10)
HEADINGS = (
    "people", "outputs", "epsilon", "hashed, 3 or 10", "dealt, 1", "dealt, 1, joint noise", "times better",
    "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """So many people, what is measured of each, and between which bounds."""

    name: str
    people: int
    epsilon: float
    bounds: tuple[tuple[float, float], ...]
    draw: Callable[[np.random.Generator, int], Numbers]


@dataclass(frozen=True)
class Rule:
    """How people get into blocks, how many into one, and the kind of noise."""

    assign: Assign
    block_size: int
    noise: str = "laplace"


def bodies(rng: np.random.Generator, people: int) -> Numbers:
    """Height in cm, body mass index, weight in kg."""
    return np.c_[rng.normal(171, 9, people), rng.normal(22, 3, people), rng.normal(65, 10, people)]


BODIES = ((140.0, 210.0), (16.0, 40.0), (40.0, 120.0))


def cases() -> tuple[Case, ...]:
    ten = Case("shares", 1_000, 2, ((0.0, 1.0),) * 10, lambda rng, n: rng.beta(2, 5, (n, 10)))
    skewed = Case("lognormal", 1_000, 2, ((0.0, 100.0),), lambda rng, n: rng.lognormal(3, 0.5, (n, 1)))
    of_bodies = ((60, 1, 2), (60, 3, 2), (60, 3, 0.5), (1_000, 1, 2), (1_000, 3, 0.5))
    first = [Case("height", people, epsilon, BODIES[:p], bodies) for people, p, epsilon in of_bodies]
    return (*first, ten, skewed, Case("height", 50_000, 2, BODIES, bodies))


def hashed(names: Sequence[str], blocks: int) -> Sequence[int | None]:
    key = os.urandom(32)
    return [int.from_bytes(hmac.digest(key, name.encode(), "sha256")[:8], "big") % blocks for name in names]


def dealt(names: Sequence[str], blocks: int) -> Sequence[int | None]:
    return assign_blocks(names, key=os.urandom(32), blocks=blocks, people=len(names))


def released(case: Case, rule: Rule, table: Numbers, names: Sequence[str]) -> float:
    """The first output of one release of the mean of each column."""
    grids = tuple(OutputGrid.build(lower, upper) for lower, upper in case.bounds)
    blocks = block_count(case.people, rule.block_size)
    chosen: dict[str, Any] = {"noise": rule.noise}
    mechanism = SampleAggregate(grids, blocks, micro_epsilon(case.epsilon), people=case.people, **chosen)
    block_of = np.array(rule.assign(names, blocks), np.intp)
    return float(mechanism.release(outputs_of(table, block_of, blocks, grids))[0].value)


def outputs_of(
    table: Numbers, block_of: NDArray[np.intp], blocks: int, grids: Sequence[OutputGrid]
) -> list[RunOutput]:
    """What a pipeline says of each block, in grid units: the means of its people; None of nobody."""
    counts = np.bincount(block_of, minlength=blocks)
    units = []
    for column, grid in zip(table.T, grids, strict=True):
        sums = np.bincount(block_of, weights=column, minlength=blocks)
        means = np.divide(sums, counts, out=np.zeros(blocks), where=counts > 0)
        units.append([grid.snap(float(mean)) for mean in means])
    return [tuple(found) if count else None for count, *found in zip(counts, *units, strict=True)]


def errors(case: Case, rules: Sequence[Rule], rounds: int) -> list[float]:
    """Root mean square error of each rule, over the same people."""
    rng = np.random.default_rng(case.people)
    names = [f"sub-{number}" for number in range(case.people)]
    squares = np.zeros(len(rules))
    for _ in range(rounds):
        table = case.draw(rng, case.people)[:, : len(case.bounds)]
        truth = float(np.clip(table[:, 0], *case.bounds[0]).mean())
        squares += [(released(case, rule, table, names) - truth) ** 2 for rule in rules]
    return [float(error) for error in np.sqrt(squares / rounds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--people", type=int, help="only the cases of so many")
    arguments = parser.parse_args()
    rules = [*(Rule(hashed, size) for size in SIZES_BEFORE), Rule(dealt, 1)]
    if HAS_JOINT:
        rules.append(Rule(dealt, 1, "joint"))
    print(f"{arguments.rounds} rounds; root mean square error of the first output, at the same epsilon\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{' --- |' * len(HEADINGS)}")
    for case in cases():
        if arguments.people in (None, case.people):
            _print_row(case, rules, arguments.rounds)


def _print_row(case: Case, rules: Sequence[Rule], rounds: int) -> None:
    started = time.monotonic()
    found = errors(case, rules, rounds)
    before, alone = min(found[: len(SIZES_BEFORE)]), found[len(SIZES_BEFORE)]
    jointly = found[-1] if HAS_JOINT else None
    now = alone if jointly is None else min(alone, jointly)
    told = "-" if jointly is None else f"{jointly:.3g}"
    low, high = case.bounds[0]
    name = f"{case.people:,} {case.name} [{low:g}, {high:g}]"
    errors_told = (f"{before:.3g}", f"{alone:.3g}", told, f"{before / now:.1f}")
    row = (name, len(case.bounds), f"{case.epsilon:g}", *errors_told, f"{time.monotonic() - started:.0f}")
    print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
