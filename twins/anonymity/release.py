"""Which rows of a generalised table may stand: the classes that reach the goal, measured on what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twins.anonymity.measures import closeness, distinct, entropy, in_order
from twins.anonymity.plan import Goal, Sensitive
from twins.anonymity.table import Codes, TextTable, classes, codes_of, counts_in_classes

ROUNDING = 1e-9
"""Entropies and distances are floats: who reaches the goal exactly must not fail in the last digit."""


@dataclass(frozen=True)
class Secret:
    """A sensitive column as numbers, in order where its distance needs it."""

    column: Sensitive
    codes: Codes


@dataclass(frozen=True)
class Diversity:
    """What one sensitive column has in the worst class."""

    name: str
    distinct: int
    entropy: float
    closeness: float
    distance: str


@dataclass(frozen=True)
class Standing:
    """What a table has. `unique` rows are alone with their quasi-identifiers; 0 for a table without rows."""

    rows: int
    classes: int
    k: int
    unique: int
    diversities: tuple[Diversity, ...]

    def reaches(self, goal: Goal) -> bool:
        """A table without rows reaches nothing."""
        if not self.rows or self.k < goal.k:
            return False
        for one in self.diversities:
            diversity = one.distinct if goal.diversity == "distinct" else one.entropy
            if goal.l is not None and diversity < goal.l - ROUNDING:
                return False
            if goal.t is not None and one.closeness > goal.t + ROUNDING:
                return False
        return True


def secrets_of(table: TextTable, sensitive: Sequence[Sensitive]) -> tuple[Secret, ...]:
    """Raises InvalidRequest for a column that is not there, or has no order and needs one."""
    found = []
    for one in sensitive:
        cells = table.column(one.name, field="sensitive")
        codes = in_order(cells, one.name) if one.distance == "ordered" else codes_of(cells)
        found.append(Secret(one, codes))
    return tuple(found)


def standing(quasi: Sequence[Codes], secrets: Sequence[Secret], rows: int) -> Standing:
    """Measure a table as it is: one array of codes for each quasi-identifier."""
    found = classes(quasi, rows)
    sizes = np.bincount(found)
    if not rows:
        return Standing(0, 0, 0, 0, tuple(_diversity(found, secret) for secret in secrets))
    worst = tuple(_diversity(found, secret) for secret in secrets)
    return Standing(rows, len(sizes), int(sizes.min()), int((sizes == 1).sum()), worst)


def rows_that_may_stand(
    found: Codes, secrets: Sequence[Secret], goal: Goal, *, most_suppressed: int
) -> NDArray[np.bool_] | None:
    """(rows,): which rows stay, or None where more than `most_suppressed` of them would have to go.

    Distances are to the table that is released, which changes as classes go: repeated until nothing fails.
    """
    stays = np.ones(len(found), np.bool_)
    while stays.any():
        kept = np.unique(found[stays], return_inverse=True)[1].reshape(-1).astype(np.int64)
        failing = _failing(kept, [(one, one.codes[stays]) for one in secrets], goal)
        if not failing.any():
            return stays
        places = np.flatnonzero(stays)
        stays[places[failing[kept]]] = False
        if len(found) - int(stays.sum()) > most_suppressed:
            return None
    return None


def _failing(kept: Codes, secrets: Sequence[tuple[Secret, Codes]], goal: Goal) -> NDArray[np.bool_]:
    """(classes,): those that miss the goal."""
    failing = np.bincount(kept) < goal.k
    for secret, codes in secrets:
        counts = _counts(kept, codes)
        if goal.l is not None:
            measure = distinct if goal.diversity == "distinct" else entropy
            failing |= measure(counts) < goal.l - ROUNDING
        if goal.t is not None:
            failing |= closeness(counts, secret.column.distance) > goal.t + ROUNDING
    return failing


def _diversity(found: Codes, secret: Secret) -> Diversity:
    counts = _counts(found, secret.codes)
    few, even = distinct(counts).min(initial=np.inf), entropy(counts).min(initial=np.inf)
    far = closeness(counts, secret.column.distance).max(initial=0.0)
    if not len(found):
        few = even = 0.0
    return Diversity(secret.column.name, int(few), float(even), float(far), secret.column.distance)


def _counts(found: Codes, codes: Codes) -> NDArray[np.int64]:
    """Without values that no row has (any more): the ground distance is over those that are there."""
    there = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return counts_in_classes(found, there)
