"""Each kind of bad input is refused with the field's name and words that help, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from factories import (
    column_fields,
    declaration_fields,
    job_request_fields,
    make_column,
    manifest_fields,
    policy_fields,
    table_fields,
)

from domain.dataset import Column, Declaration
from domain.errors import InvalidRequest
from domain.job import JobRequest, check_job_id
from domain.model import parse
from domain.permissions import User
from domain.pipeline import Manifest, OutputFile, Pipeline, Source
from domain.policy import Policy, Timing

VALUE = {"name": "mean", "lower": 0, "upper": 1}
SAME_COLUMN = [{"name": "id", "kind": "person"}, column_fields(), column_fields()]


def output(**overrides: Any) -> dict[str, Any]:
    return {"file": "result.tsv", "values": [VALUE], **overrides}


def value(**overrides: Any) -> dict[str, Any]:
    return output(values=[{**VALUE, **overrides}])


def column(**overrides: Any) -> dict[str, Any]:
    return column_fields(**overrides)


def without(fields: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: content for name, content in fields.items() if name != key}


# model, data, the field that must be named, a piece of what the person reads
TABLE: list[tuple[Any, Any, str, str]] = [
    # unknown and missing keys
    (Policy, policy_fields(epsilon=1), "epsilon", "not a known field. Remove it"),
    (Declaration, declaration_fields(budget=1), "budget", "not a known field"),
    (Manifest, manifest_fields(network=True), "network", "not a known field"),
    (Manifest, manifest_fields(resources={"gpus": 1}), "resources.gpus", "not a known field"),
    (JobRequest, job_request_fields(seed=1), "seed", "not a known field"),
    (JobRequest, without(job_request_fields(), "mechanism"), "mechanism", "is missing. Add it."),
    (Declaration, without(declaration_fields(), "privacy_unit"), "privacy_unit", "is missing. Add it."),
    (Declaration, [], "body", "an object of names and values"),
    # bounds
    (
        Column,
        without(column(), "upper"),
        "body",
        "column age: lower and upper bounds are missing; declare both",
    ),
    (Column, column(lower=None), "body", "column age: lower and upper bounds are missing"),
    (Column, column(lower=5, upper=5), "body", "column age: lower must be less than upper"),
    (Column, column(lower=5, upper=4), "body", "column age: lower must be less than upper"),
    (Column, column(lower="0"), "lower", "must be a number"),
    (Column, column(lower=False), "lower", "must be a number"),
    (Column, column(upper=float("nan")), "upper", "finite number"),
    (Column, column(upper=float("inf")), "upper", "finite number"),
    (Column, column(upper=10**400), "upper", "number"),
    (OutputFile, output(values=[without(VALUE, "lower")]), "values.0.lower", "is missing. Add it."),
    (OutputFile, value(upper=0), "values.0", "mean: lower must be less than upper"),
    (OutputFile, value(upper=-1), "values.0", "mean: lower must be less than upper"),
    (OutputFile, value(lower=float("-inf")), "values.0.lower", "finite number"),
    (OutputFile, value(upper=5e-324), "values.0", "mean: lower and upper are closer than 1e-290"),
    (OutputFile, value(upper=1e301), "values.0", "mean: upper is beyond 1e300"),
    (Column, column(lower=0.2, upper=0.8), "body", "column age: no whole number lies between"),
    (OutputFile, value(upper="1"), "values.0.upper", "must be a number"),
    # epsilon
    *[
        (JobRequest, job_request_fields(epsilon=wrong), "mechanism.epsilon", words)
        for wrong, words in [
            (0, "must be above zero"),
            (-1, "must be above zero"),
            ("-0.5", "must be above zero"),
            (float("nan"), "finite number"),
            ("NaN", "finite number"),
            (float("inf"), "finite number"),
            ("-Infinity", "finite number"),
            (1e-18, "below 0.001"),
            ("0.0009", "below 0.001"),
            ("0.1234567", "more than 6 decimal places"),
            (1001, "above 1000"),
            ("1e999999999", "above 1000"),
            ("much", "must be a number such as"),
            ("1_0", "must be a number such as"),
            ("１", "must be a number such as"),
            ("9" * 100, "must be a number such as"),
            ("", "must be a number such as"),
            (True, "not true or false"),
            (None, "must be a number such as"),
            ([1], "must be a number such as"),
        ]
    ],
    (Declaration, declaration_fields(budget_epsilon=0), "budget_epsilon", "must be above zero"),
    (Policy, policy_fields(max_epsilon_per_job="1e-18"), "max_epsilon_per_job", "below 0.001"),
    # paths that leave their folder
    *[
        (model, {**fields, key: wrong}, key, words)
        for model, key, fields in [
            (OutputFile, "file", output()),
            (Source, "path", {"content_base64": ""}),
        ]
        for wrong, words in [
            ("/etc/result.tsv", "must be a relative path"),
            ("../result.tsv", "must stay inside its folder"),
            ("a/../../result.tsv", "must stay inside its folder"),
            ("./result.tsv", "must stay inside its folder"),
            ("a//result.tsv", "must stay inside its folder"),
            ("..\\result.tsv", "must be a relative path"),
            ("a\0.tsv", "must be a relative path"),
            ("", "needs 1 characters or more"),
            ("a" * 300 + ".tsv", "at most 240"),
        ]
    ],
    (OutputFile, output(file="result.exe"), "file", "let it end in .tsv"),
    (OutputFile, output(file="result.tsv/"), "file", ""),
    (Declaration, declaration_fields(tables=[table_fields(path="../p.tsv")]), "tables.0.path", "inside"),
    (
        Declaration,
        declaration_fields(public_files=[{"path": "/etc/passwd", "text": ""}]),
        "public_files.0.path",
        "relative",
    ),
    (
        Declaration,
        declaration_fields(layout="bids", person_files=[{"path": "x/a{person}.txt"}]),
        "person_files.0",
        "must hold {person} as a folder",
    ),
    (
        Declaration,
        declaration_fields(layout="bids", person_files=[{"path": "{person}/../../a"}]),
        "person_files.0.path",
        "must stay inside",
    ),
    # names twice
    (Declaration, declaration_fields(tables=[table_fields(), table_fields()]), "body", "declared twice"),
    (
        Declaration,
        declaration_fields(public_files=[{"path": "participants.tsv", "text": ""}]),
        "body",
        "the file participants.tsv is declared twice",
    ),
    (
        Declaration,
        declaration_fields(tables=[table_fields(columns=SAME_COLUMN)]),
        "tables.0",
        "column age is declared twice",
    ),
    (Manifest, manifest_fields(outputs=[output(), output(file="b.tsv")]), "body", "the same name"),
    (
        Manifest,
        manifest_fields(outputs=[output(), output(values=[{**VALUE, "name": "sd"}])]),
        "body",
        "name the same file",
    ),
    (
        Pipeline,
        {"manifest": manifest_fields(), "sources": [{"path": "a", "content_base64": ""}] * 2},
        "body",
        "two source files have the same path",
    ),
    (
        Pipeline,
        {
            "manifest": manifest_fields(),
            "sources": [{"path": path, "content_base64": ""} for path in ("a/b", "a")],
        },
        "body",
        "the source file a/b lies inside another",
    ),
    (
        Declaration,
        declaration_fields(public_files=[{"path": "participants.tsv/x", "text": ""}]),
        "body",
        "the file participants.tsv/x lies inside the path of another declared file",
    ),
    # sizes and limits
    (JobRequest, job_request_fields(block_size=0), "mechanism.block_size", "is below 1."),
    (JobRequest, job_request_fields(block_size=10.0), "mechanism.block_size", "must be a whole number"),
    (JobRequest, job_request_fields(block_size=True), "mechanism.block_size", "must be a whole number"),
    (JobRequest, job_request_fields(block_size=10**9), "mechanism.block_size", "is above 1"),
    (Declaration, declaration_fields(nominal_size=5), "nominal_size", "is below 6."),
    (Manifest, manifest_fields(resources={"wall_seconds": 0}), "resources.wall_seconds", "is below 0.2."),
    (Manifest, manifest_fields(resources={"memory_mib": 1}), "resources.memory_mib", "is below 32."),
    (Manifest, manifest_fields(command=[], image="host-python"), "command", "no entry point"),
    (Manifest, manifest_fields(command=["a\0b"]), "command.0", "one plain line"),
    (
        Manifest,
        manifest_fields(levels=["group", "participant"]),
        "body",
        "levels are [group], [participant] or [participant, group]",
    ),
    (Manifest, manifest_fields(name="Mean Age"), "name", "Use small letters, digits and hyphens."),
    (Source, {"path": "a", "content_base64": "?"}, "content_base64", "must be base64"),
    (Timing, {"mode": "coarse"}, "body", "step_seconds is needed with mode coarse"),
    (Timing, {"mode": "padded", "step_seconds": 5}, "body", "step_seconds is needed with mode coarse"),
    (Timing, {"mode": "none"}, "mode", "must be padded or coarse."),
    (User, {"name": "ada\n", "role": "operator"}, "name", "small letters"),
    (User, {"name": "ada", "role": "root"}, "role", "must be data_user, rights_holder or operator."),
    (Policy, {"data_users": ["ada", "Ada B"]}, "data_users.1", "no short name"),
    # the privacy unit
    (
        Declaration,
        declaration_fields(privacy_unit={"table": "other.tsv", "column": "participant_id"}),
        "body",
        "privacy_unit.table other.tsv is not among the declared tables",
    ),
    (
        Declaration,
        declaration_fields(privacy_unit={"table": "participants.tsv", "column": "age"}),
        "body",
        "privacy_unit.column age must be the column of kind person",
    ),
    (
        Declaration,
        declaration_fields(tables=[table_fields(columns=[column_fields()])]),
        "tables.0",
        "exactly one column must have kind person",
    ),
    (Column, {"name": "sex", "kind": "categorical"}, "body", "column sex: categories are missing; declare"),
    (Column, {"name": "a\tb", "kind": "person"}, "name", "one plain line"),
    # text that no file or database can hold
    (Declaration, declaration_fields(title="\ud800"), "title", "Unicode"),
    (Declaration, declaration_fields(description="\ud800"), "description", "Unicode"),
]


def test_is_refused_by_name(subtests):
    for model, data, field, words in TABLE:
        with subtests.test(model=model, data=data, field=field, words=words):
            with pytest.raises(InvalidRequest) as refusal:
                parse(model, data)
            problems = refusal.value.problems
            assert field in [problem.field for problem in problems]
            assert words in " ".join(str(problem) for problem in problems)


def test_every_wrong_field_is_named_at_once():
    with pytest.raises(InvalidRequest) as refusal:
        parse(Policy, policy_fields(max_epsilon_per_job=0, min_block_size=0, extra=1), within="policy")
    fields = {problem.field for problem in refusal.value.problems}
    assert fields == {"policy.max_epsilon_per_job", "policy.min_block_size", "policy.extra"}


def test_a_list_with_one_wrong_item_is_not_called_empty_as_well():
    with pytest.raises(InvalidRequest) as refusal:
        parse(OutputFile, value(upper=-1))
    assert [problem.field for problem in refusal.value.problems] == ["values.0"]


def test_a_whole_number_may_stand_for_a_number():
    assert make_column(lower=0, upper=1).upper == 1


A_JOB_ID_THAT_CANNOT_STAND_IN_A_URL = (
    "short",
    "a" * 65,
    "../../etc",
    "a b c d e f g h",
    "-abcdefgh",
    "abcdefgh\n",
    "ａｂｃｄｅｆｇｈ",
)


def test_a_job_id_that_cannot_stand_in_a_url(subtests):
    for wrong in A_JOB_ID_THAT_CANNOT_STAND_IN_A_URL:
        with (
            subtests.test(wrong=wrong),
            pytest.raises(InvalidRequest, match="job_id: must be 8 to 64"),
        ):
            check_job_id(wrong)


def test_a_uuid_is_a_job_id():
    assert check_job_id("8c5e8d7e-98f6-4a4e-9a6b-0f3f7a2a9f10")
