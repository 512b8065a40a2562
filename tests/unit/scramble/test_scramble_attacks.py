"""Attacks that find people in the raw table find them in its scramble: it is not anonymous."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np
import pytest
from lent_data import lent

from companions.lab.attacks.linkage import choose_people, know, link
from companions.lab.simulation import seeded
from companions.scramble.leaks import leaks_of
from companions.scramble.methods import Columned, Columns, Wishes, scrambled
from domain.dataset.table import Table
from domain.model import parse
from twins.evaluation.sheet import Sheet, sheet_of
from twins.evaluation.singling_out import about_one_column, singled_out

KNOWN = ("RACE", "GENDER", "BIRTHDATE", "CITY")
SECRET = "BIRTHPLACE"
COLUMNS = (*KNOWN, SECRET, "HEALTHCARE_EXPENSES")


@pytest.fixture(scope="module")
def people() -> Columned:
    with (lent("synthea_apr2020") / "patients.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [[row[name] for row in rows] for name in COLUMNS]
    return Columned("patients.csv", COLUMNS, columns, len(rows), frozenset())


def named(people: Columned, columns: Columns, known: Sequence[str] = KNOWN) -> tuple[float, float]:
    """A neighbour's search: shares of people who were singled out, and whose secret was named."""
    real = dict(zip(people.names, people.columns, strict=True))
    target = know({SECRET: real[SECRET]})[0]
    asked = choose_people(target, most=300, generator=seeded(1, "neighbours"))
    found = link(
        target,
        know({name: real[name] for name in known}),
        people=asked,
        table=dict(zip(people.names, columns, strict=True)),
    )
    return found.singled_out, found.named


def test_a_neighbour_finds_people_in_the_raw_table_and_in_a_scramble(people: Columned) -> None:
    guessing = named(people, people.columns, known=())[1]
    raw = named(people, people.columns)
    # Synthea has people twice: of seven in ten there is one row
    assert raw[0] > 0.6
    assert raw[1] > 0.8
    swapped = named(people, scrambled(people, Wishes("swap", share=0.1)))
    jittered = named(people, scrambled(people, Wishes("jitter", reach=0.1)))
    together = named(people, scrambled(people, Wishes("permute", together=((*KNOWN, SECRET),))))
    # a row is found while none of its known cells has traded places
    assert swapped[1] > guessing + 0.3
    # words stay in their rows, whatever happens to numbers
    assert jittered == raw
    assert together == raw


def test_every_value_of_one_person_stands_there_again(people: Columned) -> None:
    for method in ("permute", "swap"):
        leaks = leaks_of(people, scrambled(people, Wishes(method)))
        assert sum(column.held_by_one for column in leaks.columns) > 2000
        assert all(column.reappear == column.held_by_one for column in leaks.columns)
    assert leaks_of(people, people.columns).exact_rows == people.rows


def test_singling_out_works_on_permuted_columns_as_on_the_raw_table(people: Columned) -> None:
    original = as_sheet(people.columns)
    for columns in (people.columns, scrambled(people, Wishes("permute"))):
        found = singled_out(about_one_column(as_sheet(columns), most=300, draws=seeded(1, "one")), original)
        assert found.share == 1
    empty = scrambled(people, Wishes("stub"))
    assert len(about_one_column(original, most=300, draws=seeded(1, "one"))) == 300
    assert not about_one_column(as_sheet(empty), most=300, draws=seeded(1, "one"))


def as_sheet(columns: Columns) -> Sheet:
    """Cities as words and expenses as numbers; missing cells are n/a."""
    cities, costs = (columns[COLUMNS.index(name)] for name in ("CITY", "HEALTHCARE_EXPENSES"))
    declared = [
        {"name": "who", "kind": "person"},
        {"name": "city", "kind": "categorical", "categories": sorted({*cities} - {"", "n/a"}) or ["none"]},
        {"name": "cost", "kind": "number", "lower": 0, "upper": 10_000_000, "decimals": 2},
    ]
    table = parse(Table, {"path": "t.tsv", "columns": declared})
    cells = [[cell or "n/a" for cell in column] for column in (cities, costs)]
    rows = [(f"p{row}", *both) for row, both in enumerate(zip(*cells, strict=True))]
    return sheet_of(table, ("who", "city", "cost"), rows)


def test_orders_are_drawn_anew() -> None:
    cells = [[str(number) for number in range(60)], [str(-number) for number in range(60)]]
    table = Columned("t.csv", ("a", "b"), cells, 60, frozenset())
    first, second = (np.array(scrambled(table, Wishes("permute")), np.int64) for _ in range(2))
    assert (first != second).any()
    # the columns move apart from each other
    assert (first[0] + first[1] != 0).any()
    assert sorted(first[0].tolist()) == list(range(60))
