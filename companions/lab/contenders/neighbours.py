"""Releases of two neighbouring data sets, with one person and without: what membership inference works on.

Two pipelines: the mean, and one written to give the person away, which answers the upper bound where the
person is and the lower bound elsewhere. Differential privacy holds for both alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.contenders import blocks, whole
from companions.lab.flawed import leave_one_out_means, mean_with_local_noise, mean_without_small_noise
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import RunOutput
from privacy.sample_aggregate import SampleAggregate
from privacy.stability import StabilityCalibrated
from privacy.trusted import Mean

Values = NDArray[np.float64]
Worlds = tuple[Values, Values]
"""Releases with the person, and as many without."""


@dataclass(frozen=True)
class Neighbours:
    """The people, and the one whose membership is the secret."""

    subjects: Subjects
    person: int
    grid: OutputGrid

    @classmethod
    def of(cls, subjects: Subjects) -> Neighbours:
        """The most exposed person is the one farthest from the mean."""
        person = int(np.abs(subjects.values - subjects.values.mean()).argmax())
        return cls(subjects, person, OutputGrid.build(subjects.lower, subjects.upper))

    @property
    def without(self) -> Values:
        return np.delete(self.subjects.values, self.person)


Mechanism = Callable[[Neighbours, float, int, Generator], Worlds]


def sample_aggregate_of_mean(both: Neighbours, epsilon: float, trials: int, generator: Generator) -> Worlds:
    """Coupled as in the proof: without the person their slot is free, and all others sit where they sat. The
    attacker knows every place."""
    size = blocks.block_size_for(both.subjects.count)
    partition = blocks.draw_partition(both.subjects.names, block_size=size, generator=generator)
    mechanism = SampleAggregate((both.grid,), partition.blocks, micro_epsilon(epsilon))
    rest = blocks.Partition(partition.blocks, np.delete(partition.block_of, both.person))
    runs = (
        partition.outputs(both.subjects.values, blocks.mean, both.grid),
        rest.outputs(both.without, blocks.mean, both.grid),
    )
    return blocks.released(mechanism, runs[0], trials), blocks.released(mechanism, runs[1], trials)


def sample_aggregate_of_traitor(
    both: Neighbours, epsilon: float, trials: int, _generator: Generator
) -> Worlds:
    """The worst that a pipeline can do: its one block with the person jumps over the whole range."""
    number = both.subjects.count // blocks.block_size_for(both.subjects.count)
    mechanism = SampleAggregate((both.grid,), number, micro_epsilon(epsilon))
    bottom: list[RunOutput] = [(0,)] * number
    found: list[RunOutput] = [(both.grid.cells,), *bottom[1:]]
    return blocks.released(mechanism, found, trials), blocks.released(mechanism, bottom, trials)


def trusted_mean(both: Neighbours, epsilon: float, trials: int, _generator: Generator) -> Worlds:
    mechanism = Mean(both.grid, micro_epsilon(epsilon))

    def released(values: Values) -> Values:
        totals = whole.trusted_totals(mechanism, values)
        return np.array([float(mechanism.release(totals)[0].value) for _ in range(trials)])

    return released(both.subjects.values), released(both.without)


def stability_of_mean(both: Neighbours, dial: float, trials: int, _generator: Generator) -> Worlds:
    mechanism = _stability(both, dial)

    def released(values: Values) -> Values:
        left_out = list(leave_one_out_means(values))
        # with fewer people than the nominal number, the last run sees everybody
        left_out += [float(values.mean())] * (both.subjects.count - len(left_out))
        return _stable(
            mechanism, whole.leave_one_out_runs(float(values.mean()), np.array(left_out), both.grid), trials
        )

    return released(both.subjects.values), released(both.without)


def stability_of_traitor(both: Neighbours, dial: float, trials: int, _generator: Generator) -> Worlds:
    """The noise itself gives the person away: only with the person does anybody move the answer."""
    mechanism = _stability(both, dial)
    top, bottom = both.subjects.upper, both.subjects.lower
    with_person = np.full(both.subjects.count, top)
    with_person[both.person] = bottom
    runs = (
        whole.leave_one_out_runs(top, with_person, both.grid),
        whole.leave_one_out_runs(bottom, np.full(both.subjects.count, bottom), both.grid),
    )
    return _stable(mechanism, runs[0], trials), _stable(mechanism, runs[1], trials)


def rejecting(both: Neighbours, _epsilon: float, trials: int, generator: Generator) -> Worlds:
    """No parameter: its scale is read off the data, and the number is only where it is drawn."""
    return (
        mean_without_small_noise(both.subjects.values, trials, generator),
        mean_without_small_noise(both.without, trials, generator),
    )


def local_noise(both: Neighbours, epsilon: float, trials: int, generator: Generator) -> Worlds:
    return (
        mean_with_local_noise(both.subjects.values, epsilon, trials, generator),
        mean_with_local_noise(both.without, epsilon, trials, generator),
    )


def _stability(both: Neighbours, dial: float) -> StabilityCalibrated:
    return StabilityCalibrated((both.grid,), both.subjects.count, micro_epsilon(dial))


def _stable(mechanism: StabilityCalibrated, runs: list[RunOutput], trials: int) -> Values:
    return np.array([float(mechanism.release(runs)[0].value) for _ in range(trials)])
