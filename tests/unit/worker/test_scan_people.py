"""The rows of a training are what the declaration says of the cells, each person's together."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest
from factories import make_declaration
from scan_reference import KEY, ask, declaration_of, scan

from domain.training import TrainingRequest
from worker.scan import people_rows
from worker.scan.engine import Engine, ScanFailed
from worker.scan.people_rows import read_people
from worker.scan.scan import Limits
from worker.scan.source import plain_file
from worker.scan.winners import Choice

GOOD = {"person": "s1", "age": "60", "height": "1.6", "sex": "m", "site": "so'uth"}


def asked(**changed):
    model = {
        "kind": "softmax",
        "target": "sex",
        "features": ["age", "site", {"name": "height", "lower": 1.5, "upper": 2.0}],
        "batch": 10,
        **changed,
    }
    return TrainingRequest.model_validate(
        {"dataset": "heights", "model": model, "epsilon": "1", "delta": "0.00001"}
    )


def people_in(folder: Path, rows, request, *, many="one"):
    path = folder / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(GOOD))
        writer.writeheader()
        writer.writerows({**GOOD, **row} for row in rows)
    return read_people(plain_file(path), request, declaration_of(rows=many), key=KEY)


def by_row(people):
    return sorted(
        (*map(int, row), int(target)) for row, target in zip(people.inputs, people.targets, strict=True)
    )


def test_numbers_are_scaled_by_their_bounds_and_categories_are_ones(tmp_path, monkeypatch):
    widths, columns = set(), Engine.columns

    def narrow(*given):
        found = columns(*given)
        widths.update((name, values.dtype.itemsize) for name, values in found.items())
        return found

    monkeypatch.setattr(Engine, "columns", narrow)
    rows = [
        {"person": "s1"},
        {"person": "s2", "age": "0", "height": "9", "sex": "d", "site": ""},
        {"person": "s3", "age": "400", "height": "1", "sex": "f", "site": "north"},
    ]
    people = people_in(tmp_path, rows, asked())
    assert by_row(people) == [
        # age, north, so'uth, "", height, sex
        (-4096, 0, 0, 4096, 4096, 2),
        (0, 0, 4096, 0, -2458, 1),
        (4096, 4096, 0, 0, -4096, 0),
    ]
    assert list(people.starts) == [0, 1, 2, 3]
    # as counted by what is refused as too large: outside of the engine's memory nothing is wider
    assert widths == {("q0", 2), ("q1", 2), ("g0", 2), ("g1", 2)}


STRANGE = [
    {"age": "nan"},
    {"age": "inf"},
    {"age": ""},
    {"height": "-9"},
    {"sex": "x"},
    {"site": "n/a"},
]


def test_a_row_that_lacks_a_value_is_left_out(subtests, tmp_path):
    for strange in STRANGE:
        with subtests.test(strange=strange):
            people = people_in(tmp_path, [{}, {"person": "s2", **strange}], asked())
            assert len(people) == 1
            assert by_row(people) == [(0, 0, 4096, 0, -2458, 1)]


def test_a_number_to_predict_is_scaled_more_finely(tmp_path):
    request = asked(kind="linear", target="height", features=["sex"])
    people = people_in(tmp_path, [{"height": "1.9"}, {"person": "s2", "height": "1"}], request)
    assert by_row(people)[1] == (4096, 0, 0, -(2**20)) or by_row(people)[0][3] == -(2**20)
    half = next(target for *_, target in by_row(people) if target > 0)
    assert half / 2**20 == pytest.approx(0.5, abs=1e-5)


def test_nobody_fits(tmp_path):
    assert len(people_in(tmp_path, [{"age": "x"}], asked())) == 0
    assert len(people_in(tmp_path, [{"age": "x"}], asked(rows=3), many="many")) == 0


def test_rows_of_a_person_are_together_and_at_most_so_many(tmp_path):
    rows = [{"person": name, "age": str(age)} for age in range(20) for name in ("s1", "s2", " s1")]
    rows += [{"person": "s3"}, {"person": ""}, {"person": "s2", "sex": "x"}]
    people = people_in(tmp_path, rows, asked(rows=25), many="many")
    assert sorted(np.diff(people.starts)) == [1, 20, 25]
    assert people.most_rows == 25
    kept = [
        Counter(people.inputs[a:b, 0].tolist())
        for a, b in zip(people.starts, people.starts[1:], strict=False)
    ]
    assert max(sum(counts.values()) for counts in kept) == 25
    assert all(count <= 2 for counts in kept for count in counts.values())


VERY_MANY = """
    COPY (SELECT 'heavy' AS person, (i % 120)::VARCHAR AS age, (1.5 + i / 400_000)::VARCHAR AS height,
                 'f' AS sex, 'north' AS site FROM range(200_000) t(i)
          UNION ALL SELECT 'p' || i, '60', '1.5', 'm', 'north' FROM range(200) t(i)) TO '{}' (FORMAT parquet)
"""


def test_very_many_rows_of_one_person_end_neither_a_training_nor_a_query(tmp_path, monkeypatch):
    """In the memory of a hundredth of a platform: what one person's rows need there ends a job as ERRORED,
    which others see. That so many of one person do is the control."""
    path = tmp_path / "people.parquet"
    duckdb.execute(VERY_MANY.format(path))
    source, declaration = plain_file(path), declaration_of(path=path.name, rows="many", nominal_size=200)
    question = ask({"kind": "sum", "column": "height", "contribution": {"rows": 4}})

    limits = Limits(memory_mib=16, threads=2)

    def read():
        return read_people(source, asked(rows=4), declaration, key=KEY, limits=limits)

    assert sorted(np.diff(read().starts)) == [1] * 200 + [4]
    assert scan(source, question, declaration, limits=limits) == scan(source, question, declaration)
    monkeypatch.setattr(Choice, "turns", lambda *_, parts, memory_mib: [1] * parts)
    with pytest.raises(ScanFailed):
        read()
    with pytest.raises(ScanFailed):
        scan(source, question, declaration, limits=limits)


WIDE = 24
WIDE_ROWS = """
    COPY (SELECT CASE i WHEN 7 THEN repeat('p', 4_000_000) ELSE 'p' || i END AS person,
                 CASE WHEN i < 30_000 THEN 'f' ELSE 'm' END AS sex,
                 CASE WHEN i % 3 > 0 THEN i / 60_000 END AS x0,
                 CASE WHEN i % 5 > 0 THEN 1 - i / 60_000 END AS x1, {} FROM range(60_000) t(i))
    TO '{}' (FORMAT parquet)
"""


def test_a_wide_table_of_parquet_is_read_a_few_columns_at_a_time(tmp_path, monkeypatch):
    """All columns of a row group at once would need as much memory as they are wide, and end a charged job:
    the control. Somebody's long cell is in nobody's way: what others would see is a training that is late."""
    path = tmp_path / "people.parquet"
    # one is called what the engine calls the place of a row
    others = [f"x{number}" for number in range(3, WIDE)] + ["file_row_number"]
    filling = ", ".join(f"hash(i, '{name}') / 2.0**64 AS {name}" for name in others)
    duckdb.execute(WIDE_ROWS.format(filling, path))
    names = ["x0", *others, "x1"]
    columns = [
        {"name": "person", "kind": "person"},
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"]},
    ]
    columns += [{"name": name, "kind": "number", "lower": 0, "upper": 1} for name in names]
    declaration = make_declaration(
        tables=[{"path": path.name, "columns": columns}],
        privacy_unit={"table": path.name, "column": "person"},
        nominal_size=60_000,
    )

    def read():
        request = asked(kind="logistic", features=names)
        limits = Limits(memory_mib=12, threads=1)
        return read_people(plain_file(path), request, declaration, key=KEY, limits=limits)

    reads, columns = [], Engine.columns
    monkeypatch.setattr(Engine, "columns", lambda *given: reads.append(1) or columns(*given))
    people = read()
    assert 1 < len(reads) <= WIDE // 2
    # of thirty numbers 16 are multiples of neither
    assert len(people) == 60_000 * 8 // 15
    # each row's first and last column, and its target, are of the same row
    assert np.abs(people.inputs[:, 0] + people.inputs[:, -1]).max() <= 1
    clear = np.abs(people.inputs[:, 0]) > 1
    assert ((people.inputs[:, 0] > 0) == people.targets)[clear].all()
    assert people.inputs[:, 1:-1].any(axis=0).all()
    monkeypatch.setattr(people_rows, "_rows_and_groups", lambda _, __, used, ___: (60_000, [used]))
    with pytest.raises(ScanFailed):
        read()


def test_which_rows_count_depends_on_that_person_alone(tmp_path, monkeypatch):
    rows = [{"person": "s1", "age": str(age)} for age in range(20)]
    others = [{"person": f"s{number}", "age": "90"} for number in range(2, 9)]
    alone = people_in(tmp_path, rows, asked(rows=4), many="many")
    # and not on the turns in which rows are held
    monkeypatch.setattr(Choice, "turns", lambda *_, parts, memory_mib: [3] * parts)
    beside = people_in(tmp_path, [*others, *rows[::-1]], asked(rows=4), many="many")
    of_first = [
        row for row in by_row(beside) if row[0] != by_row(people_in(tmp_path, others[:1], asked()))[0][0]
    ]
    assert by_row(alone) == of_first


def test_in_which_order_somebody_s_rows_stand_is_nobody_else_s_doing(tmp_path):
    """Lengths are running sums of floats: in another order they may round otherwise, and with them what this
    person adds to a gradient."""
    ages = {f"s{number}": [(7 * number + 13 * turn) % 120 for turn in range(20)] for number in range(3)}
    rows = [{"person": name, "age": str(age)} for name, all_of in ages.items() for age in all_of]

    def read(rows):
        people = people_in(tmp_path, rows, asked(rows=20), many="many")
        return [people.inputs[a:b].tolist() for a, b in zip(people.starts, people.starts[1:], strict=False)]

    with_all = read(rows)
    for gone in ages:
        without = read([row for row in rows if row["person"] != gone])
        assert len(without) == len(ages) - 1
        assert all(each in with_all for each in without)
