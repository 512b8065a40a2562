"""Reconstruction: which values did people have, given what was released?

Two attacks. `differences` needs nothing but a leave-one-out vector with one draw of noise, and is exact.
`name_values` is the strongest guess that anybody can make from one released number: the attacker knows every
other person's value, the mechanism and its parameters, and names the most likely value of the one who is
left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

LARGEST_DIVISOR = 1_000
LARGEST_MISFIT = 1e-6
SHORTEST_M = 1.3
"""A grown person's height in metres lies from here to one metre above."""


def find_divisor(vector: Values, *, grid: float) -> int:
    """n - 1, from the vector alone: the smallest whole number that puts all differences on the values' grid.

    rel_i - rel_0 = (x_0 - x_i)/(n - 1), since the noise cancels, and x is known to be typed on a grid (0.01,
    say). Raises ValueError when no number up to 1000 fits: then the noise was not shared.
    """
    steps = (vector - vector[0]) / grid
    for divisor in range(1, LARGEST_DIVISOR + 1):
        scaled = steps * divisor
        if np.abs(scaled - np.round(scaled)).max() < LARGEST_MISFIT and np.abs(scaled).max() >= 1:
            return divisor
    raise ValueError("no divisor puts the differences of this vector on the grid: its noise is not shared.")


def differences(vector: Values, *, divisor: int) -> Values:
    """x_i - x_0 = -(n - 1)(rel_i - rel_0) for every person, whatever the noise was. (..., people)"""
    return -divisor * (vector - vector[..., :1])


def level_from_one_person(found: Values, *, person: int, value: float) -> Values:
    """Everybody's value for an attacker who knows one: a participant knows their own. (..., people)"""
    return found - found[..., person : person + 1] + value


def level_from_metres(found: Values) -> Values:
    """Everybody's value when all are whole centimetres but one, which somebody typed in metres. (people,)

    The odd one has a fraction and lies from 1.3 to 2.3, and only one shift by whole centimetres puts it
    there. Raises ValueError when there is not exactly one such person.
    """
    # x_0 may be the odd one: then it is the others whose differences have a fraction
    fractions = np.round(found - np.floor(found), 6) % 1
    usual, counts = np.unique(fractions, return_counts=True)
    odd = np.flatnonzero(fractions != usual[counts.argmax()])
    if len(odd) != 1:
        raise ValueError("there is not exactly one value with a fraction.")
    whole = found - usual[counts.argmax()]
    return whole - whole[odd[0]] + SHORTEST_M + (whole[odd[0]] - SHORTEST_M) % 1


LogLikelihood = Callable[[Values, int, Values], Values]
"""(releases, person, candidates) -> log likelihood of each release under each candidate value of that person,
up to a constant for each release; shape (releases, candidates)."""


@dataclass(frozen=True)
class Named:
    """What the attacker said, for the people and trials of one simulation: arrays (people, trials)."""

    guesses: Values
    hits: NDArray[np.bool_]

    @property
    def hit_rate(self) -> float:
        return float(self.hits.mean())


def candidates_of(values: Values, *, most: int = 100) -> tuple[Values, NDArray[np.intp]]:
    """The values that the attacker thinks possible, and each person's own among them.

    All values that occur when there are at most `most`; otherwise that many quantiles, and naming somebody
    means naming their nearest quantile.
    """
    unique = np.unique(values)
    if len(unique) > most:
        unique = np.unique(np.quantile(values, (np.arange(most) + 0.5) / most))
    middles = (unique[1:] + unique[:-1]) / 2
    return unique, np.searchsorted(middles, values)


def prior_without(own: NDArray[np.intp], person: int, candidates: int) -> Values:
    """What everybody else's values say about this person's: their shares, none of them zero."""
    counts = np.bincount(np.delete(own, person), minlength=candidates) + 1.0
    return counts / counts.sum()


def name_values(
    releases: Values, log_likelihood: LogLikelihood, values: Values, people: NDArray[np.intp]
) -> Named:
    """The likeliest value of each of `people`, from each release alone, by one who knows all others."""
    common, own = candidates_of(values)
    guesses, hits = [], []
    for person in people:
        candidates = common.copy()
        # the truth is among the candidates: where values are many, that favours the attacker
        candidates[own[person]] = values[person]
        prior = np.log(prior_without(own, person, len(candidates)))
        named = (log_likelihood(releases, int(person), candidates) + prior).argmax(axis=1)
        guesses.append(candidates[named])
        hits.append(named == own[person])
    return Named(np.array(guesses), np.array(hits))


def name_values_without_release(values: Values, people: NDArray[np.intp]) -> Named:
    """The same attacker before anything was released: the commonest value among the others."""
    candidates, own = candidates_of(values)
    named = np.array([[prior_without(own, person, len(candidates)).argmax()] for person in people])
    return Named(guesses=candidates[named], hits=named == own[people][:, np.newaxis])
