"""A delivery in another dialect: the snapshot has the one form of all, and no cell is taken for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from factories import make_declaration, table_fields

from domain.dataset import Declaration, ImportProblem
from domain.errors import InvalidRequest
from dpgate.checking import check_locally
from dpgate.outside import about_outside
from gateway.pages import dataset_facts
from twins.drawn import make_twin
from worker.intake import Delivery, ImportRefused, check_delivery
from worker.intake.decisions import Decisions
from worker.intake.lot import Lot

GERMAN = {"delimiter": ";", "encoding": "windows-1252", "decimal": ",", "dates": "DD.MM.YYYY"}
DAYS = {"lower": "2020-01-01", "upper": "2024-12-31"}
PEOPLE = table_fields(
    path="people.csv",
    dialect=GERMAN,
    columns=[
        {"name": "Patient", "kind": "person"},
        {"name": "Gewicht", "kind": "number", "lower": 30, "upper": 200},
        {"name": "Aufnahme", "kind": "date", "with_time": True, **DAYS},
        {"name": "Ort", "kind": "categorical", "categories": ["München", "Köln"]},
    ],
)
LABS = table_fields(
    path="labs.csv",
    dialect=GERMAN,
    rows_per_person="many",
    most_rows=9,
    columns=[
        {"name": "Patient", "kind": "person"},
        {"name": "Tag", "kind": "date", **DAYS},
        {"name": "Wert", "kind": "number", "lower": 0, "upper": 10},
    ],
)
BODY = (
    "Patient;Ort;Notiz;Aufnahme;Gewicht\r\n"
    "Jürgen;München;geheim;1.3.2024 14:05;70,5\r\n"
    'Änne;"Köln";"a;b";02.03.2024 09:00:30;\r\n'
)
LAB_BODY = "Patient;Tag;Wert\nÄnne;03.03.2024;1,25\nJürgen;04.03.2024;2\nÄnne;05.03.2024;n/a\n"


def declared(*tables: dict[str, Any]) -> Declaration:
    return make_declaration(
        tables=list(tables), privacy_unit={"table": "people.csv", "column": "Patient"}, nominal_size=10
    )


def delivered(folder: Path, body: str = BODY, labs: str = LAB_BODY) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_bytes(body.encode("cp1252"))
    (folder / "labs.csv").write_bytes(labs.encode("cp1252"))
    return folder


def check(folder: Path, **more: Any) -> Delivery:
    return check_delivery(folder, declared(PEOPLE, LABS), max_file_bytes=10_000, **more)


def read(delivery: Delivery, path: str) -> str:
    with delivery.tables[path]() as file:
        return file.read().decode()


def test_the_snapshot_has_the_form_that_the_twin_has(tmp_path: Path) -> None:
    found = check(delivered(tmp_path / "data"))
    assert read(found, "people.csv") == (
        "Patient,Gewicht,Aufnahme,Ort\n"
        "Jürgen,70.5,2024-03-01T14:05:00,München\n"
        "Änne,,2024-03-02T09:00:30,Köln\n"
    )
    assert read(found, "labs.csv").splitlines()[1:] == [
        "Änne,2024-03-03,1.25", "Jürgen,2024-03-04,2", "Änne,2024-03-05,n/a",
    ]  # fmt: skip
    assert sorted(found.people) == ["Jürgen", "Änne"]


def test_rows_of_one_person_and_lots_are_of_what_was_written_anew(tmp_path: Path) -> None:
    found = check(delivered(tmp_path / "data"), lot=Lot(b"k" * 32))
    with found.ordered(declared(PEOPLE, LABS)) as ordered, ordered["labs.csv"].content() as file:
        assert file.read().decode().splitlines()[1:] == [
            "Jürgen,2024-03-04,2", "Änne,2024-03-03,1.25", "Änne,2024-03-05,n/a",
        ]  # fmt: skip
    assert found.cut(declared(PEOPLE, {**LABS, "most_rows": 1})) == {"labs.csv": 1}


def test_decisions_are_about_what_was_written_anew(tmp_path: Path) -> None:
    pii = {"kind": "DATE", "classification": "quasi", "decision": "generalise", "by": "h", "why": "w"}
    columns = [
        {**column, "bins": 2, "pii": pii} if column["name"] in ("Tag", "Wert") else column
        for column in LABS["columns"]
    ]
    declaration = declared(PEOPLE, {**LABS, "columns": columns})
    found = check_delivery(
        delivered(tmp_path / "data"),
        declaration,
        max_file_bytes=10_000,
        decisions=Decisions(b"k" * 32),
    )
    coarse = [
        {**column, "bins": 2, "pii": pii} if column["name"] == "Aufnahme" else column
        for column in PEOPLE["columns"]
    ]
    people = declared({**PEOPLE, "columns": coarse}, LABS)
    written = check_delivery(tmp_path / "data", people, max_file_bytes=10_000, decisions=Decisions(b"k" * 32))
    cells = {row.split(",")[2] for row in read(written, "people.csv").splitlines()[1:]}
    assert cells == {"2023-10-02T12:00:00"}
    twin = make_twin(people)["people.csv"].decode().splitlines()[1:]
    assert cells < {row.split(",")[2] for row in twin}
    assert read(found, "labs.csv").splitlines()[1:3] == ["Änne,2023-10-02,2.50", "Jürgen,2023-10-02,2.50"]


REFUSED = (
    (BODY.replace("70,5", "70.5"), ImportProblem.NOT_A_TABLE, "line 2, column Gewicht: '70.5' is no number"),
    (BODY.replace("1.3.2024 14:05", "2024"), None, ""),
    (
        BODY.replace(" 14:05", ""),
        ImportProblem.NOT_A_TABLE,
        "line 2, column Aufnahme: '1.3.2024' has no time",
    ),
    (BODY.replace("geheim", "70.5"), None, ""),
    (BODY.replace(";", ","), ImportProblem.UNIT_COLUMN_MISSING, "'Patient'; its header is one cell"),
    (BODY.replace("Köln", "K\u201aln"), None, ""),
)


def test_what_is_refused_names_line_column_and_mend(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """What nobody declared is not read, and neither is what looks like no number or day."""
    for number, (body, problem, detail) in enumerate(REFUSED):
        folder = delivered(tmp_path / str(number), body)
        with subtests.test(body=body):
            if problem is None:
                check(folder)
                continue
            with pytest.raises(ImportRefused) as refused:
                check(folder)
            assert refused.value.problem is problem
            assert detail in refused.value.detail
            # what passes the gateway has seen no cell
            assert "70" not in str(problem)
            with pytest.raises(InvalidRequest, match=r"people\.csv"):
                check_locally(folder, declared(PEOPLE, LABS))


def test_bytes_of_another_encoding_are_refused(tmp_path: Path) -> None:
    folder = delivered(tmp_path / "data")
    plain = declared({**PEOPLE, "dialect": {**GERMAN, "encoding": "utf-8"}}, LABS)
    with pytest.raises(ImportRefused, match="encoding of its dialect") as refused:
        check_delivery(folder, plain, max_file_bytes=10_000)
    assert refused.value.problem is ImportProblem.NOT_UTF8


def test_a_check_tells_where_a_comma_is_a_decimal_comma(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "people.csv").write_text('Patient,Gewicht,Tag\na,"70,5",01.03.2024\nb,"71,5",02.03.2024\n')
    columns = [PEOPLE["columns"][0], PEOPLE["columns"][1], LABS["columns"][1]]
    undialected = table_fields(path="people.csv", columns=columns)
    number, day = about_outside(folder, declared(undialected))
    assert "such as 70,5 in line 2" in number
    assert "dialect" in number
    assert "dialect" in day
    check_locally(folder, declared(undialected))  # as ever: it stays as it is written, and counts as missing
    states = {**undialected, "dialect": {"decimal": ",", "dates": "DD.MM.YYYY"}}
    assert not list(about_outside(folder, declared(states)))


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({}, "one row per person"),
        (
            {"delimiter": "tab", "decimal": ",", "thousands": "."},
            "one row per person. Delivered with tabs between cells, decimal commas, points between "
            "thousands; written anew: 1.5, 2020-01-31, UTF-8, the usual separator.",
        ),
    ],
)
def test_the_dictionary_of_a_page_says_how_a_table_was_delivered(stated: dict[str, str], told: str) -> None:
    ((_, rows, _),) = dataset_facts.columns(declared(PEOPLE | {"dialect": stated}))
    assert rows == told
