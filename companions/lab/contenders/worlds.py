"""`pac`: one secret half of the people, with noise that hides which half it was."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.contenders import Contender
from companions.lab.contenders.blocks import Statistic
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.half_samples import WORLDS, mask
from privacy.loss import MICRO
from privacy.mechanism import RunOutput
from privacy.pac import SMALLEST_SPREAD, Pac
from privacy.pac_state import PacState

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Worlds:
    """Who is in which of the 64 worlds, under one key: (worlds, people)."""

    holds: NDArray[np.bool_]

    def outputs(self, values: Values, statistic: Statistic) -> Values:
        """What the pipeline says about each world."""
        return np.array([statistic(values[row]) for row in self.holds], np.float64)


def draw_worlds(names: tuple[str, ...], generator: Generator) -> Worlds:
    key = generator.bytes(32)
    masks = [mask(name, key=key) for name in names]
    return Worlds(np.array([[bits >> world & 1 for bits in masks] for world in range(WORLDS)], np.bool_))


def snapped(outputs: Values, grid: OutputGrid) -> list[RunOutput]:
    return [(grid.snap(float(value)),) for value in outputs]


def released(mechanism: Pac, outputs: list[RunOutput], trials: int) -> tuple[Values, NDArray[np.intp]]:
    """The first release of that many cohorts, each with its own secret world, and which that was."""
    values, secrets = [], []
    for _ in range(trials):
        state = PacState.draw()
        released, _ = mechanism.release(outputs, state=state)
        values.append(float(released[0].value))
        secrets.append(state.secret)
    return np.array(values), np.array(secrets)


def log_densities(releases: Values, outputs: Values, *, nats: float, width: float) -> Values:
    """ln P(release | world) up to a constant for each release: (releases, ..., worlds).

    `outputs` has the worlds last; every leading index is another data set, with a noise variance of its own.
    """
    centre = outputs.mean(axis=-1, keepdims=True)
    spread = np.sqrt(((outputs - centre) ** 2).mean(axis=-1, keepdims=True))
    variance = np.maximum(spread, float(SMALLEST_SPREAD) * width) ** 2 / (2 * nats)
    shape = (len(releases),) + (1,) * outputs.ndim
    distance = releases.reshape(shape) - outputs[np.newaxis]
    return np.asarray(-(distance**2) / (2 * variance) - np.log(variance) / 2)


def pac(subjects: Subjects, micro_nats: int, generator: Generator) -> Contender:
    """The mean of the secret half. The attacker knows who is in which world, not which is the secret."""
    worlds = draw_worlds(subjects.names, generator)
    grid = OutputGrid.build(subjects.lower, subjects.upper)
    mechanism = Pac((grid,), micro_nats=micro_nats)
    outputs = worlds.outputs(subjects.values, lambda part: float(part.mean()))
    sizes = worlds.holds.sum(axis=1)

    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        change = (candidates[:, np.newaxis] - subjects.values[person]) / sizes * worlds.holds[:, person]
        with_candidate = np.clip(outputs + change, subjects.lower, subjects.upper)
        densities = log_densities(
            releases, with_candidate, nats=micro_nats / MICRO, width=subjects.upper - subjects.lower
        )
        return np.logaddexp.reduce(densities, axis=-1)

    return Contender(
        "pac",
        f"pac, {micro_nats / MICRO:g} nats",
        lambda trials: released(mechanism, snapped(outputs, grid), trials)[0],
        log_likelihood,
    )


def guess_membership(
    releases: Values, secrets: NDArray[np.intp], *, worlds: Worlds, outputs: Values, person: int,
    nats: float, width: float,
) -> NDArray[np.bool_]:  # fmt: skip
    """Was the best guess right whether this person was in the secret half? One answer for each release."""
    weights = log_densities(releases, outputs, nats=nats, width=width)
    inside = worlds.holds[:, person]
    says_inside = np.logaddexp.reduce(weights[:, inside], axis=1) > np.logaddexp.reduce(
        weights[:, ~inside], axis=1
    )
    return np.asarray(says_inside == inside[secrets])


def same_epsilon(bound: float) -> float:
    """The pure epsilon with the same bound on a guess, to place `pac` beside the others."""
    return math.log(bound / (1 - bound))
