"""Twins from the declaration alone: the bytes of ever for declarations of before, alive for the others."""

from __future__ import annotations

import hashlib
import random
import re
import statistics
from collections import Counter
from datetime import datetime

import pytest
from declared_columns import PII, declarations
from factories import column_fields, make_declaration, table_fields
from hypothesis import HealthCheck, given, settings

from domain.model import parse
from domain.twin import cell_grid
from twins.drawn import check_conformance, make_twin, size_of_twin
from twins.drawn.make import longest_cell

PERSON = {"name": "participant_id", "kind": "person"}
OLD = [
    PERSON,
    {"name": "a", "kind": "integer", "lower": -3.5, "upper": 12, "missing_rate": 0.1, "missing": ""},
    {"name": "b", "kind": "number", "lower": 0.123456, "upper": 0.5, "decimals": 3,
     "typical": {"mean": 0.2, "sd": 0.2}},
    {"name": "c", "kind": "categorical", "categories": ["x", "y, z", ""], "missing_rate": 0.5},
]  # fmt: skip
VOLUME = {"shape": [3, 4, 5], "dtype": "int16", "lower": -4, "upper": 9}
BEFORE = {
    "tables": (
        {},
        "8a93275c71e1ee5f9f07251a9bf29da4db2b3e5b5a7511bd250c5a1a0d5fcdec",
    ),
    "many": (
        {
            "tables": [
                table_fields(),
                {"path": "visits.csv", "rows_per_person": "many", "typical_rows": 4, "columns": OLD},
                {"path": "p.parquet", "rows_per_person": "many", "columns": OLD},
            ]
        },
        "94c139b2293a08b7c54943fc00ed850fec96fc9adcf14462f1961f7c6132edca",
    ),
    "bids": (
        {
            "layout": "bids",
            "person_files": [
                {"path": "{person}/anat/{person}_T1w.nii.gz", "twin_volume": VOLUME},
                {"path": "{person}/{person}_a.json", "twin_text": "{person}"},
            ],
            "public_files": [{"path": "dataset_description.json", "text": "{}"}],
        },
        "8913138ab4222c89781323606e8aa3d8e397d545811f9776a6b7867fc1203bfd",
    ),
}


def one_table(*columns, people=400, **fields):
    table = table_fields(columns=[PERSON, *columns], **fields)
    return make_declaration(tables=[table], nominal_size=people)


def column_of(declaration, name="age"):
    table = declaration.tables[0]
    header, *rows = table.split(make_twin(declaration)[table.path].decode())
    return [row[header.index(name)] for row in rows]


@pytest.mark.parametrize("name", BEFORE)
def test_twins_on_which_pipelines_were_tried_stay_the_same_to_the_byte(name):
    """Digests that were recorded before columns could say more."""
    fields, recorded = BEFORE[name]
    twin = make_twin(make_declaration(**fields), seed=7)
    found = hashlib.sha256()
    for path in sorted(twin):
        found.update(path.encode() + b"\0" + hashlib.sha256(twin[path]).digest())
    assert found.hexdigest() == recorded


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(declarations())
def test_every_blank_form_conforms_to_its_declaration(declaration):
    twin = make_twin(declaration)
    # the twin in place of the original: all cells are of the declared kinds, and inside the bounds
    differences = check_conformance(declaration, twin, twin)
    assert [each for each in differences if not each.on_purpose] == []
    people = twin["people.tsv"].decode().split("\n")[1:-1]
    assert len({row.split("\t")[0] for row in people}) == len(people) == declaration.nominal_size
    again = parse(type(declaration), declaration.model_dump(mode="json"))
    # all that goes in is the declaration, so the data of two data sets that share one cannot matter
    assert make_twin(again) == twin


def test_an_instrument_gives_usual_values_inside_the_bounds():
    ages = list(map(int, column_of(one_table(column_fields(instrument="age", lower=18, upper=90)))))
    assert 40 < statistics.mean(ages) < 53
    assert 18 <= min(ages) <= max(ages) <= 90
    assert max(Counter(ages).values()) < 40  # no pile at the bound, as clipping would make
    hardly = column_of(one_table(column_fields(instrument="mmse", lower=0, upper=4)))
    assert len(set(hardly)) > 2


def test_shares_and_special_values_are_as_declared():
    gains = column_fields(lower=0, upper=99_999, scale="log", special_values=[0], typical_shares={"0": 0.9})
    found = column_of(one_table(gains))
    assert 0.85 < found.count("0") / 400 < 0.95
    assert sum(0 < int(each) < 1000 for each in found) > 10
    half = column_of(one_table({**gains, "typical_shares": {}}))
    assert 0.4 < half.count("0") / 400 < 0.6
    sexes = {
        "name": "sex",
        "kind": "categorical",
        "categories": ["f", "m"],
        "typical_shares": {"f": 4, "m": 1},
    }
    assert 0.73 < column_of(one_table(sexes), "sex").count("f") / 400 < 0.87


def test_dates_and_texts_are_made_up_in_the_declared_form():
    day = {"name": "day", "kind": "date", "lower": "2019-01-01", "upper": "2019-12-31", "missing_rate": 0.5}
    note = {"name": "note", "kind": "text", "text_length": "paragraph", "pii": PII}
    declaration = one_table(day, note, people=50)
    days = column_of(declaration, "day")
    assert {each[:5] for each in days} == {"2019-", "n/a"}
    moments = column_of(one_table({**day, "with_time": True}, people=50), "day")
    read = [datetime.strptime(each, "%Y-%m-%dT%H:%M:%S") for each in moments if each != "n/a"]
    assert len({each.time() for each in read}) == len(read) > 10
    notes = column_of(declaration, "note")
    assert len(set(notes)) == 50
    assert all(250 < len(each) < 400 for each in notes)
    written = sum(map(len, make_twin(declaration).values()))
    assert 0.3 * written < size_of_twin(declaration) < 3 * written


def test_columns_that_the_import_changes_look_as_it_leaves_them():
    places = ["1011", "1012", "2000", "10", "20"]
    coarsen = {"1011": "10", "1012": "10", "2000": "20", "10": "10", "20": "20"}
    decided = {name: {**PII, "kind": "PLACE", "decision": name} for name in ("generalise", "pseudonymise")}
    declaration = one_table(
        {"name": "place", "kind": "categorical", "categories": places, "coarsen": coarsen,
         "pii": decided["generalise"]},
        column_fields(lower=0, upper=99, bins=10, pii=decided["generalise"]),
        {"name": "mail", "kind": "text", "pii": {**PII, "kind": "EMAIL", "decision": "mask"}},
        {"name": "code", "kind": "text", "pii": decided["pseudonymise"]},
    )  # fmt: skip
    assert set(column_of(declaration, "place")) == {"10", "20"}
    assert set(column_of(declaration)) == {f"{ten}4" if ten else "4" for ten in range(10)}
    assert all(re.fullmatch(r"person\d+@example\.org", mail) for mail in column_of(declaration, "mail"))
    assert all(re.fullmatch(r"p[0-9a-f]{20}", code) for code in column_of(declaration, "code"))
    place = declaration.tables[0].columns[1]
    assert cell_grid(place, 400).text(0, random.Random(1)) == "10"


@pytest.mark.parametrize("people", [6, 7, 8])
def test_a_column_that_can_vary_does(people):
    rare = {"kind": "categorical", "categories": ["a", "b"], "typical_shares": {"a": 1, "b": 0.02}}
    columns = [{"name": f"c{at}", **rare} for at in range(20)]
    declaration = one_table(*columns, people=people)
    assert all(len(set(column_of(declaration, f"c{at}"))) == 2 for at in range(20))


def test_an_all_missing_column_a_single_column_and_thousands():
    empty = column_fields(missing_rate=1, instrument="age")
    assert set(column_of(one_table(empty))) == {"n/a"}
    alone = make_declaration(tables=[table_fields(columns=[PERSON])])
    assert make_twin(alone)["participants.tsv"].decode().split("\n")[:2] == ["participant_id", "twin-01"]
    usual = {True: "age", False: None}
    wide = one_table(
        *(column_fields(name=f"c{at}", instrument=usual[at % 50 == 0]) for at in range(4999)), people=6
    )
    header, *rows = wide.tables[0].split(make_twin(wide)["participants.tsv"].decode())
    assert (len(header), len(rows), {len(row) for row in rows}) == (5000, 6, {5000})


def test_line_ends_are_those_of_the_file():
    twin = make_twin(one_table(column_fields(), line_end="crlf"))["participants.tsv"]
    assert twin.count(b"\r\n") == twin.count(b"\n") == 401


THE_SIZE_COVERS_THE_LONGEST_TEXTS = {
    "long": {"kind": "categorical", "categories": ["x" * 200, "y" * 200]},
    "quoted": {"kind": "categorical", "categories": ['"' * 200, "," * 200]},
    "not ASCII": {"kind": "categorical", "categories": ["\u00e4" * 200, "\u00f6" * 200]},
    "missing": {"kind": "integer", "lower": 0, "upper": 1, "missing": "m" * 200, "missing_rate": 0.9},
    "large": {"kind": "number", "lower": -1e300, "upper": 1e300},
    "fine": {"kind": "number", "lower": 0.001, "upper": 0.002, "decimals": 0},
    "masked": {"kind": "text", "text_length": "code", "pii": {**PII, "kind": "EMAIL", "decision": "mask"}},
}


def test_the_size_covers_the_longest_texts(subtests):
    for name, fields in THE_SIZE_COVERS_THE_LONGEST_TEXTS.items():
        with subtests.test(name):
            table = {
                "path": "t.csv",
                "columns": [{"name": "person", "kind": "person"}, {"name": "c", **fields}],
            }
            unit = {"table": "t.csv", "column": "person"}
            declaration = make_declaration(tables=[table], nominal_size=400, privacy_unit=unit)
            written = len(make_twin(declaration)["t.csv"])
            assert 0.95 * written < size_of_twin(declaration) < 3 * written


def test_the_size_covers_what_only_counts_are_written_as():
    column = one_table(column_fields(kind="number", lower=0, upper=1e-300)).tables[0].columns[1]
    texts = {cell_grid(column, 400).text(cell, random.Random(1)) for cell in range(2)}
    assert longest_cell(column) > max(map(len, texts)) > 300
