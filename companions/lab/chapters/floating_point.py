"""Floating point: do the low bits of one release tell which value it came from?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.floating_point import has_fine_bits, lowest_bits, reachable_share
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
from companions.lab.drawing import FLAWED, LIMIT, OURS, PLAIN, Axes, draw_grid
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.sample_aggregate import SampleAggregate

Values = NDArray[np.float64]
Pair = tuple[Values, Values]
"""Releases of the value 0, and of the value 1."""

EPSILONS = (1.0, 0.3, 0.1)
BLOCKS = 3


@dataclass(frozen=True)
class Hits:
    """Share of releases that one look tells apart for certain, of each of the two values."""

    of_zero: float
    of_one: float

    @property
    def worst(self) -> float:
        return max(self.of_zero, self.of_one)


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    """The same for all data: the two values are 0 and 1."""
    del subjects
    since = clock()
    generator, size = conditions.generator("floating point"), conditions.trials(20_000, 4_000)
    mironov = {epsilon: mironov_on_numpy(epsilon, size // 10, generator) for epsilon in EPSILONS}
    pairs = {
        "numpy laplace": {epsilon: numpy_pair(epsilon, size, generator) for epsilon in EPSILONS},
        "diffprivlib 0.6.6 Laplace": {epsilon: diffprivlib_pair(epsilon, size) for epsilon in EPSILONS},
        "sample_aggregate": {epsilon: our_pair(epsilon, size // 4) for epsilon in EPSILONS},
    }
    fine = {name: {e: fine_bits(pair) for e, pair in found.items()} for name, found in pairs.items()}
    ran = conditions.ran(
        since,
        releases_of_each=size,
        of_ours=size // 4,
        for_unreachable=size // 10,
        values="0 and 1",
        epsilon=EPSILONS,
    )
    return Chapter(
        "floating-point",
        "Floating point",
        "The value was 0 or 1 and proper Laplace noise was added. Does one release tell which, by its low "
        "bits?",
        (*_text(), _table(mironov, fine, ran), _figure(pairs, ran)),
        (*_mironov_verdicts(mironov), *_fine_verdicts(fine)),
    )


def numpy_pair(epsilon: float, size: int, generator: Generator) -> Pair:
    return generator.laplace(0.0, 1 / epsilon, size), generator.laplace(1.0, 1 / epsilon, size)


def diffprivlib_pair(epsilon: float, size: int) -> Pair:
    """Its noise is made from four uniforms, which stops Mironov's attack, and is added in floats."""
    # the import takes more than a second
    from privacy.reference import laplace_unsafe

    zero, one = (laplace_unsafe(size, epsilon=epsilon, sensitivity=1.0) for _ in range(2))
    return 0.0 + zero, 1.0 + one


def our_pair(epsilon: float, size: int) -> Pair:
    """Three blocks that all say 0, or all 1, inside bounds of -1 to 2: noise of scale 1/epsilon too."""
    grid = OutputGrid.build(-1, 2)
    mechanism = SampleAggregate((grid,), BLOCKS, micro_epsilon(epsilon))
    said = [[(grid.snap(value),)] * BLOCKS for value in (0.0, 1.0)]
    zero, one = ([float(mechanism.release(outputs)[0].value) for _ in range(size)] for outputs in said)
    return np.array(zero), np.array(one)


def mironov_on_numpy(epsilon: float, size: int, generator: Generator) -> Hits:
    """Share of releases of each value that the generator could not have given around the other one."""
    zero, one = numpy_pair(epsilon, size, generator)
    return Hits(
        of_zero=1 - reachable_share(zero, location=1.0, scale=1 / epsilon),
        of_one=1 - reachable_share(one, location=0.0, scale=1 / epsilon),
    )


def fine_bits(pair: Pair) -> Hits:
    """Share of releases of 0 that no release of 1 can be. Those of 1 are never told apart by this."""
    if has_fine_bits(pair[1]).any():
        # then fine bits tell nothing: both values have them
        return Hits(0.0, 0.0)
    return Hits(float(has_fine_bits(pair[0]).mean()), 0.0)


def _text() -> tuple[Part, ...]:
    return (
        Text(
            "numpy's Laplace noise takes 2^53 different values, so that most floats are never reached from "
            "a given value: whoever finds that a release cannot come from 1 knows that it came from 0 "
            "(Mironov 2012)."
        ),
        Text(
            "Adding noise to 1 rounds the sum to a multiple of 2^-53, adding it to 0 does not. So a "
            "release with finer bits came from 0, however the noise was drawn (Haney et al. 2022). "
            "Releases of dpgate are whole multiples of a step that the declared bounds fix, for every data "
            "set, and the noise is an integer."
        ),
    )


def _table(mironov: dict[float, Hits], fine: dict[str, dict[float, Hits]], ran: str) -> NumberTable:
    rows = [("unreachable outputs", "numpy laplace", *(percent(hits.worst) for hits in mironov.values()))]
    rows += [
        ("fine bits", name, *(percent(hits.worst) for hits in found.values())) for name, found in fine.items()
    ]
    columns = ("attack", "noise", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS))
    return NumberTable("Releases that give the value away for certain", columns, tuple(rows), ran)


def _mironov_verdicts(mironov: dict[float, Hits]) -> list[Verdict]:
    outcome = ", ".join(f"{percent(hits.worst)} at epsilon {epsilon:g}" for epsilon, hits in mironov.items())
    return [
        Verdict(
            "unreachable outputs",
            "numpy laplace",
            f"{outcome} of releases identified for certain",
            Standing.BROKEN,
        )
    ]


def _fine_verdicts(fine: dict[str, dict[float, Hits]]) -> list[Verdict]:
    return [
        Verdict(
            "fine bits",
            name,
            ", ".join(f"{percent(hits.worst)} at epsilon {epsilon:g}" for epsilon, hits in found.items())
            + " of releases identified for certain",
            Standing.BROKEN if any(hits.worst for hits in found.values()) else Standing.HOLDS,
        )
        for name, found in fine.items()
    ]


def _figure(pairs: dict[str, dict[float, Pair]], ran: str) -> Figure:
    epsilon = EPSILONS[0]
    plots = [partial(_plot_lowest, name=name, pair=found[epsilon]) for name, found in pairs.items()]
    return Figure(
        f"The lowest set bit of each release at epsilon {epsilon:g}: where the two values differ, it tells "
        "them apart",
        draw_grid(plots, name="bits", shown="Histograms of the lowest set bit.", height=1.7, columns=1),
        ran,
    )


def _plot_lowest(axes: Axes, name: str, pair: Pair) -> None:
    for values, label, colour in zip(pair, ("value 0", "value 1"), (FLAWED, PLAIN), strict=True):
        bits = lowest_bits(values[values != 0])
        places, counts = np.unique(bits, return_counts=True)
        axes.bar(places, counts / len(bits), width=0.9, alpha=0.5, color=colour, label=label)
    axes.axvline(-53.5, color=LIMIT, linewidth=1)
    axes.set_title(name, color=OURS if name == "sample_aggregate" else FLAWED)
    axes.set(xlim=(-66, -10), ylabel="share", xlabel="lowest set bit, as a power of 2")
    axes.legend(loc="upper right")
