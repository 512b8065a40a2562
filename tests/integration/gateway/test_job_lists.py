"""The list of jobs: part by part, in one order, by what is asked for, and at one price however long it is."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from asking import Gateway, problem
from factories import NOW, given_dataset, given_job
from sqlalchemy import event
from sqlalchemy.dialects import sqlite

from domain.states import JobState
from store.job_lists import NEWEST_FIRST
from store.tables import jobs as job_rows

STATES = (JobState.RELEASED, JobState.QUEUED, JobState.SUBMITTED)
EVERY = 9


@pytest.fixture(scope="module")
def told(shared_gateway: Gateway) -> Gateway:
    """Nine jobs of ada on two data sets, three at each moment, and one of bob."""
    with shared_gateway.database.transaction() as connection:
        for name in ("heights", "weights"):
            given_dataset(connection, name=name, budget_epsilon="40")
        for number in range(EVERY):
            given_job(
                connection,
                job_id=f"job-{number:05d}",
                dataset=("heights", "weights")[number % 2],
                epsilon=f"0.{number + 1}",
                state=STATES[number % 3] if number % 3 else JobState.QUEUED,
                now=NOW + timedelta(days=number // 3),
            )
        given_job(connection, job_id="job-of-bob", author="bob", epsilon="1")
    return shared_gateway


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [job["id"] for job in answer.json()]


def test_parts_follow_each_other_without_a_gap_or_a_repeat(told: Gateway) -> None:
    whole = ids(told.ask("GET", "/jobs", by="ada"))
    assert whole == sorted(whole, reverse=True)
    assert len(whole) == EVERY
    found: list[str] = []
    path = "/jobs?limit=2"
    while True:
        answer = told.ask("GET", path, by="ada")
        found += ids(answer)
        link = answer.headers.get("link")
        if link is None:
            break
        match = re.fullmatch(r'</api/v1(/jobs\?.*)>; rel="next"', link)
        assert match is not None
        path = match[1]
    assert found == whole


def test_what_is_asked_for_is_what_comes(told: Gateway, subtests: pytest.Subtests) -> None:
    day = (NOW + timedelta(days=2)).date()
    for wanted, count in (
        ("state=SUBMITTED", 3),
        ("state=SUBMITTED&state=QUEUED", EVERY),
        ("dataset=weights", 4),
        (f"since={day}", 3),
        (f"since={day}&dataset=weights", 1),
        ("dataset=nothing", 0),
    ):
        with subtests.test(msg=wanted):
            assert len(ids(told.ask("GET", f"/jobs?{wanted}", by="ada"))) == count
            assert len(ids(told.ask("GET", f"/jobs?{wanted}&limit=1", by="ada"))) == min(count, 1)


def test_the_next_part_keeps_what_was_asked(told: Gateway) -> None:
    answer = told.ask("GET", "/jobs?state=QUEUED&state=SUBMITTED&dataset=weights&limit=3", by="ada")
    link = answer.headers["link"]
    assert "state=QUEUED&state=SUBMITTED&dataset=weights" in link
    assert f"before={ids(answer)[-1]}" in link


def test_a_place_in_the_list_is_no_way_to_ask_for_jobs_of_others(told: Gateway) -> None:
    refused = [
        problem(told.ask("GET", f"/jobs?before={job_id}", by="ada"), status=422)
        for job_id in ("job-of-bob", "job-of-nobody")
    ]
    assert refused[0] == refused[1]
    assert refused[0]["field"] == "before"


@pytest.mark.parametrize(
    "wrong", ["state=DONE", "since=yesterday", "limit=0", "limit=1001", "before=x", "page=2"]
)
def test_what_cannot_be_understood_is_refused(told: Gateway, wrong: str) -> None:
    assert problem(told.ask("GET", f"/jobs?{wrong}", by="ada"), status=422)["field"].startswith(
        wrong.partition("=")[0]
    )


@pytest.mark.parametrize("by", ["ada", "holder", "olga"])
def test_a_long_list_asks_the_database_as_often_as_a_short_one(told: Gateway, by: str) -> None:
    assert statements(told, "/jobs?limit=9", by) == statements(told, "/jobs?limit=1", by)


def statements(gateway: Gateway, path: str, by: str) -> int:
    found = []

    def note(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    event.listen(sa.engine.Engine, "before_cursor_execute", note)
    try:
        assert ids(gateway.ask("GET", path, by=by))
    finally:
        event.remove(sa.engine.Engine, "before_cursor_execute", note)
    return len(found)


def test_a_list_reads_no_more_jobs_than_it_shows(sqlite_template: Path) -> None:
    """The database finds the newest of an author by an index: requests of all others may be long."""
    query = sa.select(job_rows.c.id).where(job_rows.c.author == "ada").order_by(*NEWEST_FIRST).limit(2)
    text = str(query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
    with closing(sqlite3.connect(f"file:{sqlite_template}?mode=ro", uri=True)) as connection:
        plan = " ".join(str(row) for row in connection.execute(f"EXPLAIN QUERY PLAN {text}"))
    assert "ix_jobs_author_created_at_id" in plan
    assert "TEMP B-TREE" not in plan
