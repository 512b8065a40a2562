"""Two attacks with rows of the twin that are nearest to a person of whom something is known.

After M. Giomi et al., "A Unified Framework for Quantifying Privacy Risk in Synthetic Data", PoPETs 2023,
sections 5.2 and 5.3, written anew.

Linkability: two sources know different columns of a person. The attack succeeds where both point to one and
the same row of the twin, and to no other. Inference: all columns of a person but one are known, and the
nearest rows of the twin name the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twins.evaluation.nearest import Points, distances
from twins.evaluation.proportions import Proportion
from twins.evaluation.sheet import Floats, Sheet

CLOSE = 0.05
"""How near a guessed number counts as named: a share of the range of the column."""
_EQUAL = np.float32(1e-6)


def linkability(targets: Points, twin: Points, halves: tuple[Sequence[int], Sequence[int]]) -> Proportion:
    """Targets whose two halves single out the same row of the twin."""
    hits = 0
    if not twin.rows:
        return Proportion(0, targets.rows)
    both = (distances(targets, twin, half) for half in halves)
    for (_, first), (_, second) in zip(*both, strict=True):
        together = _nearest_of(first) & _nearest_of(second)
        hits += int((together.sum(axis=1) == 1).sum())
    return Proportion(hits, targets.rows)


@dataclass(frozen=True, eq=False)
class Secret:
    """One column to guess, of the targets and of the twin in the same terms: numbers, or codes of words."""

    column: int
    targets: Floats
    twin: Floats
    reach: float
    """How far from the truth still counts; 0 for words."""


def secret_of(targets: Sheet, twin: Sheet, column: int) -> Secret:
    """What there is to guess. NaN stands for what is missing, and is nobody's secret."""
    one, other = targets.columns[column], twin.columns[column]
    if one.is_ordered:
        present = one.numbers[one.present]
        reach = CLOSE * float(np.ptp(present)) if len(present) else 0.0
        return Secret(column, one.numbers, other.numbers, reach)
    codes = np.unique(np.concatenate([one.words, other.words]), return_inverse=True)[1].astype(np.float64)
    first, second = codes[: len(one.texts)], codes[len(one.texts) :]
    first[~one.present], second[~other.present] = np.nan, np.nan
    return Secret(column, first, second, 0.0)


def inference(targets: Points, twin: Points, secret: Secret) -> Proportion:
    """Targets whose secret the nearest rows of the twin name: the commonest word, or the median number.

    People whose secret is missing are not searched for; a twin that names nothing is wrong.
    """
    known = [column for column in range(len(twin.columns)) if column != secret.column]
    asked = ~np.isnan(secret.targets)
    if not twin.rows:
        return Proportion(0, int(asked.sum()))
    guesses = np.full(targets.rows, np.nan)
    for block, apart in distances(targets, twin, known):
        for place, near in enumerate(_nearest_of(apart), start=block.start):
            guesses[place] = _named(secret.twin[near], is_word=secret.reach == 0.0)
    right = np.abs(guesses - secret.targets) <= secret.reach  # NaN is never right
    return Proportion(int(right.sum()), int(asked.sum()))


def _nearest_of(apart: NDArray[np.float32]) -> NDArray[np.bool_]:
    """(targets, rows): the nearest rows, ties included."""
    found: NDArray[np.bool_] = apart <= apart.min(axis=1, keepdims=True) + _EQUAL
    return found


def _named(found: Floats, *, is_word: bool) -> float:
    present = found[~np.isnan(found)]
    if not len(present):
        return float("nan")
    if not is_word:
        return float(np.median(present))
    values, counts = np.unique(present, return_counts=True)
    return float(values[counts.argmax()])
