"""How a table is written is found out from all of its cells, or asked about where two answers fit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from domain.dialect import Dialect
from formats.yaml_text import read_yaml
from twins.profile import FoundTable, profile_table
from twins.profile.accept import accept
from twins.profile.decide import Decision
from twins.profile.draft import DraftTable, open_questions, write_draft
from twins.profile.look import look
from twins.profile.proposals import propose


def found(layout: Dialect | None = None, **columns: Sequence[str]) -> FoundTable:
    header = ("id", *columns)
    rows = [(f"p{number}", *row) for number, row in enumerate(zip(*columns.values(), strict=True))]
    return profile_table(lambda: (header, iter(rows)), model=None, layout=lambda: layout or Dialect())


def drafted(seen: FoundTable) -> str:
    table = DraftTable("people.csv", seen, propose(seen, person="id", dictionary={}), True)
    return write_draft([table], name="clinic", layout="tables", unit="people.csv", profile_id="0123456789")


GERMAN = Dialect(decimal=",", dates="DD.MM.YYYY")
SPELLINGS = (
    ("german", {"kg": ["1,5", "20,25", "3"], "on": ["1.3.2024", "02.03.2024", "31.12.2023"]}, GERMAN, ()),
    ("thousands", {"kg": ["1.234,5", "20,25", "3"]}, Dialect(decimal=",", thousands="."), ()),
    ("british", {"on": ["13/01/2024", "01/02/2024", "n/a"]}, Dialect(dates="DD/MM/YYYY"), ()),
    ("american", {"on": ["01/13/2024", "01/02/2024", "n/a"]}, Dialect(dates="MM/DD/YYYY"), ()),
    ("dutch", {"at": ["13-01-2024 9:05", "01-02-2024 10:00", ""]}, Dialect(dates="DD-MM-YYYY"), ()),
    ("day or month", {"on": ["01/02/2024", "03/04/2024", ""]}, Dialect(dates="DD/MM/YYYY"), ("dates",)),
    ("comma or thousands", {"n": ["1,234", "22,456", "7"]}, Dialect(decimal=","), ("decimal",)),
    ("English thousands", {"n": ["1,234", "1,234,567", "7"]}, None, ()),
    ("midnight", {"on": ["2024-01-01 00:00:00.000", "2024-01-02 00:00:00.000", ""]}, Dialect(), ()),
    ("times", {"at": ["2024-01-01 10:00", "2024-01-02 11:00:30", ""]}, None, ()),
    ("as ever", {"n": ["1", "2.5", "3"], "on": ["2024-01-01", "2024-01-02", ""]}, None, ()),
    ("one value", {"n": ["1,5", "1,5", "1,5"]}, None, ()),
)  # fmt: skip


def test_spellings(subtests: pytest.Subtests) -> None:
    for name, columns, dialect, opened in SPELLINGS:
        with subtests.test(name):
            repeated = {column: list(cells) * 20 for column, cells in columns.items()}
            for column in repeated.values():
                column[-1] = column[0] if column[-1] in ("", "n/a") else column[-1]
            seen = found(**repeated)
            assert seen.dialect == dialect
            assert seen.open == opened


def test_columns_are_profiled_as_an_import_would_write_them() -> None:
    seen = found(
        kg=["1,5", "2,5", "3,5"],
        on=["31.12.2023", "01.01.2024", "02.01.2024"],
        at=["31.12.2023 9:05", "01.01.2024 10:00", "02.01.2024 11:00"],
        one=["1,5", "1,5", "1,5"],
    )
    roles = {each.column: (each.role, each.with_time) for each in propose(seen, person="id", dictionary={})}
    assert roles["kg"] == ("number", False)
    assert roles["on"] == ("date", False)
    assert roles["at"] == ("date", True)
    assert roles["one"] == ("categorical", False)
    numbers, days = seen.column("kg").numbers, seen.column("on").days
    assert numbers is not None
    assert (numbers.lower, numbers.upper, numbers.decimals) == (1.5, 3.5, 1)
    assert days is not None
    assert (days.first, days.last) == ("2023-12-31", "2024-01-02")


def test_what_no_dialect_reads_alike_stays_text_and_says_so() -> None:
    seen = found(
        kg=["1,5", "2,5", "3,5"],
        mg=["1.5", "2.5", "3.5"],
        on=["31.12.2023", "2024-01-01", "31.02.2024"],
    )
    assert (seen.dialect, seen.unread) == (Dialect(decimal=","), ("mg", "on"))
    proposals = {each.column: each for each in propose(seen, person="id", dictionary={})}
    assert proposals["kg"].role == "number"
    assert (proposals["mg"].role, proposals["on"].role) == ("categorical", "categorical")
    assert "another spelling" in proposals["mg"].reasons[0]


def test_a_whole_file_is_one_question_and_one_answer() -> None:
    layout = Dialect(delimiter=";", encoding="windows-1252")
    text = drafted(found(layout, kg=["1,5", "2,5", "3,5"]))
    questions = [each for each in open_questions(read_yaml(text)) if "dialect" in each.place]
    assert [each.place for each in questions] == ["tables.people.csv.dialect"]
    decision = Decision("keep", "h", "As proposed.")
    taken = accept(text, read_yaml, of=None, decision=decision)
    assert taken.dialects == ["people.csv"]
    stated = read_yaml(taken.text)["tables"][0]["dialect"]
    assert stated == {"delimiter": ";", "encoding": "windows-1252", "decimal": ","}
    # of one decision alone nothing else is taken
    assert accept(text, read_yaml, of="keep", decision=decision).text == text


def test_what_the_file_leaves_open_is_asked_and_never_proposed() -> None:
    text = drafted(found(on=["01/02/2024", "03/04/2024", "05/06/2024"], n=["1,234", "5,678", "9,012"]))
    taken = accept(text, read_yaml, of=None, decision=Decision("keep", "h", "As proposed.")).text
    left = [each.place for each in open_questions(read_yaml(taken)) if "dialect" in each.place]
    assert left == ["tables.people.csv.dialect.decimal", "tables.people.csv.dialect.dates"]


def test_a_number_of_which_nobody_knows_how_large_it_is_gets_no_bounds() -> None:
    seen = found(n=[f"{1 + number % 9},{100 + number % 800}" for number in range(1000)])
    assert seen.open == ("decimal",)
    text = drafted(seen)
    looked = look(text, read_yaml(text), {"people.csv": seen}, today=date(2026, 1, 1))
    assert any(one.startswith("people.csv.n: ") for one in looked.left)


def test_a_plain_table_asks_nothing_of_its_dialect() -> None:
    text = drafted(found(n=["1", "2.5", "3"], on=["2024-01-01", "2024-01-02", "2024-01-03"]))
    assert "dialect" not in text
    assert "with_time" not in text
