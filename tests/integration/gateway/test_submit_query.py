"""Submitting a trusted query: what is refused, in which words, and what a view shows."""

from __future__ import annotations

from typing import Any

import pytest
from asking import Gateway, problem
from factories import given_dataset, policy_fields

from domain.job import own_id

JOB = "query-submit-1"
MEAN = {"kind": "mean", "column": "age"}


@pytest.fixture
def heights(gateway: Gateway) -> Gateway:
    """No image is known and none is needed."""
    with gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(images=[]))
    return gateway


def submit(gateway: Gateway, query: Any = None, *, job_id: str = JOB, **fields: Any):
    body = {"dataset": "heights", "query": query or MEAN, "epsilon": "0.5", **fields}
    return gateway.ask("PUT", f"/jobs/{job_id}", by="ada", json=body)


def test_a_query_becomes_a_job(heights: Gateway):
    answer = submit(heights)
    assert answer.status_code == 201
    view = answer.json()
    assert (view["state"], view["title"], view["mechanism"]) == ("QUEUED", "mean of age", "trusted_query")
    assert (view["guarantee"], view["cost"], view["runs"]) == ("pure_dp", {"epsilon": "0.5"}, 1)
    assert view["pipeline_digest"] is None
    assert view["choices"]["kind"] == "mean"
    before = heights.rows()
    assert (submit(heights).status_code, heights.rows()) == (200, before)
    assert submit(heights, epsilon="0.6").status_code == 409
    assert heights.ask("GET", f"/jobs/{JOB}", by="ada").json() == view


WRONG: list[tuple[dict[str, Any], str, str]] = [
    (
        {"kind": "median", "column": "age"},
        "query.kind",
        "Do you mean quantile, which gives the median where no probabilities are named? There are count, sum",
    ),
    ({"kind": "Average", "column": "age"}, "query.kind", "Do you mean mean? There are count, sum"),
    ({"kind": "histgram", "column": "age"}, "query.kind", "Do you mean histogram? There are count, sum"),
    ({"kind": "x" * 300, "column": "age"}, "query.kind", "There are count, sum, mean"),
    ({"column": "age"}, "query.kind", "Add it"),
    ({"kind": "mean"}, "query.column", "Add it"),
    ({"kind": "mean", "column": "weight"}, "query.column.weight", "There are: age, height"),
    ({"kind": "mean", "column": "sex"}, "query.column.sex", "There are: age, height"),
    ({"kind": "mean", "column": "participant_id"}, "query.column.participant_id", "There are"),
    ({"kind": "mean", "column": {"name": "age", "upper": 300}}, "query.column.age", "between 0 and 120"),
    ({**MEAN, "table": "other.tsv"}, "query.table", "There are: participants.tsv"),
    ({**MEAN, "by": ["age"]}, "query.by.0", "There are: sex"),
    ({**MEAN, "by": ["sex", "sex"]}, "query.by", "Name it once"),
    ({**MEAN, "contribution": {"rows": 2}}, "query.contribution", "Leave it out"),
    ({**MEAN, "contribution": {}}, "query.contribution", ""),
    ({"kind": "histogram", "column": "age"}, "query.bins", "bins: 10"),
    ({"kind": "histogram", "column": "age", "bins": 1}, "query.bins", "2 or more"),
    ({"kind": "histogram", "column": "age", "edges": [50, 20]}, "query", ""),
    ({"kind": "quantile", "column": "age", "probabilities": ["0.5", "1.5"]}, "query.probabilities.1", ""),
    ({"kind": "covariance", "columns": ["age"]}, "query.columns", ""),
    ({**MEAN, "sql": "DROP TABLE jobs"}, "query.sql", "Remove it"),
]


def test_what_is_wrong_is_named(heights: Gateway, subtests: pytest.Subtests):
    before = heights.rows()
    for query, field, fix in WRONG:
        with subtests.test(str(query)):
            first = problem(submit(heights, query), status=422)
            assert first["field"] == field
            assert fix in first["fix"]
            assert heights.rows() == before


WHERE: list[tuple[dict[str, Any], str]] = [
    ({"column": "age", "operator": "~", "value": 3}, "query.where.0.operator"),
    ({"column": "age", "operator": "=", "value": "old"}, "query.where.0.value"),
    ({"column": "age", "operator": "=", "value": True}, "query.where.0.value"),
    ({"column": "age", "operator": "=", "value": 10**400}, "query.where.0.value"),
    ({"column": "age", "operator": "in", "value": []}, "query.where.0"),
    ({"column": "age", "operator": "in", "value": [1, "a"]}, "query.where.0.value"),
    ({"column": "age", "operator": "=", "value": [1]}, "query.where.0"),
    ({"column": "sex", "operator": "=", "value": "x"}, "query.where.0.value"),
    ({"column": "sex", "operator": "=", "value": 1}, "query.where.0.value"),
    ({"column": "sex", "operator": "<", "value": "f"}, "query.where.0.operator"),
    ({"column": "nobody", "operator": "=", "value": 1}, "query.where.0.column"),
]


def test_conditions_that_cannot_be(heights: Gateway, subtests: pytest.Subtests):
    for where, field in WHERE:
        with subtests.test(str(where)[:100]):
            answer = submit(heights, {**MEAN, "where": [where]})
            assert problem(answer, status=422)["field"] == field


def test_an_epsilon_that_is_too_small_for_the_question(heights: Gateway):
    shares = [f"0.{share:03d}" for share in range(1, 20)]
    answer = submit(heights, {"kind": "quantile", "column": "age", "probabilities": shares}, epsilon="0.001")
    assert "raise epsilon" in problem(answer, status=422)["problem"]


def test_the_policy_holds_for_queries(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(max_epsilon_per_job="0.2"))
    answer = submit(gateway)
    assert problem(answer, status=422)["field"] == "epsilon"
    with gateway.database.transaction() as connection:
        given_dataset(
            connection,
            name="other",
            policy=policy_fields(guarantees=["empirical"]),
            budget_releases=5,
            new_people=True,
        )
    answer = submit(gateway, dataset="other")
    assert "pure_dp" in problem(answer, status=403)["problem"]


def test_too_many_groups_for_what_is_kept(gateway: Gateway):
    columns = [
        {"name": "participant_id", "kind": "person"},
        {"name": "age", "kind": "number", "lower": 0, "upper": 100},
        {"name": "code", "kind": "categorical", "categories": [f"c{i}" for i in range(40)]},
    ]
    with gateway.database.transaction() as connection:
        given_dataset(
            connection, policy=policy_fields(), tables=[{"path": "participants.tsv", "columns": columns}]
        )
    quantile = {"kind": "quantile", "column": "age"}
    assert submit(gateway, {**quantile, "by": ["code"]}).status_code == 422
    assert submit(gateway, {**MEAN, "by": ["code"]}, anyway=True).status_code == 201


def test_a_job_that_waits_for_approval(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(approve_jobs=True))
    assert submit(gateway).json()["state"] == "SUBMITTED"
    own = own_id("ada", JOB)
    answer = gateway.ask("POST", f"/jobs/{own}/decision?decision=approve", by="holder")
    assert answer.json()["state"] == "QUEUED"
