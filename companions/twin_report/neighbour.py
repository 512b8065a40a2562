"""The laboratory's linkage attack, with the twin in the place of the table without names.

A neighbour knows up to three columns of somebody, looks for rows of the twin that fit, and takes what these
say about the secret column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.linkage import Known, choose_people, know, link, most_telling
from companions.lab.simulation import seeded
from companions.lab.subjects import Cells
from companions.twin_report.attack import Attack
from companions.twin_report.reading import TableSet
from twins.evaluation.proportions import Proportion
from twins.evaluation.sheet import Sheet

MOST_KNOWN = 3
MOST_COLUMNS = 40


def neighbour(tables: TableSet, secret: str, *, people: int, seed: int) -> list[Attack]:
    """One attack, or none where nothing is known of anybody, or nobody has a secret."""
    cells, twin = cells_of(tables.original), cells_of(tables.twin)
    target = know({secret: cells[secret]})[0]
    asked = choose_people(target, most=people, generator=seeded(seed, "neighbours"))
    usable = _usable(cells, secret)
    if not usable or not len(asked) or np.isnan(target.encode(twin[secret])).all():
        return []
    known = most_telling(usable, people=asked, table=cells, most=MOST_KNOWN)
    held_out = None
    if tables.holdout is not None:
        others = cells_of(tables.holdout)
        theirs = know({secret: others[secret]})[0]
        alike = know({one.name: others[one.name] for one in known})
        there = choose_people(theirs, most=people, generator=seeded(seed, "neighbours held out"))
        if not np.isnan(theirs.encode(twin[secret])).all():
            held_out = _named(theirs, alike, there, twin)
    return [
        Attack(
            "a neighbour's search",
            f"{secret} named by rows that fit what is known: {', '.join(one.name for one in known)}",
            _named(target, known, asked, twin),
            _named(target, [], asked, twin),
            None,
            held_out,
            is_about_rows=True,
        )
    ]


def cells_of(sheet: Sheet) -> Cells:
    """The sheet as the laboratory reads tables: missing cells are empty."""
    return {
        values.name: tuple(
            text if there else "" for text, there in zip(values.texts, values.present.tolist(), strict=True)
        )
        for values in sheet.columns
    }


def _usable(cells: Cells, secret: str) -> list[Known]:
    columns = know({name: column for name, column in cells.items() if name != secret})
    return [column for column in columns if not np.isnan(column.numbers).all()][:MOST_COLUMNS]


def _named(target: Known, known: list[Known], people: NDArray[np.intp], table: Cells) -> Proportion:
    share = link(target, known, people=people, table=table).named
    return Proportion(round(share * len(people)), len(people))
