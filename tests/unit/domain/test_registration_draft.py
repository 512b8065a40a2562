"""A declaration in the making: every problem belongs to a step, and what is complete reads back the same."""

from __future__ import annotations

import pytest
from factories import declaration_fields, table_fields

from domain.dataset import Declaration
from domain.errors import FieldProblem, InvalidRequest
from domain.model import parse
from domain.registration_draft import (
    FIELDS,
    STEPS,
    as_yaml,
    by_step,
    declared,
    new_draft,
    problems,
    step_of,
    taken_up,
)  # fmt: skip
from formats.yaml_text import read_yaml


def test_every_field_of_a_declaration_has_one_step():
    assert set(FIELDS) == set(Declaration.model_fields)
    assert sum(len(step.fields) for step in STEPS) == len(FIELDS)


def test_a_new_draft_asks_for_what_only_people_know():
    found = by_step(problems(new_draft()))
    assert {step: [p.field for p in wrong] for step, wrong in found.items() if wrong} == {
        "about": ["name", "title"], "unit": ["nominal_size"], "budget": ["budget_epsilon"],
    }  # fmt: skip


A_PROBLEM_LEADS_TO_THE_STEP_THAT_MENDS_IT = (
    ({"name": "Bad Name"}, "about"),
    ({"nominal_size": 3}, "unit"),
    ({"tables": [table_fields(columns=[{"name": "age", "kind": "number"}])]}, "tables"),
    ({"tables": []}, "tables"),
    ({"privacy_unit": {"table": "other.tsv", "column": "participant_id"}}, "tables"),
    ({"person_files": [{"path": "{person}/a.txt"}]}, "files"),
    ({"public_files": [{"path": "README", "text": "x"}] * 2}, "files"),
    ({"excluded": ["participants.tsv"]}, "files"),
    ({"accounting": "zcdp"}, "budget"),
    ({"budget_nats": "0.9"}, "budget"),
    ({"policy": {"max_epsilon_per_job": "-1"}}, "policy"),
    ({"policy": {"approve_jobs": True, "approve_jobs_above": "1"}}, "policy"),
    ({"layout": "bids", "folders": "none"}, "unit"),
)


def test_a_problem_leads_to_the_step_that_mends_it(subtests: pytest.Subtests):
    for fields, step in A_PROBLEM_LEADS_TO_THE_STEP_THAT_MENDS_IT:
        with subtests.test(fields=fields, step=step):
            found = by_step(problems(declaration_fields(**fields)))
            assert found[step], found
            assert not found["check"]


def test_a_sentence_of_unknown_words_is_shown_at_the_check():
    assert step_of(FieldProblem("body", "something new is wrong", "")) == "check"


def test_the_yaml_of_a_complete_draft_is_the_same_declaration():
    fields = declaration_fields(
        public_files=[{"path": "README", "text": "one\ntwo\n"}], policy={"data_users": ["ada"], "images": []}
    )
    declaration = declared(fields)
    assert parse(Declaration, read_yaml(as_yaml(declaration))) == declaration
    assert "lower: 0\n" in as_yaml(declaration)


def test_the_unit_is_the_first_table_and_its_column_of_people():
    fields = declaration_fields()
    del fields["privacy_unit"]
    assert declared(fields).privacy_unit.column == "participant_id"
    assert fields.get("privacy_unit") is None, "what was typed is not changed"


WHAT_NO_STEP_COULD_SHOW_IS_NOT_TAKEN_UP = (
    {"tables": 5},
    {"tables": [3]},
    {"tables": [{"columns": {"a": 1}}]},
    {"tables": [{"columns": ["a"]}]},
    {"person_files": "x"},
    {"public_files": [None]},
    {"policy": []},
    {"privacy_unit": "participant"},
    {"nmae": "x"},
    {"policy": {"data_user": ["ada"]}},
)


def test_what_no_step_could_show_is_not_taken_up(subtests: pytest.Subtests):
    for content in WHAT_NO_STEP_COULD_SHOW_IS_NOT_TAKEN_UP:
        with subtests.test(content=content), pytest.raises(InvalidRequest):
            taken_up(content)


def test_wrong_values_are_taken_up_to_be_mended():
    content = {
        "name": 5,
        "nominal_size": "many",
        "tables": [{"path": [], "columns": [{"name": 1, "kind": {}}]}],
    }
    assert taken_up(content) is content
    assert problems(content)
