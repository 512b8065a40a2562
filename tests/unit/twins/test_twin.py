"""The twin conforms to the declaration and depends on nothing else."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from factories import column_fields, make_declaration, policy_fields, table_fields
from hypothesis import given
from hypothesis import strategies as st

from domain.dataset import Column, Declaration
from domain.dataset.table import MOST_TYPICAL_ROWS
from domain.errors import InvalidRequest
from domain.twin import LABEL, README
from twins.drawn import MAX_BYTES, make_twin, size_of_twin

PERSON = {"name": "participant_id", "kind": "person"}
BOUNDS = st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).map(sorted)


def cells(declaration: Declaration, column: Column) -> list[str]:
    table = declaration.tables[0]
    header, *rows = table.split(make_twin(declaration)[table.path].decode())
    return [row[header.index(column.name)] for row in rows]


def one_column(**fields) -> tuple[Declaration, Column]:
    table = table_fields(columns=[PERSON, column_fields(**fields)])
    declaration = make_declaration(tables=[table], nominal_size=30)
    return declaration, declaration.tables[0].columns[1]


def test_the_same_declaration_gives_the_same_bytes():
    assert make_twin(make_declaration()) == make_twin(make_declaration())


def test_a_change_of_policy_leaves_the_twin_as_it_is():
    stricter = make_declaration(policy=policy_fields(max_epsilon_per_job="0.5", approve_jobs=True))
    assert stricter.policy != make_declaration().policy
    assert make_twin(stricter) == make_twin(make_declaration())


def test_what_a_profile_flagged_leaves_the_twin_as_it_is():
    """The platform does not keep it; whoever makes the twin from the registered file has the same."""
    person = {"name": "participant_id", "kind": "person"}
    pii = {"kind": "TEXT", "classification": "quasi", "decision": "keep", "by": "dana", "why": "so"}
    tables = [table_fields(columns=[person, {"name": "note", "kind": "text", "pii": pii}])]
    flagged = [{"table": "participants.tsv", "column": "note"}]
    made = [
        make_twin(make_declaration(tables=tables, **more))
        for more in ({}, {"profile": {"id": "0" * 32, "flagged": flagged}}, {"profile": {"flagged": []}})
    ]
    assert made[0] == made[1] == made[2]


def test_another_seed_or_declaration_gives_other_bytes():
    first, *others = [
        make_twin(make_declaration())["participants.tsv"],
        make_twin(make_declaration(), seed=1)["participants.tsv"],
        make_twin(make_declaration(description="other"))["participants.tsv"],
    ]
    assert first not in others


def test_one_row_per_person_and_ids_that_are_nobodys():
    declaration = make_declaration()
    people = cells(declaration, declaration.tables[0].person_column)
    assert len(people) == len(set(people)) == declaration.nominal_size
    assert people[0] == "twin-01"


def test_several_rows_per_person_keep_to_the_same_people():
    declaration = make_declaration(tables=[table_fields(rows_per_person="many")])
    people = cells(declaration, declaration.tables[0].person_column)
    assert len(set(people)) == declaration.nominal_size
    assert people == sorted(people)


def many_rows(**fields) -> Declaration:
    return make_declaration(tables=[table_fields(rows_per_person="many", **fields)], nominal_size=200)


@pytest.mark.parametrize("typical", [1, 2, 40])
def test_a_person_has_about_as_many_rows_as_is_typical(typical):
    declaration = many_rows(typical_rows=typical)
    held = Counter(cells(declaration, declaration.tables[0].person_column))
    assert len(held) == 200
    assert min(held.values()) >= 1
    assert max(held.values()) <= 2 * typical - 1
    # 200 draws: five standard deviations of their mean are a fifth of what is typical
    assert abs(sum(held.values()) / 200 - typical) <= typical / 4
    written = sum(map(len, make_twin(declaration).values()))
    assert 0.3 * written < size_of_twin(declaration) < 3 * written


def test_without_it_declarations_and_twins_are_as_they_were():
    declaration = many_rows()
    assert "typical_rows" not in declaration.model_dump(mode="json")["tables"][0]
    assert max(Counter(cells(declaration, declaration.tables[0].person_column)).values()) == 3
    assert size_of_twin(declaration) == size_of_twin(many_rows(typical_rows=2))


def test_a_twin_of_very_many_rows_is_told_from_the_declaration():
    assert size_of_twin(many_rows(typical_rows=MOST_TYPICAL_ROWS)) > MAX_BYTES


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rows_per_person": "one", "typical_rows": 3}, "rows_per_person: many"),
        ({"rows_per_person": "many", "typical_rows": 0}, "typical_rows.*1"),
        ({"rows_per_person": "many", "typical_rows": MOST_TYPICAL_ROWS + 1}, "typical_rows.*100000"),
        ({"rows_per_person": "many", "typical_rows": 1.5}, "whole number"),
    ],
)
def test_typical_rows_that_cannot_be(fields, words):
    with pytest.raises(InvalidRequest, match=words):
        make_declaration(tables=[table_fields(**fields)])


def test_categories_and_missing_values():
    declaration = make_declaration(nominal_size=300)
    found = cells(declaration, declaration.tables[0].columns[2])
    assert set(found) == {"f", "m", "d", "n/a"}
    assert 30 < found.count("n/a") < 90


@given(BOUNDS, st.integers(0, 12), st.booleans())
def test_numbers_lie_inside_the_bounds(bounds, decimals, knows_typical):
    lower, upper = bounds
    if lower == upper:
        return
    typical = {"mean": upper, "sd": 1.0} if knows_typical else None
    declaration, column = one_column(
        kind="number", lower=lower, upper=upper, decimals=decimals, typical=typical
    )
    assert all(lower <= float(cell) <= upper for cell in cells(declaration, column))


@given(st.floats(-1e6, 1e6), st.floats(1, 10))
def test_whole_numbers_lie_inside_the_bounds(lower, width):
    declaration, column = one_column(lower=lower, upper=lower + width)
    found = [int(cell) for cell in cells(declaration, column)]
    assert all(math.ceil(lower) <= number <= math.floor(lower + width) for number in found)


@pytest.mark.parametrize("kind", ["number", "integer"])
def test_the_widest_bounds_that_a_float_can_hold(kind):
    declaration, column = one_column(kind=kind, lower=-1.7e308, upper=1.7e308)
    assert all(math.isfinite(float(cell)) for cell in cells(declaration, column))


def test_a_bids_twin_has_every_persons_files():
    declaration = make_declaration(
        layout="bids",
        person_files=[{"path": "{person}/anat/{person}_T1w.json", "twin_text": '{"id": "{person}"}'}],
        public_files=[{"path": "dataset_description.json", "text": "{}"}],
    )
    twin = make_twin(declaration)
    assert twin["dataset_description.json"] == b"{}"
    assert twin["sub-twin01/anat/sub-twin01_T1w.json"] == b'{"id": "sub-twin01"}'
    assert len(twin) == declaration.nominal_size + 3


def test_nothing_declared_hides_what_the_twin_is():
    declaration = make_declaration(public_files=[{"path": README, "text": "real data"}])
    assert LABEL in make_twin(declaration)[README].decode()
