"""A look at the data answers a draft with round numbers and shared categories; one person shows in none."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date
from functools import cache

from domain.dataset import Declaration
from domain.model import parse
from formats.yaml_text import read_yaml
from twins.pii.model import Model
from twins.profile import FoundTable, profile_table
from twins.profile.accept import accept
from twins.profile.decide import Decision
from twins.profile.draft import DraftTable, open_questions, write_draft
from twins.profile.look import Looked, look
from twins.profile.proposals import propose
from worker.pii_model import model_bytes

TODAY = date(2026, 11, 26)
HEADER = ("person", "age", "spent", "visit", "sex", "job", "date_of_birth", "mixed")


def people(number: int, *more: Sequence[str]) -> list[tuple[str, ...]]:
    draw = random.Random(7)
    rows = [
        (
            f"P-{row:05d}-{draw.randrange(10**6):06d}",
            str(draw.randrange(22, 88)),
            f"{draw.lognormvariate(5, 1):.2f}",
            f"{draw.randrange(2012, 2019)}-{draw.randrange(1, 13):02d}-10",
            draw.choice(("m", "f")),
            draw.choice(("baker", "nurse", "teacher")),
            f"{draw.randrange(1940, 2000)}-{draw.randrange(1, 13):02d}-11",
            draw.choice(("a", "b")),
        )
        for row in range(number)
    ]
    return [*rows, *map(tuple, more)]


def found(rows: list[tuple[str, ...]], header: Sequence[str] = HEADER, *, is_written: bool) -> FoundTable:
    return profile_table(
        lambda: (tuple(header), iter(rows)), model=Model.parse(model_bytes()), is_written=is_written
    )


def drafted(rows: list[tuple[str, ...]], *, is_one_row: bool = True) -> str:
    seen = found(rows, is_written=True)
    proposals = propose(seen, person="person", dictionary={})
    table = DraftTable("people.csv", seen, proposals, is_one_row)
    text = write_draft([table], name="clinic", layout="tables", unit="people.csv", profile_id="0123456789")
    return accept(text, read_yaml, of=None, decision=Decision("keep", "h", "As proposed.")).text


@cache
def drafted_of(number: int) -> str:
    """Of so many usual people, whom several cases ask about."""
    return drafted(people(number))


@cache
def seen_of(number: int) -> FoundTable:
    return found(people(number), is_written=False)


def looked_at(rows: list[tuple[str, ...]], *, is_one_row: bool = True) -> Looked:
    text = drafted(rows, is_one_row=is_one_row)
    return look(text, read_yaml(text), {"people.csv": found(rows, is_written=False)}, today=TODAY)


def test_what_is_looked_up_is_round_and_a_declaration_as_it_stands() -> None:
    text = drafted_of(1200)
    looked = look(text, read_yaml(text), {"people.csv": seen_of(1200)}, today=TODAY)
    content = read_yaml(looked.text)
    places = [question.place for question in open_questions(content)]
    assert places == ["title", "nominal_size", "budget_epsilon"]
    content |= {"title": "A clinic", "nominal_size": 1200, "budget_epsilon": 4}
    columns = {column.name: column for column in parse(Declaration, content).tables[0].columns}
    age, spent, visit, born = (columns[name] for name in ("age", "spent", "visit", "date_of_birth"))
    assert (age.lower, age.upper, age.basis) == (18, 100, "instrument")  # the scale holds them: no data
    assert (spent.lower, spent.upper, spent.basis) == (0, 1600, "looked_at_data")
    assert (visit.lower, visit.upper) == ("2010-01-01", "2019-12-31")
    assert (born.lower, born.upper, born.basis) == ("1900-01-01", "2029-12-31", "instrument")
    assert columns["sex"].categories == ("f", "m")
    assert columns["job"].coarsen == {name: name for name in ("baker", "nurse", "teacher")}


def test_one_person_far_from_all_others_shows_in_no_answer() -> None:
    """The largest of all, the oldest visit, a sex and a job of their own: the answers are the same bytes."""
    usual = people(1199)
    far = ("x", "999", "9e12", "1870-01-01", "q", "astronaut", "1890-01-11", "a")
    early, late = found([*usual, far], is_written=False), seen_of(1200)
    text = drafted_of(1200)
    first, second = (look(text, read_yaml(text), {"people.csv": seen}, today=TODAY) for seen in (early, late))
    assert first.text == second.text
    assert first.left == second.left


def test_one_row_more_decides_no_number_of_bins() -> None:
    """They are not marked as looked up."""
    text, seen = drafted_of(240), seen_of(240)
    assert "bins: ASK" in text

    def of(rows: int) -> str:
        columns = tuple(each.model_copy(update={"rows": rows}) for each in seen.columns)
        table = seen.model_copy(update={"rows": rows, "columns": columns})
        return look(text, read_yaml(text), {"people.csv": table}, today=TODAY).text

    assert of(499) == of(500)
    assert "bins: ASK" not in of(500)


def test_a_category_is_named_if_ten_people_have_it() -> None:
    text = drafted_of(240)

    def jobs(number: int, rows: int = 1) -> str:
        more = [
            (f"Q-{row:05d}", "30", "100.0", "2015-01-10", "f", "pilot", "1980-01-11", "a")
            for row in range(number)
            for _ in range(rows)
        ]
        draft = text if rows == 1 else text.replace('csv"\n', 'csv"\n    rows_per_person: many\n', 1)
        seen = found([*people(240), *more], is_written=False)
        return look(draft, read_yaml(draft), {"people.csv": seen}, today=TODAY).text

    assert '"pilot"' not in jobs(9)
    assert '["baker", "nurse", "pilot", "teacher"]' in jobs(10)
    # two people with thirty rows each are not sixty people
    assert '"pilot"' not in jobs(2, rows=30)
    # who has far more rows than anybody may be all that there is of a category, so that one person shows
    assert '"baker"' not in jobs(1, rows=30)


def test_few_people_and_direct_identifiers_are_left_open_with_the_reason() -> None:
    looked = looked_at(people(150))
    assert [line.split(":")[0] for line in looked.left] == ["people.csv.spent", "people.csv.visit"]
    assert "fewer than 200 people" in looked.left[0]
    assert "lower: ASK" in looked.text
    same = [(*row[:2], "5.5" if number else "7.25", *row[3:]) for number, row in enumerate(people(240))]
    assert looked_at(same).left == ["people.csv.spent: nearly all of its values are the same"]


def test_rows_of_a_person_are_answered_by_many_people_alone() -> None:
    rows = [row for row in people(60) for _ in range(4)]
    content = read_yaml(looked_at(rows, is_one_row=False).text)
    assert (content["tables"][0]["typical_rows"], content["tables"][0]["most_rows"]) == (4, 20)
    few = looked_at([row for row in people(9) for _ in range(4)], is_one_row=False)
    assert "people.csv: fewer than 10 people have rows" in few.left


def test_nothing_else_of_the_draft_changes() -> None:
    text = drafted_of(240)
    looked = look(text, read_yaml(text), {"people.csv": seen_of(240)}, today=TODAY)
    before, after = text.split("\n"), looked.text.split("\n")
    assert before != after
    assert len(before) == len(after)
    assert all(was == now for was, now in zip(before, after, strict=True) if "ASK" not in was)


def test_values_are_seen_and_never_written_down() -> None:
    """A profile that is written holds none of a flagged column; one that is looked at, of a direct one."""
    rows = people(60)
    written, seen = found(rows, is_written=True), found(rows, is_written=False)
    assert written.column("sex").frequent == ()
    assert dict(seen.column("sex").frequent).keys() == {"m", "f"}
    for table in (written, seen):
        assert table.column("person").frequent == ()
        assert table.column("date_of_birth").days is None
