"""Requests for trusted queries: parsed once, checked against the declaration alone, public throughout."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from factories import make_declaration, table_fields
from pydantic import TypeAdapter

from domain.dataset import Column
from domain.errors import InvalidRequest
from domain.job import AnyRequest, JobRequest
from domain.model import parse
from domain.query import QueryRequest, check_query
from privacy.cost import Currency
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.trusted import Groups

SNAPSHOT = "keyed:" + "0" * 64
AGE = Column(name="age", kind="integer", lower=0, upper=120)


def make_request(query: dict[str, Any], **overrides: Any) -> QueryRequest:
    return parse(QueryRequest, {"dataset": "heights", "query": query, "epsilon": "0.5", **overrides})


def question(query: dict[str, Any], **overrides: Any) -> str:
    return make_request(query, **overrides).question(dataset_id="d", image_digest=None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"kind": "mean", "column": "age"}, {"kind": "mean", "column": {"name": "age"}}),
        (
            {"kind": "quantile", "column": "age", "probabilities": [0.5, ".750"]},
            {"kind": "quantile", "column": "age", "probabilities": ["0.50", "0.75"]},
        ),
        (
            {"kind": "count", "where": [{"column": "age", "operator": "=", "value": 40}]},
            {"kind": "count", "where": [{"column": "age", "operator": "=", "value": 40.0}]},
        ),
        ({"kind": "count"}, {"kind": "count", "where": [], "by": []}),
    ],
)
def test_two_spellings_of_one_question(one, other):
    assert question(one) == question(other)
    assert question(one) == question(one, epsilon=0.50)
    assert question(one) != question(one, epsilon="0.6")


def test_other_questions_are_others():
    asked = [
        {"kind": "count"},
        {"kind": "count", "by": ["sex"]},
        {"kind": "sum", "column": "age"},
        {"kind": "mean", "column": "age"},
        {"kind": "mean", "column": "height"},
        {"kind": "mean", "column": {"name": "age", "upper": 100}},
        {"kind": "mean", "column": "age", "contribution": {"rows": 1}},
        {"kind": "mean", "column": "age", "contribution": {"reduce": "mean"}},
    ]
    assert len({question(query) for query in asked}) == len(asked)


def test_what_a_request_is():
    request = make_request({"kind": "regression", "features": ["age"], "target": "height"}, project="p")
    declaration = make_declaration()
    assert (request.title, request.mechanism_name) == ("regression of age, height", "trusted_query")
    assert (request.guarantee, request.pipeline_digest) == (GuaranteeClass.PURE_DP, None)
    assert request.once_key(snapshot=SNAPSHOT) is None
    assert request.choices() == {
        "epsilon": "0.5",
        "kind": "regression",
        "features": [{"name": "age"}],
        "target": {"name": "height"},
    }
    assert dict(request.cost(declaration)) == {Currency.EPSILON: 500_000}
    assert request.outputs(declaration) == ("intercept", "slope(age)", "count")
    assert make_request({"kind": "count"}).title == "count"


def test_on_record_it_reads_back_as_it_was():
    read = TypeAdapter(AnyRequest)
    request = make_request({"kind": "mean", "column": "age", "by": ["sex"]})
    assert read.validate_python(request.model_dump(mode="json")) == request
    assert read.validate_python(request) == request
    assert not isinstance(read.validate_python(request.model_dump(mode="json")), JobRequest)


EVERY_NUMBER_HAS_A_NAME = (
    ({"kind": "sum", "column": "age"}, ("sum",)),
    ({"kind": "mean", "column": "age"}, ("mean", "count")),
    ({"kind": "variance", "column": "age"}, ("variance", "mean", "count")),
    ({"kind": "histogram", "column": "age", "bins": 3}, ("0..40", "40..80", "80..120")),
    ({"kind": "histogram", "column": "age", "edges": [18, 67.5]}, ("0..18", "18..67.5", "67.5..120")),
    ({"kind": "quantile", "column": "age", "probabilities": [0.9]}, ("quantile 0.9",)),
    (
        {"kind": "covariance", "columns": ["age", "height"]},
        (
            "cov(age, age)",
            "cov(age, height)",
            "cov(height, height)",
            "mean(age)",
            "mean(height)",
            "count",
        ),
    ),
    ({"kind": "count", "by": ["sex"]}, ("f: count", "m: count", "d: count")),
)


def test_every_number_has_a_name(subtests):
    for query, names in EVERY_NUMBER_HAS_A_NAME:
        with subtests.test(query=query, names=names):
            request, declaration = make_request(query), make_declaration()
            check_query(request, declaration)
            assert request.outputs(declaration) == names
            assert len(request.mechanism_for(declaration).steps) == len(names)


def test_groups_by_two_columns_are_all_pairs():
    table = table_fields()
    table["columns"].append({"name": "hand", "kind": "categorical", "categories": ["l", "r"]})
    declaration = make_declaration(tables=[table])
    request = make_request({"kind": "count", "by": ["hand", "sex"]})
    assert request.groups(declaration)[:2] == (("l", "f"), ("l", "m"))
    mechanism = request.mechanism_for(declaration)
    assert isinstance(mechanism, Groups)
    assert mechanism.groups == 6
    assert request.outputs(declaration)[0] == "l, f: count"


def test_the_schedule_follows_from_the_declaration_alone():
    declaration = make_declaration()
    many = make_declaration(tables=[table_fields(rows_per_person="many")])
    request = make_request({"kind": "count"})
    one = request.schedule(declaration, slots=3)
    assert (one.runs, one.chunks, one.slots) == (1, 1, 3)
    assert request.schedule(many, slots=3).wall_s > one.wall_s
    asked = make_request({"kind": "mean", "column": "age", "by": ["sex"]})
    assert asked.schedule(declaration, slots=3) == one


@pytest.mark.parametrize(
    ("asked", "rows"), [(None, 1), ({"reduce": "least"}, 1), ({"rows": 1}, 1), ({"rows": 20}, 20)]
)
def test_rows_of_a_person(asked, rows):
    many = make_declaration(tables=[table_fields(rows_per_person="many")])
    request = make_request({"kind": "count", "contribution": asked})
    check_query(request, many)
    assert request.mechanism_for(many).rows == rows


def test_narrower_bounds_mean_less_noise():
    declaration = make_declaration()
    wide = make_request({"kind": "sum", "column": "age"}).mechanism_for(declaration)
    narrow = make_request({"kind": "sum", "column": {"name": "age", "upper": 60}}).mechanism_for(declaration)
    assert narrow.grids == (OutputGrid.build(0, 60),)
    assert Fraction(narrow.parameters()["noise_scale"]) * 2 == Fraction(wide.parameters()["noise_scale"])


@pytest.mark.parametrize(
    "column",
    [
        {"name": "age", "lower": -1},
        {"name": "age", "upper": 121},
        {"name": "age", "lower": 120},
        {"name": "age", "lower": 50, "upper": 50 + 1e-300},
        {"name": "age", "lower": 1e-305, "upper": 2e-305},
    ],
)
def test_bounds_that_cannot_be(column):
    with pytest.raises(InvalidRequest, match=r"query\.column"):
        check_query(make_request({"kind": "mean", "column": column}), make_declaration())


VALUES_THAT_ARE_NONE = ("x" * 201, None, True, float("nan"), float("inf"), 10**400, {}, [[1]])


def test_values_that_are_none(subtests):
    for value in VALUES_THAT_ARE_NONE:
        with (
            subtests.test(value=value),
            pytest.raises(InvalidRequest, match=r"query\.where\.0\.value"),
        ):
            make_request({"kind": "count", "where": [{"column": "age", "operator": "=", "value": value}]})


def test_shares_that_are_none(subtests):
    for share in (0, 1, "0.0", "1.5", "0.1234", "half", "٠.٥", None, [0.5]):
        with (
            subtests.test(share=share),
            pytest.raises(InvalidRequest, match=r"query\.probabilities\.0"),
        ):
            make_request({"kind": "quantile", "column": "age", "probabilities": [share]})


def where(column: str, operator: str, value: Any) -> dict[str, Any]:
    return {"kind": "count", "where": [{"column": column, "operator": operator, "value": value}]}


WHAT_IS_WRONG_IS_NAMED_AND_NOTHING_OF_THE_DATA_IS_NEEDED = (
    ({"kind": "mean", "column": "weight"}, "query.column.weight"),
    ({"kind": "mean", "column": "sex"}, "query.column.sex"),
    ({"kind": "covariance", "columns": ["age", "sex"]}, "query.columns.sex"),
    ({"kind": "mean", "column": {"name": "age", "lower": 2, "upper": 1}}, "query.column"),
    ({"kind": "count", "table": "other.tsv"}, "query.table"),
    ({"kind": "count", "by": ["age"]}, "query.by.0"),
    ({"kind": "count", "by": ["sex", "sex"]}, "query.by"),
    ({"kind": "count", "contribution": {"rows": 2}}, "query.contribution"),
    ({"kind": "count", "contribution": {"rows": 2, "reduce": "mean"}}, "query.contribution"),
    ({"kind": "histogram", "column": "age"}, "query.bins"),
    ({"kind": "histogram", "column": "age", "bins": 3, "edges": [5]}, "query.bins"),
    ({"kind": "histogram", "column": "age", "edges": [50, 20]}, "query"),
    (where("age", "in", []), "query.where.0"),
    (where("age", "in", [1, "a"]), "query.where.0.value"),
    (where("age", "=", [1]), "query.where.0"),
    (where("age", "=", "old"), "query.where.0.value"),
    (where("sex", "=", 1), "query.where.0.value"),
    (where("sex", "in", ["f", "x"]), "query.where.0.value"),
    (where("sex", "<", "f"), "query.where.0.operator"),
    (where("participant_id", "=", "sub-1"), "query.where.0.column"),
)


def test_what_is_wrong_is_named_and_nothing_of_the_data_is_needed(subtests):
    for query, field in WHAT_IS_WRONG_IS_NAMED_AND_NOTHING_OF_THE_DATA_IS_NEEDED:
        with subtests.test(query=query, field=field):
            with pytest.raises(InvalidRequest) as caught:
                check_query(make_request(query), make_declaration())
            assert caught.value.problems[0].field == field


def test_more_numbers_than_anybody_reads():
    table = table_fields()
    codes = [f"c{number}" for number in range(30)]
    table["columns"] += [
        {"name": name, "kind": "categorical", "categories": codes} for name in ("one", "other")
    ]
    declaration = make_declaration(tables=[table])
    check_query(make_request({"kind": "mean", "column": "age", "by": ["one", "other"]}), declaration)
    request = make_request({"kind": "variance", "column": "age", "by": ["one", "other"]})
    with pytest.raises(InvalidRequest, match="too many groups"):
        check_query(request, declaration)
    with pytest.raises(InvalidRequest, match="too many groups"):
        check_query(make_request({"kind": "quantile", "column": "age", "by": ["one"]}), declaration)


def test_several_values_and_all_of_them():
    for query in (where("sex", "in", ["f", "m"]), where("age", ">", 3)):
        check_query(make_request(query), make_declaration())


def test_an_account_of_rho_is_charged_what_the_query_proves():
    declaration = make_declaration(accounting="zcdp", budget_delta="0.000001")
    costs = [
        dict(make_request(query, epsilon="1").cost(declaration))
        for query in (
            {"kind": "count", "by": ["sex"]},
            {"kind": "variance", "column": "age"},
            {"kind": "quantile", "column": "age", "probabilities": [0.25, 0.5]},
        )
    ]
    expected = (10**12 // 2, -(-(10**12) // 6), 10**12 // 16)
    assert costs == [{Currency.RHO: rho} for rho in expected]


def test_bins_of_a_wide_column_have_different_names():
    """Six digits would call two of them 1e+06..1e+06, and nobody knew which number is whose."""
    fields = table_fields()
    fields["columns"].append({"name": "income", "kind": "integer", "lower": 0, "upper": 2_000_000})
    declaration = make_declaration(tables=[fields])
    names = make_request(
        {"kind": "histogram", "column": "income", "edges": [1_000_001, 1_000_002, 1_000_003]}
    ).outputs(declaration)
    assert names == ("0..1000001", "1000001..1000002", "1000002..1000003", "1000003..2000000")
    short = make_request({"kind": "histogram", "column": "age", "edges": [18, 40.5]}).outputs(declaration)
    assert short == ("0..18", "18..40.5", "40.5..120")
