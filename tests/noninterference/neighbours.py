"""Data sets that are neighbours, under one declaration: what one person may change, and nobody may notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

CANARY = "canary7e1d"
TARGET_HEIGHT = 173.918273645
"""Nobody else's: pipelines of the lives look for it."""


@dataclass
class Study:
    """A rights holder's two tables: everybody, and the visits of each. The second is in a dialect."""

    people: dict[str, tuple[int, str, float]]
    visits: dict[str, list[int]]
    born: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """`diary` is a column that nobody declared."""
        rows = [
            f"{name}\t{CANARY}\t{age}\t{sex}\t{height!r}\t{self.born.get(name, '1970-01-31')}"
            for name, (age, sex, height) in self.people.items()
        ]
        scores = [
            f"{name};{score};{score},5;{self.remarks.get(name, CANARY)}"
            for name, found in self.visits.items()
            for score in found
        ]
        return {
            "participants.tsv": "\n".join(["participant_id\tdiary\tage\tsex\theight\tborn", *rows, ""]),
            "visits.csv": "\n".join(["participant_id;score;cost;remark", *scores, ""]),
        }


def as_it_is() -> Study:
    names = [f"{CANARY}-{number:02d}" for number in range(1, 21)]
    people = {name: (20 + 3 * place, "fm"[place % 2], 150.5 + place) for place, name in enumerate(names)}
    return Study(people, {name: [10 + place, 50 + place] for place, name in enumerate(names)})


def added(study: Study) -> None:
    study.people[f"{CANARY}-99"] = (71, "d", TARGET_HEIGHT)
    study.visits[f"{CANARY}-99"] = [97]


def removed(study: Study) -> None:
    del study.people[f"{CANARY}-12"], study.visits[f"{CANARY}-12"]


def another_cell(study: Study) -> None:
    age, sex, _ = study.people[f"{CANARY}-03"]
    study.people[f"{CANARY}-03"] = (age, sex, TARGET_HEIGHT)


def heavy(study: Study) -> None:
    """Many rows of one person."""
    study.visits[f"{CANARY}-05"] = [number % 100 for number in range(3000)]


def registered_elsewhere(study: Study) -> None:
    """One person has the name of somebody in the register of another rights holder."""
    for table in (study.people, study.visits):
        kept = dict(table)
        table.clear()
        table.update({RIVALS_NAME if name == f"{CANARY}-07" else name: found for name, found in kept.items()})


def odd_cells(study: Study) -> None:
    """Of one person: outside of all bounds, and in no category. One has rows of nobody else's kind."""
    study.people[f"{CANARY}-04"] = (10**9, "unheard of", -1e300)
    study.visits[f"{CANARY}-04"] = [10**12, -(10**12)]


def no_rows(study: Study) -> None:
    """Somebody is in the register, and in no other table."""
    del study.visits[f"{CANARY}-06"]


def odd_days(study: Study) -> None:
    """The first and last that there are, a leap day, and one of a year that looks like a leap year."""
    days = ("0001-01-01", "9999-12-31", "2000-02-29", "1900-02-28", "n/a")
    study.born |= {f"{CANARY}-{number:02d}": day for number, day in enumerate(days, start=8)}


def long_text(study: Study) -> None:
    """With whatever tables, pages and logs could take for their own."""
    piece = '\n;"" \\ \U0001f600 \u202e <script> %s {0} \x1b[1m'
    study.remarks[f"{CANARY}-13"] = f'"{piece * 2500}"'


def at_the_bounds(study: Study) -> None:
    """And as many rows as are kept of anybody, and one more."""
    study.people[f"{CANARY}-14"] = (120, "d", 100.0)
    study.people[f"{CANARY}-15"] = (0, "f", 220.0)
    study.visits |= {f"{CANARY}-14": [100] * 1000, f"{CANARY}-15": [0] * 1001}


RIVALS_NAME = f"{CANARY}-77"


def at_once(study: Study) -> None:
    """All of these together: whatever tells of one of them tells of this."""
    for change in CHANGES.values():
        if change is at_once:
            continue
        change(study)
    added_again = study.people.pop(f"{CANARY}-99")
    study.people |= {f"{CANARY}-98": (72, "f", 180.25), f"{CANARY}-99": added_again}
    study.visits[f"{CANARY}-98"] = [1, 2, 3]


CHANGES: Mapping[str, Callable[[Study], None]] = {
    "somebody is removed": removed,
    "somebody is added": added,
    "a cell is another": another_cell,
    "somebody has many rows": heavy,
    "somebody is in another register": registered_elsewhere,
    "cells are out of bounds": odd_cells,
    "somebody has no rows": no_rows,
    "days are odd": odd_days,
    "a text is long": long_text,
    "values are at their bounds": at_the_bounds,
    "all of it": at_once,
}


def study_of(change: str | None) -> Study:
    study = as_it_is()
    if change is not None:
        CHANGES[change](study)
    return study


def rivals_files() -> dict[str, str]:
    """A name beside decoys."""
    rows = [
        f"{name}\t{160 + place}"
        for place, name in enumerate([RIVALS_NAME, *(f"made-up-{n}" for n in range(9))])
    ]
    return {"participants.tsv": "\n".join(["participant_id\theight", *rows, ""])}


KEPT = {
    "kind": "FREE_TEXT", "classification": "quasi", "decision": "keep", "by": "holder", "why": "was read"
}  # fmt: skip


def declared(name: str = "town", **changes: Any) -> dict[str, Any]:
    """The declaration of the study, whoever is in it."""
    return {
        "name": name,
        "title": "Heights of a small town",
        "privacy_unit": {"table": "participants.tsv", "column": "participant_id"},
        "nominal_size": 20,
        "tables": [
            {
                "path": "participants.tsv",
                "columns": [
                    {"name": "participant_id", "kind": "person"},
                    {"name": "age", "kind": "integer", "lower": 0, "upper": 120},
                    {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"]},
                    {"name": "height", "kind": "number", "lower": 100, "upper": 220},
                    {"name": "born", "kind": "date", "lower": "1900-01-01", "upper": "2020-12-31"},
                ],
            },
            {
                "path": "visits.csv",
                "rows_per_person": "many",
                "most_rows": 1000,
                "dialect": {"delimiter": ";", "decimal": ","},
                "columns": [
                    {"name": "participant_id", "kind": "person"},
                    {"name": "score", "kind": "integer", "lower": 0, "upper": 100},
                    {"name": "cost", "kind": "number", "lower": 0, "upper": 101},
                    {"name": "remark", "kind": "text", "pii": KEPT},
                ],
            },
        ],
        "public_files": [{"path": "README", "text": "Everybody was measured twice.\n"}],
        "budget_epsilon": "3.25",
        "budget_delta": "0.001",
        "budget_nats": "0.25",
        "budget_releases": 5,
        "policy": {
            "data_users": ["ada"],
            "images": ["own", "python"],
            "accepted_channels": ["page_faults"],
            "max_epsilon_per_job": "2",
            "reviewers": ["vera"],
            "guarantees": ["pure_dp", "approx_dp", "pac", "empirical"],
        },
        **changes,
    }


def rivals_declaration() -> dict[str, Any]:
    (people, _) = declared()["tables"]
    columns = [column for column in people["columns"] if column["name"] in ("participant_id", "height")]
    return declared("asked", tables=[{**people, "columns": columns}], nominal_size=10)
