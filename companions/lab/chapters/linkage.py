"""Linkage: a table without names, searched with what a neighbour knows; then the platform's twin of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from companions.lab.attacks.linkage import CLOSE, Known, Linked, choose_people, know, link, most_telling
from companions.lab.attacks.membership import SIGMAS
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
from companions.lab.demo_data import clinic
from companions.lab.drawing import FLAWED, LIGHT, OURS, PLAIN, Axes, draw
from companions.lab.subjects import Cells, Subjects
from companions.lab.twins import twin_of

MOST_KNOWN = 3
MOST_PEOPLE = 500
MOST_COLUMNS = 40
TELLING = 0.05
"""From this share of people singled out, or named beyond guessing, a table does not count as anonymous."""


@dataclass(frozen=True)
class Search:
    """One table searched with one, two, ... known columns: the table itself, and its twin."""

    slug: str
    title: str
    secret: str
    table: tuple[Linked, ...]
    twin: tuple[Linked, ...]
    guessing: float
    people: int
    ran: str


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    parts: list[Part] = [
        Text(
            "Names were taken out and the table was called anonymous. The attacker knows a few columns of "
            f"a person: words and small numbers exactly, amounts within {percent(CLOSE)} of their range. "
            "They look for rows that fit, and take what these say about the secret column. The same attack "
            "is run on the platform's twin, whose columns are drawn at random inside declared bounds, and "
            "on nothing: naming the commonest value."
        )
    ]
    verdicts = []
    for search in searches(subjects, conditions):
        more_parts, more_verdicts = _show(search)
        parts += more_parts
        verdicts += more_verdicts
    question = "How many people are singled out by what a neighbour knows, and what is learnt about them?"
    return Chapter("linkage", "Linkage", question, tuple(parts), tuple(verdicts))


def searches(subjects: Subjects, conditions: Conditions) -> list[Search]:
    """The invented clinic, and the subjects' own table if it has another column."""
    invented = clinic(conditions.generator("clinic"))
    found = [search("clinic", "an invented clinic", invented, "diagnosis", conditions)]
    if usable_columns(subjects.table, subjects.column):
        found.append(search("table", subjects.source, subjects.table, subjects.column, conditions))
    return found


def usable_columns(cells: Cells, secret: str) -> list[Known]:
    """Columns that somebody could know something of, without the secret one."""
    columns = know({name: column for name, column in cells.items() if name != secret})
    return [column for column in columns if not np.isnan(column.numbers).all()][:MOST_COLUMNS]


def search(slug: str, title: str, cells: Cells, secret: str, conditions: Conditions) -> Search:
    """Attack one table, its twin, and nothing."""
    since = clock()
    target = know({secret: cells[secret]})[0]
    people = choose_people(target, most=MOST_PEOPLE, generator=conditions.generator(f"people of the {slug}"))
    usable = usable_columns(cells, secret)
    telling = most_telling(usable, people=people, table=cells, most=MOST_KNOWN)
    twin = twin_of(cells, [*telling, target], seed=conditions.seed)
    steps = [telling[: count + 1] for count in range(len(telling))]
    return Search(
        slug,
        title,
        secret,
        table=tuple(link(target, known, people=people, table=cells) for known in steps),
        twin=tuple(link(target, known, people=people, table=twin) for known in steps),
        guessing=link(target, [], people=people, table=cells).named,
        people=len(people),
        ran=conditions.ran(
            since,
            people_searched_for=len(people),
            secret=secret,
            known=", then ".join(column.name for column in telling),
        ),
    )


def _show(found: Search) -> tuple[list[Part], list[Verdict]]:
    figure = Figure(
        f"{found.title}: {found.secret} named correctly",
        draw(
            lambda axes: _plot(axes, found),
            name=f"linkage-{found.slug}",
            shown="Figures in the table below.",
        ),
        found.ran,
    )
    rows = tuple(
        (
            ", ".join(table.columns),
            percent(table.singled_out),
            percent(table.named),
            percent(twin.named),
            percent(found.guessing),
        )
        for table, twin in zip(found.table, found.twin, strict=True)
    )
    heads = ("known", "singled out", "named, from the table", "named, from the twin", "named, from nothing")
    numbers = NumberTable(f"{found.title}: what the search finds", heads, rows, found.ran)
    return [figure, numbers], _verdicts(found)


def _verdicts(found: Search) -> list[Verdict]:
    table, twin = found.table[-1], found.twin[-1]
    attack, nothing = f"search by {', '.join(table.columns)}", f"({percent(found.guessing)} from nothing)"
    telling = max(table.singled_out, table.named - found.guessing) > TELLING
    margin = SIGMAS * 0.5 / math.sqrt(found.people)
    return [
        Verdict(
            attack,
            f"{found.title}, names taken out",
            f"{percent(table.singled_out)} of people singled out; {found.secret} named for "
            f"{percent(table.named)} {nothing}",
            Standing.BROKEN if telling else Standing.NO_PROMISE,
        ),
        Verdict(
            attack,
            f"{found.title}, twin",
            f"{found.secret} named for {percent(twin.named)} {nothing}",
            Standing.HOLDS if twin.named <= found.guessing + margin else Standing.BROKEN,
        ),
    ]


def _plot(axes: Axes, found: Search) -> None:
    places = np.arange(1, len(found.table) + 1)
    axes.bar(places - 0.2, [one.named for one in found.table], 0.38, color=FLAWED, label="from the table")
    axes.bar(places + 0.2, [one.named for one in found.twin], 0.38, color=OURS, label="from the twin")
    axes.plot(
        places, [one.singled_out for one in found.table], "o:", color=PLAIN, label="singled out in the table"
    )
    axes.axhline(found.guessing, color=LIGHT, label="from nothing")
    axes.set(xlabel="columns known", ylabel="share of people", ylim=(0, 1.02))
    axes.set_xticks(places)
    axes.figure.legend(loc="outside lower left", ncols=2)
