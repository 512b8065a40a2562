"""Twins under attack: a table without names, the same with its columns permuted, twins of levels 0 to 2.

Every attack is also run on people who are not in the table. What it finds of them, chance and patterns find;
what it finds beyond that, it took from the rows of those who are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.linkage import Known, know, link
from companions.lab.attacks.membership import SIGMAS
from companions.lab.chapter import Chapter, Conditions, NumberTable, Standing, Text, Verdict, clock
from companions.lab.chapter import Drawing as Figure
from companions.lab.demo_data import clinic
from companions.lab.drawing import FLAWED, LIGHT, OURS, Axes, draw
from companions.lab.subjects import MISSING, Cells, Subjects
from companions.lab.twins import counted_twin, permuted, twin_of
from twins.evaluation.proportions import Proportion, difference

PEOPLE = 400
EPSILON = 1
KNOWN, SECRET, AMOUNT = ("salary", "age", "zip code"), "diagnosis", "salary"
LINKAGE, NEIGHBOUR = "linkage", "neighbour"
MEANT = {
    LINKAGE: f"{SECRET} named by rows that fit {', '.join(KNOWN)}",
    NEIGHBOUR: f"a person's exact {AMOUNT} looked for",
}


@dataclass(frozen=True)
class Aimed:
    """One attack on one table: on people who are in the original, and on as many who are not."""

    attack: str
    table: str
    promised: str | None
    inside: Proportion
    outside: Proportion

    @property
    def succeeds(self) -> bool:
        """Beyond what chance explains but for once in a million."""
        return difference(self.inside, self.outside, SIGMAS)[0] > 0


def explore(_subjects: Subjects, conditions: Conditions) -> Chapter:
    """On the invented clinic: half of its people are the table, the others the control."""
    since = clock()
    found = aim(clinic(conditions.generator("clinic of twins"), people=2 * PEOPLE), conditions)
    ran = conditions.ran(since, people_in_the_table=PEOPLE, people_outside=PEOPLE, epsilon=EPSILON)
    words = (
        f"A clinic of {PEOPLE} people. The linkage attack looks for rows that fit what is known of somebody, "
        "and names their diagnosis. The neighbour looks for one exact salary, to learn whether somebody was "
        "treated here. Both are also aimed at people who were not: what is found of them is the baseline. "
        "Permuting columns breaks up rows, but every value stays, so the neighbour is answered. Twins of "
        "levels 1 and 2 are pure_dp; a twin of level 0 is drawn from the declaration alone. "
        "The laboratory makes the declaration up around the table; a rights holder states it without looking."
    )
    figure = Figure(
        "People found, in the table and outside",
        draw(lambda axes: _plot(axes, found), name="twins", shown="Figures in the table below.", height=4.6),
        ran,
    )
    rows = tuple(
        (one.attack, one.table, one.promised or "nothing", _shown(one.inside), _shown(one.outside))
        for one in found
    )
    heads = ("attack", "table", "promised", "found, in the table", "found, outside")
    numbers = NumberTable("What the attacks find", heads, rows, ran)
    question = "Does the table that stands for another one tell about those who are in it?"
    verdicts = tuple(map(_verdict, found))
    return Chapter("twins", "Twins under attack", question, (Text(words), figure, numbers), verdicts)


def aim(everybody: Cells, conditions: Conditions) -> list[Aimed]:
    """Both attacks on each table. The first half of the people are in it."""
    known = know(everybody)
    by_name = {column.name: column for column in known}
    half = len(everybody[SECRET]) // 2
    inside, outside = np.arange(half), np.arange(half, 2 * half)
    cells = {name: tuple(column[:half]) for name, column in everybody.items()}
    found = []
    for table, promised, make in _tables(cells, conditions):
        made = make()
        linked = [_linked(by_name, people, made) for people in (inside, outside)]
        there = [found_again(everybody[AMOUNT], people, made[AMOUNT]) for people in (inside, outside)]
        found.append(Aimed(LINKAGE, table, promised, linked[0], linked[1]))
        found.append(Aimed(NEIGHBOUR, table, promised, there[0], there[1]))
    return sorted(found, key=lambda one: one.attack)


def _tables(cells: Cells, conditions: Conditions) -> list[tuple[str, str | None, Callable[[], Cells]]]:
    """Name, promise, and how it is made. What twins are declared with is read off the table alone."""
    known, seed = know(cells), conditions.seed
    pure = f"pure_dp, epsilon {EPSILON}"
    return [
        ("names taken out", None, lambda: cells),
        ("columns permuted", None, lambda: permuted(cells, conditions.generator("permuted"))),
        ("level 0", "the declaration alone", lambda: twin_of(cells, known, seed=seed)),
        ("level 1", pure, lambda: counted_twin(cells, known, level=1, epsilon=EPSILON, seed=seed)),
        ("level 2", pure, lambda: counted_twin(cells, known, level=2, epsilon=EPSILON, seed=seed)),
    ]


def _linked(columns: dict[str, Known], people: NDArray[np.intp], table: Cells) -> Proportion:
    share = link(columns[SECRET], [columns[name] for name in KNOWN], people=people, table=table).named
    return Proportion(round(share * len(people)), len(people))


def _verdict(one: Aimed) -> Verdict:
    standing = Standing.NO_PROMISE if one.promised is None else Standing.HOLDS
    return Verdict(
        f"{one.attack}: {MEANT[one.attack]}",
        f"{one.table} ({one.promised or 'no promise'})",
        f"{_shown(one.inside)} of those in the table, {_shown(one.outside)} of others",
        Standing.BROKEN if one.succeeds else standing,
    )


def _shown(found: Proportion) -> str:
    low, high = found.interval()
    return f"{found.share:.3f} ({low:.3f} to {high:.3f})"


def _plot(axes: Axes, found: list[Aimed]) -> None:
    places = np.arange(len(found))[::-1]
    colours = [FLAWED if one.succeeds else OURS for one in found]
    axes.barh(places + 0.2, [one.inside.share for one in found], 0.38, color=colours)
    axes.barh(places - 0.2, [one.outside.share for one in found], 0.38, color=LIGHT, label="outside")
    axes.set_yticks(places, [f"{one.attack}, {one.table}" for one in found])
    axes.set(xlabel="share of people found", xlim=(0, 1.02))
    axes.figure.legend(loc="outside lower left")


# Presence: somebody's exact amount is known; does it stand in the table? A neighbour knows what somebody
# earns, to the unit, and wants to know whether they are in this table of patients. They look for the
# number. Where it stands, and few people have it, the answer is yes. The order of rows does not matter, so
# dealing the columns out anew does not help.


def found_again(amounts: Sequence[str], people: NDArray[np.intp], column: Sequence[str]) -> Proportion:
    """How many of these people have an amount that stands in the column. Missing amounts are nobody's."""
    there = {_amount(cell) for cell in column} - {None}
    known = [amount for person in people.tolist() if (amount := _amount(amounts[person])) is not None]
    return Proportion(sum(amount in there for amount in known), len(known))


def _amount(cell: str) -> float | None:
    """25 and 25.0 are one amount."""
    text = cell.strip().lower()
    if text in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        return None
