"""The steps of all ladders that reach a goal and lose least: of all combinations if few, else greedily.

One step for a whole column (full-domain generalisation), so that equal values stay equal. The search is
deterministic: equal losses are settled by the order of the columns.

Loss: one minus Prec of L. Sweeney, "Achieving k-anonymity privacy protection using generalization and
suppression", IJUFKS 10(5), 2002, section 4: the mean over cells of step / height; a row left out counts 1.
Greedy: Datafly of the same paper: the column with most different values goes one step up, until it is enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from domain.errors import InvalidRequest
from twins.anonymity.ladders import climb, height
from twins.anonymity.plan import Plan
from twins.anonymity.release import Secret, Standing, rows_that_may_stand, secrets_of, standing
from twins.anonymity.table import Codes, TextTable, classes, codes_of

MOST_COMBINATIONS = 4096
"""Looked at by `best`: 4,096 combinations of a table of 30,000 rows are about a minute."""

Steps = tuple[int, ...]


@dataclass(frozen=True)
class Generalised:
    """A table that reaches its goal, and what that cost."""

    table: TextTable
    steps: tuple[tuple[str, int, int], ...]
    """Name, step and height of each quasi-identifier."""
    suppressed: int
    loss: float
    combinations: int
    is_best: bool
    before: Standing
    after: Standing
    discernibility: int
    """Squared class sizes, and for each row left out the table's size, summed (Bayardo, Agrawal 2005)."""


@dataclass(frozen=True)
class _Found:
    steps: Steps
    stays: NDArray[np.bool_]
    loss: float


class _Lattice:
    """All steps of all columns, coded once."""

    def __init__(self, table: TextTable, plan: Plan) -> None:
        self.plan, self.rows = plan, table.rows
        self.heights = tuple(height(one.ladder) for one in plan.quasi)
        self.texts = [
            [
                climb(one.ladder, table.column(one.name, field="quasi"), step, name=one.name)
                for step in range(top + 1)
            ]
            for one, top in zip(plan.quasi, self.heights, strict=True)
        ]
        self.codes: list[list[Codes]] = [[codes_of(cells) for cells in steps] for steps in self.texts]
        self.secrets: tuple[Secret, ...] = secrets_of(table, plan.sensitive)
        self.may_go = math.floor(plan.most_suppressed * table.rows)
        self.looked_at = 0

    @property
    def size(self) -> int:
        return math.prod(top + 1 for top in self.heights)

    def generalisation(self, steps: Steps) -> float:
        """The loss of the steps alone: no row left out can make it less."""
        return sum(step / top for step, top in zip(steps, self.heights, strict=True)) / len(steps)

    def chosen(self, steps: Steps) -> list[Codes]:
        return [column[step] for column, step in zip(self.codes, steps, strict=True)]

    def look(self, steps: Steps) -> _Found | None:
        self.looked_at += 1
        found = classes(self.chosen(steps), self.rows)
        stays = rows_that_may_stand(found, self.secrets, self.plan.goal, most_suppressed=self.may_go)
        if stays is None:
            return None
        gone = 1 - float(stays.mean())
        own = self.generalisation(steps)
        return _Found(steps, stays, own + (1 - own) * gone)


def generalise(table: TextTable, plan: Plan) -> Generalised:
    """The table with its ladders climbed and its rows sorted: in the old order they could be lined up again.

    Raises InvalidRequest for a plan that does not fit the table, a value that a ladder does not know, more
    combinations than `best` looks at, and a goal that cannot be reached.
    """
    plan.check(table)
    lattice = _Lattice(table, plan)
    if plan.search == "best" and lattice.size > MOST_COMBINATIONS:
        raise InvalidRequest(
            "search",
            f"best would look at {lattice.size:,} combinations, more than {MOST_COMBINATIONS:,}.",
            "Use greedy, or shorter ladders.",
        )
    is_best = plan.search != "greedy" and lattice.size <= MOST_COMBINATIONS
    found = _best(lattice) if is_best else _greedy(lattice)
    if found is None:
        raise InvalidRequest(
            "goal",
            "is not reached even where all quasi-identifiers say nothing: the table has too few rows, or too "
            "few sensitive values.",
            "Ask for less.",
        )
    return _result(table, lattice, found, is_best=is_best)


def _best(lattice: _Lattice) -> _Found | None:
    """By loss of the steps, least first: once that alone is a result's whole loss, nothing better follows."""
    combinations = product(*(range(top + 1) for top in lattice.heights))
    best: _Found | None = None
    for own, steps in sorted((lattice.generalisation(steps), steps) for steps in combinations):
        if best is not None and own >= best.loss:
            break
        found = lattice.look(steps)
        if found is not None and (best is None or found.loss < best.loss):
            best = found
    return best


def _greedy(lattice: _Lattice) -> _Found | None:
    steps = [0] * len(lattice.heights)
    while (found := lattice.look(tuple(steps))) is None:
        lower = [column for column, top in enumerate(lattice.heights) if steps[column] < top]
        if not lower:
            return None
        steps[max(lower, key=lambda column: (int(lattice.codes[column][steps[column]].max()), -column))] += 1
    return found


def _result(table: TextTable, lattice: _Lattice, found: _Found, *, is_best: bool) -> Generalised:
    plan, stays = lattice.plan, found.stays
    secrets = tuple(Secret(one.column, one.codes[stays]) for one in lattice.secrets)
    chosen = [column[stays] for column in lattice.chosen(found.steps)]
    sizes = np.bincount(classes(chosen, int(stays.sum())))
    suppressed = int((~stays).sum())
    names = [one.name for one in plan.quasi]
    return Generalised(
        _written(table, lattice, found),
        tuple(zip(names, found.steps, lattice.heights, strict=True)),
        suppressed,
        found.loss,
        lattice.looked_at,
        is_best,
        standing(lattice.chosen((0,) * len(names)), lattice.secrets, table.rows),
        standing(chosen, secrets, int(stays.sum())),
        int((sizes**2).sum()) + suppressed * table.rows,
    )


def _written(table: TextTable, lattice: _Lattice, found: _Found) -> TextTable:
    """Columns in their old order without the dropped ones; rows in the order of their cells."""
    places = {one.name: column for column, one in enumerate(lattice.plan.quasi)}
    names = tuple(name for name in table.names if name not in lattice.plan.drop)
    columns = [
        lattice.texts[places[name]][found.steps[places[name]]]
        if name in places
        else table.column(name, field="plan")
        for name in names
    ]
    kept = np.flatnonzero(found.stays).tolist()
    rows = sorted(tuple(column[row] for column in columns) for row in kept)
    return TextTable(names, tuple(zip(*rows, strict=True)), len(rows))
