"""The form for trusted queries: what it makes of every kind, and what it refuses."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import Console, Visitor, running_console, words

from domain.job import own_id
from domain.states import JobState
from store import jobs, ledger

PLACE = "/datasets/heights/ask"
MEAN = {"kind": "mean", "column": "age", "epsilon": "0.5", "table": "participants.tsv"}


@pytest.fixture(scope="module")
def asked_console(
    told_database: Path, redis_socket: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    path = shutil.copy(told_database, tmp_path_factory.mktemp("asked") / "dpgate.db")
    with running_console(f"sqlite:///{path}", redis_socket) as console:
        yield console


@pytest.fixture
def ada(asked_console: Console) -> Iterator[Visitor]:
    with asked_console.visit("ada") as visitor:
        yield visitor


def send(visitor: Visitor, action: str = "check", **fields: Any) -> Any:
    data = {"csrf": visitor.hidden_field(), "action": action, **MEAN, **fields}
    return visitor.client.post(PLACE, data=data)


def accounts(console: Console) -> list[tuple[int, int]]:
    with console.database.reading() as connection:
        return [(a.reserved, a.spent) for a in ledger.list_accounts(connection, cohort="heights")]


KINDS = {
    "count": ({"kind": "count", "column": ""}, "releases: count"),
    "sum": ({"kind": "sum"}, "releases: sum"),
    "mean": ({}, "releases: mean; count"),
    "narrower": ({"lower": "20", "upper": "60"}, "releases: mean; count"),
    "variance": ({"kind": "variance"}, "releases: variance; mean; count"),
    "histogram": ({"kind": "histogram", "bins": "2"}, "releases: 16..53; 53..90"),
    "quantile": ({"kind": "quantile", "probabilities": "0.25, .5"}, "quantile 0.25; quantile 0.5"),
    "covariance": ({"kind": "covariance", "columns": ["age", "height"]}, "cov(age, height)"),
    "regression": (
        {"kind": "regression", "column": "height", "columns": ["age", "height"]},
        "releases: intercept; slope(age); count",
    ),
    "grouped": ({"by": ["sex"]}, "f: mean; f: count; m: mean"),
    "conditions": (
        {
            "where-column-0": "sex", "where-operator-0": "in", "where-value-0": "f, m",
            "where-column-1": "age", "where-operator-1": ">=", "where-value-1": "30",
        },
        "releases: mean; count",
    ),
    "many rows": (
        {"table": "visits.csv", "column": "score", "contribution": "rows", "rows": "2"},
        "releases: mean; count",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_says_what_it_releases_and_costs(ada: Visitor, name: str):
    fields, released = KINDS[name]
    answer = send(ada, **fields)
    assert answer.status_code == 200, words(answer)
    assert released in words(answer)
    assert "It costs 0.5 epsilon" in words(answer)
    assert "Differential privacy" in words(answer), "the class of the promise stands beside the number"


REFUSED = {
    "no epsilon": ({"epsilon": ""}, "epsilon"),
    "epsilon as words": ({"epsilon": "a little"}, "epsilon"),
    "too much": ({"epsilon": "1.5"}, "over the 1 that the policy"),
    "no kind": ({"kind": "secret"}, "query.kind"),
    "a column of another table": ({"column": "score"}, "is not a column of participants.tsv"),
    "bounds that are wider": ({"lower": "-5"}, "are not inside those declared"),
    "bounds reversed": ({"lower": "60", "upper": "20"}, "lower must be less than upper"),
    "bounds that are none": ({"upper": "old"}, "is not a number"),
    "bins that are none": ({"kind": "histogram", "bins": "ten"}, "is not a whole number"),
    "a share beyond one": ({"kind": "quantile", "probabilities": "1.5"}, "between 0 and 1"),
    "one column together": ({"kind": "covariance", "columns": ["age"]}, "query.columns"),
    "an unknown category": (
        {"where-column-0": "sex", "where-operator-0": "=", "where-value-0": "x"},
        "is not a declared category",
    ),
    "an order of categories": (
        {"where-column-0": "sex", "where-operator-0": "<", "where-value-0": "f"},
        "which have no order",
    ),
    "a word for a number": (
        {"where-column-0": "age", "where-operator-0": "<", "where-value-0": "old"},
        "is compared with a number",
    ),
    "too many groups": ({"by": ["sex", "site", "sex"]}, "named twice"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("action", ["check", "submit"])
def test_a_wrong_field_is_named_kept_and_costs_nothing(
    asked_console: Console, ada: Visitor, name: str, action: str
):
    fields, problem = REFUSED[name]
    before = accounts(asked_console)
    answer = send(ada, action, job_id="job-asked-0000", **fields)
    assert answer.status_code == 422, words(answer)
    assert problem in words(answer)
    assert (
        f'name="epsilon" inputmode="decimal" autocomplete="off" value="{fields.get("epsilon", "0.5")}"'
        in (answer.text)
    )
    assert accounts(asked_console) == before


def test_sent_twice_it_is_one_job(console: Console):
    with console.visit("ada") as visitor:
        shown = visitor.get(PLACE)
        found = re.search(r'name="job_id" value="([0-9a-f-]{36})"', shown.text)
        assert found
        for _ in range(2):
            answer = send(visitor, "submit", job_id=found[1])
            assert answer.headers["location"] == f"/jobs/{own_id('ada', found[1])}"
        assert console.state(own_id("ada", found[1])) is JobState.SUBMITTED
        with console.database.reading() as connection:
            asked = jobs.get(connection, own_id("ada", found[1])).request
        assert asked.title == "mean of age"


def test_the_id_of_another_job_is_not_taken(asked_console: Console, ada: Visitor):
    from story import RELEASED

    assert send(ada, "submit", job_id=RELEASED).status_code == 409
    assert send(ada, "submit", job_id="../x").status_code == 422
