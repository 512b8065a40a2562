"""Accuracy: the error of means at the same epsilon, with people hashed into blocks and dealt into slots.

    python benchmarks/accuracy.py [--rounds 400] [--people 1000]
    python benchmarks/accuracy.py --vectors [--rounds 200]

Both sides release through the platform's own code. The rule of before, a keyed hash of the identifier
modulo the number of blocks, is kept here to compare with: the better of blocks of 3 and of 10, as each
analysis might have chosen. Beside it stand blocks of one into which people are dealt, with the noise of each
output drawn alone, and drawn jointly where this version can. Each round draws other people; the error is that
of the first output against the mean of all of them, within the bounds.

`--vectors` releases whole vectors, of 68 regions and of a spectrum of 400 values: with Laplace noise for each
by itself (drawn alone, as no release takes so many), joint, Gaussian and clipped Gaussian noise. Its error is
that of all values, as a share of their range.
"""

from __future__ import annotations

import argparse
import hmac
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
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


VECTORS = (
    # each value of a person: a mean of its own, how tall the whole is, and noise of its own
    Case("regions", 1_000, 1, ((0.0, 5.0),) * 68, lambda rng, n: vectors(rng, n, 68, 2.5, 0.15)),
    Case("spectrum", 1_000, 1, ((0.0, 1.0),) * 400, lambda rng, n: vectors(rng, n, 400, 0.5, 0.05)),
)
ATTO_DELTA = 10**12
CLIP_NORMS = {68: Fraction(34, 10), 400: Fraction(51, 10)}
"""In half-ranges: what 95 % of people stay within, as `dpgate preview` proposes from a twin."""
KINDS = ("laplace", "joint", "gaussian", "clipped")


def vectors(rng: np.random.Generator, people: int, values: int, middle: float, spread: float) -> Numbers:
    """People whose curve differs from a common one by a height of their own, and point by point."""
    curve = middle * (1 + 0.3 * np.sin(np.linspace(0, 6, values)))
    return curve * (1 + spread * rng.normal(size=(people, 1)) + spread * rng.normal(size=(people, values)))


def vector_errors(case: Case, rounds: int) -> dict[str, float]:
    """The root mean square error of all values by kind of noise, as a share of the range."""
    grids = tuple(OutputGrid.build(lower, upper) for lower, upper in case.bounds)
    low, high = np.array(case.bounds).T
    mechanisms = {kind: vector_mechanism(kind, grids, case) for kind in KINDS}
    rng, squares = np.random.default_rng(case.people), dict.fromkeys(KINDS, 0.0)
    for _ in range(rounds):
        table = case.draw(rng, case.people)
        truth = np.clip(table, low, high).mean(axis=0)
        units = _units(table, grids)
        for kind, mechanism in mechanisms.items():
            found = low + vector_released(mechanism, units) * float(grids[0].step)
            squares[kind] += float((((found - truth) / (high - low)) ** 2).mean())
    return {kind: (square / rounds) ** 0.5 for kind, square in squares.items()}


def vector_mechanism(kind: str, grids: tuple[OutputGrid, ...], case: Case) -> SampleAggregate:
    """Over blocks of one. Laplace noise of so many is that of one value's own release, at its share."""
    fixed: dict[str, Any] = {"blocks": case.people, "micro_epsilon": micro_epsilon(case.epsilon)}
    if kind == "laplace":
        share = {**fixed, "micro_epsilon": fixed["micro_epsilon"] // len(grids)}
        return SampleAggregate(grids[:1], noise="laplace", **share)
    if kind == "joint":
        return SampleAggregate(grids, noise="joint", **fixed)
    norm = CLIP_NORMS[len(grids)] if kind == "clipped" else None
    return SampleAggregate(grids, noise="gaussian", atto_delta=ATTO_DELTA, clip_norm=norm, **fixed)


def vector_released(mechanism: SampleAggregate, units: NDArray[np.int64]) -> Numbers:
    """The noised mean of each column, in steps above the lower bound: what `release` adds, drawn for all
    values at once, as their bounds are alike."""
    if mechanism.clip is not None:
        units = np.array([mechanism.clip.clip(row) for row in units.tolist()])
    if mechanism.joint is not None:
        noise = mechanism.joint.draw(1)[0]
    else:
        noise = mechanism.draw_noise(0, units.shape[1])
    means: Numbers = (units.sum(axis=0) + noise) / len(units)
    return means


def release_seconds(case: Case) -> dict[str, float]:
    """How long one release takes, with everything that it checks."""
    grids = tuple(OutputGrid.build(lower, upper) for lower, upper in case.bounds)
    outputs = [tuple(row) for row in _units(case.draw(np.random.default_rng(1), case.people), grids).tolist()]
    found = {}
    for kind in KINDS[1:]:
        mechanism, started = vector_mechanism(kind, grids, case), time.process_time()
        mechanism.release(outputs)
        found[kind] = time.process_time() - started
    return found


def _units(table: Numbers, grids: Sequence[OutputGrid]) -> NDArray[np.int64]:
    """As `OutputGrid.snap`, for all at once: these bounds and steps are floats."""
    lower, step = (np.array([float(getattr(grid, name)) for grid in grids]) for name in ("lower", "step"))
    most = np.array([grid.cells for grid in grids])
    return np.clip(np.floor((table - lower) / step), 0, most).astype(np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--people", type=int, help="only the cases of so many")
    parser.add_argument("--vectors", action="store_true", help="whole vectors instead")
    arguments = parser.parse_args()
    if arguments.vectors:
        _print_vectors(arguments.rounds)
        return
    rules = [*(Rule(hashed, size) for size in SIZES_BEFORE), Rule(dealt, 1)]
    if HAS_JOINT:
        rules.append(Rule(dealt, 1, "joint"))
    print(f"{arguments.rounds} rounds; root mean square error of the first output, at the same epsilon\n")
    print(f"| {' | '.join(HEADINGS)} |\n|{' --- |' * len(HEADINGS)}")
    for case in cases():
        if arguments.people in (None, case.people):
            _print_row(case, rules, arguments.rounds)


def _print_vectors(rounds: int) -> None:
    print(f"{rounds} rounds; root mean square error of all values, as a share of their range\n")
    heads = ("people", "values", *KINDS, "CPU seconds of a release: joint, gaussian, clipped")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for case in VECTORS:
        seconds = ", ".join(f"{each:.2f}" for each in release_seconds(case).values())
        found = vector_errors(case, rounds)
        told = " | ".join(f"{found[kind]:.3g}" for kind in KINDS)
        print(f"| {case.people:,} {case.name} | {len(case.bounds)} | {told} | {seconds} |", flush=True)


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
