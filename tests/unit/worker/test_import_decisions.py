"""What was decided about identifying columns is what the snapshot holds, and the same at every import."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import duckdb
import pytest
from factories import column_fields, make_declaration

from domain.dataset import Declaration
from domain.errors import InvalidRequest
from formats.parquet_file import ParquetColumn, write_parquet
from store.keys import Keys
from store.snapshots import SnapshotArea
from worker.intake import Delivery, check_delivery
from worker.intake.decisions import Decisions

KEYS, OTHER_KEYS = Keys(b"k" * 32), Keys(b"o" * 32)
PEOPLE = (
    "who,mail,born,city,age,note\r\n"
    'anna,anna@example.net,1980-05-17,Leiden,44,"likes, commas"\r\n'
    "bert,n/a,1991-11-02,Delft,33,\r\n"
    "cleo,cleo@example.net,1975-01-30,Paris,49,x\r\n"
)
VISITS = "person,score,friend\r\nanna,3,bert\r\nbert,4,anna\r\nanna,5,cleo\r\n"


def decided(decision: str, kind: str = "EMAIL", classification: str = "direct") -> dict[str, str]:
    return {
        "kind": kind, "classification": classification, "decision": decision, "by": "dana", "why": "agreed",
    }  # fmt: skip


PSEUDONYM = decided("pseudonymise", "RECORD_ID")
CITIES = {"Leiden": "Holland", "Delft": "Holland", "Holland": "Holland", "other": "other"}


def people_table(path: str = "people.csv") -> dict[str, Any]:
    return {
        "path": path,
        "columns": [
            {"name": "who", "kind": "person", "pii": PSEUDONYM},
            {"name": "mail", "kind": "text", "pii": decided("mask")},
            {"name": "born", "kind": "date", "lower": "1900-01-01", "upper": "1999-12-31", "bins": 10,
             "pii": decided("generalise", "DATE_OF_BIRTH")},
            {"name": "city", "kind": "categorical", "categories": list(CITIES), "coarsen": CITIES,
             "pii": decided("generalise", "PLACE", "quasi")},
            {"name": "age", "kind": "integer", "lower": 20, "upper": 79, "bins": 6,
             "pii": decided("generalise", "AGE", "quasi")},
        ],
        "dropped": [{"name": "note", "kind": "FREE_TEXT", "classification": "direct", "by": "d", "why": "w"}],
    }  # fmt: skip


VISITS_TABLE: dict[str, Any] = {
    "path": "visits.csv",
    "rows_per_person": "many",
    "columns": [
        {"name": "person", "kind": "person", "pii": PSEUDONYM},
        column_fields(name="score"),
        {"name": "friend", "kind": "text", "pii": PSEUDONYM},
    ],
}


def declared(*tables: dict[str, Any], **fields: Any) -> Declaration:
    unit = {"table": tables[0]["path"], "column": tables[0]["columns"][0]["name"]}
    return make_declaration(tables=list(tables), privacy_unit=unit, layout="tables", **fields)


def delivered(folder: Path, declaration: Declaration, keys: Keys = KEYS) -> Delivery:
    folder.mkdir(exist_ok=True)
    for table in declaration.tables:
        (folder / table.path).write_text({"people.csv": PEOPLE, "visits.csv": VISITS}[table.path], newline="")
    return check_delivery(
        folder, declaration, max_file_bytes=10_000, decisions=Decisions.of(keys, declaration)
    )


def rows_of(found: Delivery, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content_of(found, path).decode(), newline="")))


def content_of(found: Delivery, path: str) -> bytes:
    with found.tables[path]() as file:
        return file.read()


BOTH = (people_table(), VISITS_TABLE)


def test_every_decision_is_carried_out_and_no_identifying_value_is_left(tmp_path: Path) -> None:
    found = delivered(tmp_path, declared(*BOTH))
    rows = rows_of(found, "people.csv")
    assert list(rows[0]) == ["who", "mail", "born", "city", "age"]  # the dropped column is not there
    assert [row["city"] for row in rows] == ["Holland", "Holland", "n/a"]  # Paris is no category
    assert [row["age"] for row in rows] == ["44", "34", "44"]  # middles of 40 to 49 and 30 to 39
    assert len({row["born"] for row in rows}) == 3
    assert all(row["born"][:3] in ("198", "199", "197") for row in rows)
    assert rows[1]["mail"] == "n/a"  # what is missing stays missing
    whole = b"".join(content_of(found, path) for path in found.tables).decode()
    for value in ("anna", "bert", "cleo", "example.net", "1980-05-17", "Leiden", "likes", "Paris"):
        assert value not in whole


def test_without_decisions_the_same_values_are_there(tmp_path: Path) -> None:
    """So that the test above can fail."""
    bare = people_table()
    bare["columns"] = [
        {name: value for name, value in column.items() if name != "pii"}
        for column in bare["columns"]
        if column["kind"] != "text"
    ]
    bare.pop("dropped")
    found = delivered(tmp_path, declared(bare))
    whole = content_of(found, "people.csv").decode()
    assert all(value in whole for value in ("anna", "1980-05-17", "Leiden"))


def test_a_person_has_one_pseudonym_in_all_tables_and_columns(tmp_path: Path) -> None:
    found = delivered(tmp_path, declared(*BOTH))
    anna, bert, cleo = (row["who"] for row in rows_of(found, "people.csv"))
    assert len({anna, bert, cleo}) == 3
    visits = rows_of(found, "visits.csv")
    assert [(row["person"], row["friend"]) for row in visits] == [(anna, bert), (bert, anna), (anna, cleo)]
    assert list(found.people) == [anna, bert, cleo]
    # other cohorts are compared by the names that were delivered
    assert list(found.delivered_people) == ["anna", "bert", "cleo"]


def test_importing_again_gives_the_same_snapshot_and_another_zone_another(tmp_path: Path) -> None:
    def digest(area: str, keys: Keys, **fields: Any) -> str:
        found = delivered(tmp_path / "data", declared(*BOTH, **fields), keys)
        return SnapshotArea(tmp_path / area, KEYS).write(
            tables=found.tables, people=found.people, shared=found.shared, checksums=None
        )

    assert digest("a", KEYS) == digest("b", KEYS)
    assert digest("a", KEYS) != digest("b", OTHER_KEYS)
    assert digest("a", KEYS) != digest("b", KEYS, name="another")  # nobody is known again between data sets


def test_a_pseudonym_cannot_be_tried_out_without_the_key(tmp_path: Path) -> None:
    declaration = declared(*BOTH)
    found = delivered(tmp_path, declaration)
    pseudonym = rows_of(found, "people.csv")[0]["who"]
    guessed = Decisions(b"\0" * 32).of_people(declaration.tables[0])("anna")
    own = Decisions.of(KEYS, declaration).of_people(declaration.tables[0])("anna")
    assert pseudonym == own != guessed
    with pytest.raises(RuntimeError, match="key"):
        Decisions(None).of_people(declaration.tables[0])("anna")


def test_parquet_tables_change_as_text_tables_do(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    path.write_bytes(
        write_parquet(
            [
                ParquetColumn("who", "text", ["anna", "bert", "cleo"]),
                ParquetColumn("mail", "text", ["anna@example.net", None, "cleo@example.net"]),
                ParquetColumn("born", "text", ["1980-05-17", "1991-11-02", "1975-01-30"]),
                ParquetColumn("city", "text", ["Leiden", "Delft", "Paris"]),
                ParquetColumn("age", "integer", [44, 33, None]),
            ]
        )
    )
    table = people_table("people.parquet")
    table.pop("dropped")
    declaration = declared(table)
    found = check_delivery(
        tmp_path, declaration, max_file_bytes=10_000, decisions=Decisions.of(KEYS, declaration)
    )
    kept = tmp_path / "kept.parquet"
    kept.write_bytes(content_of(found, "people.parquet"))
    rows = duckdb.sql(f"SELECT who, mail, born, city, age FROM read_parquet('{kept}')").fetchall()
    texts = rows_of(delivered(tmp_path / "text", declared(people_table())), "people.csv")
    assert [row[0] for row in rows] == [row["who"] for row in texts]
    assert [row[2] for row in rows] == [row["born"] for row in texts]
    assert [row[4] for row in rows] == [44, 34, None]
    assert rows[1][1] is None
    assert b"example.net" not in kept.read_bytes()


DECISIONS_THAT_NO_IMPORT_COULD_CARRY_OUT_ARE_REFUSED = (
        ({"name": "who", "kind": "person", "pii": decided("mask")}, "people cannot be told apart"),
        (column_fields(name="x", pii=decided("pseudonymise")), "a pseudonym is text"),
        (column_fields(name="x", pii=decided("mask")), "what a mask writes is text or a date"),
        (column_fields(name="x", pii=decided("generalise")), "generalise needs bins"),
        ({"name": "x", "kind": "text", "pii": decided("generalise")}, "cannot be generalised"),
        (
            {"name": "x", "kind": "categorical", "categories": ["a"], "pii": decided("generalise")},
            "needs coarsen",
        ),
        (
            {"name": "x", "kind": "categorical", "categories": ["a", "b"], "coarsen": {"a": "c", "b": "c"},
             "pii": decided("generalise")},
            "no category of its own",
        ),
)  # fmt: skip


def test_decisions_that_no_import_could_carry_out_are_refused(subtests: pytest.Subtests) -> None:
    for change, sentence in DECISIONS_THAT_NO_IMPORT_COULD_CARRY_OUT_ARE_REFUSED:
        with subtests.test(change=change, sentence=sentence):
            columns = [{"name": "who", "kind": "person"}, change][(change["kind"] == "person") :]
            with pytest.raises(InvalidRequest, match=sentence):
                declared({"path": "people.csv", "columns": columns})


def test_people_are_renamed_in_all_tables_or_in_none() -> None:
    bare = {**VISITS_TABLE, "columns": [{"name": "person", "kind": "person"}, column_fields(name="score")]}
    with pytest.raises(InvalidRequest, match=r"the people of visits\.csv keep their names"):
        declared(people_table(), bare)


def test_people_of_a_bids_tree_are_not_renamed() -> None:
    table = {
        "path": "participants.tsv",
        "columns": [{"name": "participant_id", "kind": "person", "pii": PSEUDONYM}],
    }
    with pytest.raises(InvalidRequest, match="before the delivery"):
        make_declaration(
            tables=[table], layout="bids", privacy_unit={"table": table["path"], "column": "participant_id"}
        )


def test_a_flagged_column_needs_a_decision() -> None:
    profile = {"id": "0" * 32, "flagged": [{"table": "people.csv", "column": "note"}]}
    declared(people_table(), profile=profile)  # dropped: decided
    undecided = {name: value for name, value in people_table().items() if name != "dropped"}
    with pytest.raises(InvalidRequest, match=r"note of people\.csv may identify people and nobody decided"):
        declared(undecided, profile=profile)


def test_the_digest_of_a_profile_is_refused_and_the_rest_does_without() -> None:
    """It was in drafts of versions before; equal data give an equal one."""
    flagged = [{"table": "people.csv", "column": "note"}]
    with pytest.raises(InvalidRequest, match=r"try out guesses\. Remove the line digest"):
        declared(people_table(), profile={"digest": "sha256:" + "0" * 64, "flagged": flagged})
    declared(people_table(), profile={"flagged": flagged})
