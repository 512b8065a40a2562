"""Where not all rows of a person count, those that do are a fair sample: every number is compared with what a
random choice gives, which is worked out here from the rows alone and knows nothing of any hash."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from factories import make_declaration
from scan_reference import KEY, ask, scan

from domain.dataset import Declaration
from domain.twin import cell_grid
from privacy.trusted import TrustedQuery
from privacy.twin import ColumnCounts, Patterns
from worker.scan import limit
from worker.scan.engine import opened
from worker.scan.scan import Limits
from worker.scan.source import Source, plain_file
from worker.twin.count import Counting, count

LIMIT = 3
MOST_DEVIATIONS = 4
COLUMNS = [
    {"name": "person", "kind": "person"},
    {"name": "test", "kind": "categorical", "categories": ["ferritin", "glucose", "sodium"]},
    {"name": "value", "kind": "integer", "lower": 0, "upper": 6},
]
TESTS = COLUMNS[1]["categories"]
VISITS = [
    {"kind": "count", "by": ["test"]},
    {"kind": "sum", "column": "value", "by": ["test"]},
    {"kind": "mean", "column": "value"},
    {"kind": "variance", "column": "value"},
    {"kind": "histogram", "column": "value", "edges": [1, 2, 3, 4, 5]},
    {"kind": "histogram", "column": "value", "edges": [2, 4], "by": ["test"]},
]
Rows = list[tuple[str, str, int]]
Amounts = dict[int, int]


def visits() -> Rows:
    """600 people with 5 to 15 rows; a third of the rows for each test, and each value as often as others."""
    draw = random.Random(11)
    rows = [
        (f"p{person}", TESTS[(person + turn) % 3], draw.randrange(6))
        for person in range(600)
        for turn in range(draw.randint(5, 15))
    ]
    draw.shuffle(rows)
    return rows


def declared() -> Declaration:
    table = {"path": "visits.csv", "columns": COLUMNS, "rows_per_person": "many"}
    return make_declaration(tables=[table], privacy_unit={"table": "visits.csv", "column": "person"})


def written(folder: Path, rows: Rows) -> Source:
    lines = ["person,test,value", *(f"{person},{test},{value}" for person, test, value in rows)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    return plain_file(folder / "visits.csv")


def deviations(found: tuple[int, ...], rows: dict[str, list[Amounts]], most: int) -> list[float]:
    """How far each sum is from that of a random sample of at most `most` rows of each person, in standard
    deviations of such a sample (Cochran 1977, theorem 2.2)."""
    means, variances = [0.0] * len(found), [0.0] * len(found)
    for held in rows.values():
        size, taken = len(held), min(most, len(held))
        for place in set().union(*held):
            amounts = [row.get(place, 0) for row in held]
            mean = sum(amounts) / size
            means[place] += taken * mean
            spread = sum((amount - mean) ** 2 for amount in amounts) / (size - 1) if size > 1 else 0
            variances[place] += taken * (1 - taken / size) * spread
    return [
        (each - mean) / variance**0.5 if variance else float(each != mean)
        for each, mean, variance in zip(found, means, variances, strict=True)
    ]


def by_person(
    rows: Rows, query: TrustedQuery, *, is_grouped: bool, is_valued: bool
) -> dict[str, list[Amounts]]:
    steps = ask({"kind": "mean", "column": "value"}).mechanism_for(declared()).grid
    of_person = defaultdict(list)
    for person, test, value in rows:
        units = [TESTS.index(test)] if is_grouped else []
        units += [steps.snap(float(value))] if is_valued else []
        of_person[person].append(dict(query.contribution(units)))
    return of_person


def worst(folder: Path, question: dict[str, object]) -> float:
    rows, declaration = visits(), declared()
    request = ask({**question, "contribution": {"rows": LIMIT}})
    found = scan(written(folder, rows), request, declaration)
    shares = by_person(
        rows, request.mechanism_for(declaration), is_grouped="by" in question, is_valued="column" in question
    )
    return max(map(abs, deviations(found, shares, LIMIT)))


@pytest.mark.parametrize("question", VISITS, ids=lambda question: "-".join(map(str, question.values())))
def test_every_number_is_that_of_a_random_choice(tmp_path: Path, question: dict[str, object]) -> None:
    assert worst(tmp_path, question) < MOST_DEVIATIONS


def by_content(self: limit.Lot, _person: str, _turn: str, *content: str) -> str:
    """The mistake that was made: a hash of what a row says, the same one for everybody."""
    del self
    return f"sha256(concat({', '.join(f'CAST({name} AS VARCHAR)' for name in content)}))"


def test_a_hash_of_content_alone_is_no_random_choice(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(limit.Lot, "ticket", by_content)
    assert all(worst(tmp_path, question) > 2 * MOST_DEVIATIONS for question in VISITS)


@pytest.mark.parametrize("level", [1, 2])
def test_every_count_of_a_twin_is_that_of_a_random_choice(tmp_path: Path, level: int) -> None:
    assert twin_deviation(tmp_path, level) < MOST_DEVIATIONS


@pytest.mark.parametrize("level", [1, 2])
def test_a_hash_of_content_alone_distorts_a_twin(tmp_path: Path, monkeypatch, level: int) -> None:
    monkeypatch.setattr(limit.Lot, "ticket", by_content)
    assert twin_deviation(tmp_path, level) > 2 * MOST_DEVIATIONS


def twin_deviation(folder: Path, level: int) -> float:
    rows, table = visits(), declared().tables[0]
    grids = tuple(cell_grid(column, 600) for column in table.columns[1:])
    cells = tuple(grid.count for grid in grids)
    mechanism = (
        ColumnCounts(cells, 10**6, LIMIT)
        if level == 1
        else Patterns(cells, 10**6, nominal_size=600, rows=LIMIT)
    )
    found = count(
        written(folder, rows), Counting(table, grids, mechanism, 600), key=KEY, limits=Limits(threads=1)
    )
    tests, values = (grid.codes([str(row[1 + at]) for row in rows]).tolist() for at, grid in enumerate(grids))
    of_person = defaultdict(list)
    for (person, *_), test, value in zip(rows, tests, values, strict=True):
        places = [test, cells[0] + value]
        places += [sum(cells) + test * cells[1] + value] if level == 2 else []
        of_person[person].append(dict.fromkeys(places, 1))
    return max(map(abs, deviations(found, of_person, LIMIT)))


def test_rows_that_say_the_same_are_not_one_row(tmp_path: Path) -> None:
    """Of nine rows of one test and one of another, the other is the one that counts for a tenth of people."""
    rows = [(f"p{person}", TESTS[turn == 9], 0) for person in range(1_000) for turn in range(10)]
    request = ask({"kind": "count", "by": ["test"], "contribution": {"rows": 1}})
    often, seldom, never = scan(written(tmp_path, rows), request, declared())
    assert (often + seldom, never) == (1_000, 0)
    assert abs(seldom - 100) < MOST_DEVIATIONS * (1_000 * 0.1 * 0.9) ** 0.5


def test_people_with_the_same_rows_keep_rows_of_their_own(tmp_path: Path) -> None:
    """300 people alike, with one row of each value: each value is kept by a sixth of them, not by all."""
    rows = [(f"p{person}", TESTS[0], value) for person in range(300) for value in range(6)]
    request = ask(
        {"kind": "histogram", "column": "value", "edges": [1, 2, 3, 4, 5], "contribution": {"rows": 1}}
    )
    found = scan(written(tmp_path, rows), request, declared())
    assert sum(found) == 300
    assert all(abs(each - 50) < MOST_DEVIATIONS * (300 * 5 / 36) ** 0.5 for each in found)


def test_ties_of_groups_go_to_no_name_in_particular(tmp_path: Path) -> None:
    rows = [(f"p{person}", test, 1) for person in range(600) for test in TESTS]
    request = ask({"kind": "count", "by": ["test"], "contribution": {"reduce": "mean"}})
    found = scan(written(tmp_path, rows), request, declared())
    assert sum(found) == 600
    assert all(abs(each - 200) < MOST_DEVIATIONS * (600 * 2 / 9) ** 0.5 for each in found)


def kept(folder: Path, rows: Rows, key: bytes = KEY) -> tuple[int, ...]:
    request = ask(
        {"kind": "histogram", "column": "value", "edges": [1, 2, 3, 4, 5], "contribution": {"rows": 2}}
    )
    return scan(written(folder, rows), request, declared(), key=key)


def test_the_choice_is_the_keys(tmp_path: Path) -> None:
    """The same with the same key, in whatever order the file is; another with another."""
    rows = visits()
    first = kept(tmp_path, rows)
    assert first == kept(tmp_path, rows) == kept(tmp_path, rows[::-1])
    assert first != kept(tmp_path, rows, key=bytes(32))
    with pytest.raises(ValueError, match="32 bytes"):
        kept(tmp_path, rows, key=b"short")


def test_the_rows_of_everybody_else_are_the_same_ones(tmp_path: Path) -> None:
    """Each of five people in turn: the numbers lose what this person had alone, and nothing else moves."""
    rows = visits()
    everybody = kept(tmp_path, rows)
    for number in range(5):
        others = kept(tmp_path, [row for row in rows if row[0] != f"p{number}"])
        alone = kept(tmp_path, [row for row in rows if row[0] == f"p{number}"])
        assert sum(alone) == 2
        assert everybody == tuple(map(sum, zip(others, alone, strict=True)))


def test_names_and_groups_that_run_together_are_told_apart(tmp_path: Path) -> None:
    """Person p|1 in group 2 and person p in group 1|2 have tickets of their own."""
    tickets = Counter()
    for person, content in (("p|1", "2"), ("p", "1|2"), ("p1", "2"), ("p", "12"), ("p:1", "2"), ("p", "1:2")):
        parameters = limit.Parameters()
        told = limit.Lot(KEY, parameters).ticket(parameters.bind(person), parameters.bind(content))
        source = written(tmp_path, [])
        with opened(source, memory_mib=256, threads=1) as engine:
            ((ticket,),) = engine.rows(f"SELECT {told}", parameters.values)
        tickets[ticket] += 1
    assert len(tickets) == 6
