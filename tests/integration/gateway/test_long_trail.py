"""A rights holder with more jobs than a statement takes values reads their trail at a short one's price."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from asking import Gateway
from factories import NOW, given_dataset, given_job
from form_browser import Browser
from sqlalchemy import event

from desk.spending import MOST_STANDINGS
from domain.permissions import Role, User
from domain.review import MAX_WAITING
from gateway.pages.session import COOKIE
from store import audit, ledger, sessions
from store.tables import jobs as job_rows
from store.tables import ledger_entries

MANY = sa.text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 66000) SELECT i FROM n"
)
PAGES = (
    "/", "/audit", "/audit.csv", "/reviews", "/account", "/jobs", "/datasets/heights", "/budget/heights",
)  # fmt: skip


def given_many_jobs_like(connection: sa.Connection, job_id: str) -> None:
    """PostgreSQL takes 65,535 values in one statement, SQLite 32,766."""
    columns = [column for column in job_rows.c if column.name not in ("id", "once")]
    count = MANY.columns(sa.column("i", sa.Integer)).subquery()
    name = sa.literal("job-many-") + sa.cast(count.c.i, sa.String)
    first = job_rows.c.id == job_id
    many = sa.select(name, *columns).where(first).select_from(job_rows.join(count, sa.true()))
    connection.execute(sa.insert(job_rows).from_select(["id", *(c.name for c in columns)], many))


def given_entries_of_all_jobs(connection: sa.Connection, account: int) -> None:
    """Past the ledger, whose room they would not have."""
    columns = ("account_id", "job_id", "action", "amount", "at")
    new = job_rows.c.id.startswith("job-many-")
    row = sa.select(
        sa.literal(account), job_rows.c.id, sa.literal("reserve"), sa.literal(1), job_rows.c.created_at
    )
    connection.execute(sa.insert(ledger_entries).from_select(columns, row.where(new)))


def asked(ask: Callable[[], httpx.Response]) -> tuple[httpx.Response, int]:
    """An answer, and how many statements it took."""
    said = []

    def note(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        said.append(statement)

    event.listen(sa.engine.Engine, "before_cursor_execute", note)
    try:
        answer = ask()
    finally:
        event.remove(sa.engine.Engine, "before_cursor_execute", note)
    assert answer.status_code == 200, answer.text
    return answer, len(said)


def seen_by(gateway: Gateway, holder: Browser) -> dict[str, tuple[httpx.Response, int]]:
    """What a rights holder is shown of their jobs and of what happened to them."""
    return {
        "events": asked(lambda: gateway.ask("GET", "/audit/events?limit=2", by="holder")),
        "entries": asked(lambda: gateway.ask("GET", "/datasets/heights/budget/entries", by="holder")),
        "waiting": asked(lambda: gateway.ask("GET", "/reviews", by="holder")),
        **{path: asked(lambda: holder.get(path)) for path in PAGES},  # noqa: B023
    }


def logged_in(gateway: Gateway, name: str) -> Browser:
    browser = Browser(gateway)
    with gateway.database.transaction() as connection:
        user = User(name=name, role=Role.RIGHTS_HOLDER)
        browser.http.cookies.set(COOKIE, sessions.open_session(connection, user, datetime.now(UTC)))
    return browser


def test_66_000_jobs_that_wait_cost_a_rights_holder_no_more_statements_than_two(
    gateway: Gateway, subtests: pytest.Subtests
) -> None:
    with gateway.database.transaction() as connection:
        given_dataset(connection, name="heights")
        for job_id in ("job-first", "job-next"):
            given_job(connection, job_id=job_id)
    with closing(logged_in(gateway, "holder")) as holder:
        few = seen_by(gateway, holder)
        with gateway.database.transaction() as connection:
            given_many_jobs_like(connection, "job-first")
            given_entries_of_all_jobs(connection, ledger.list_accounts(connection, cohort="heights")[0].id)
            audit.append(connection, at=NOW, actor="ada", action="job.submit", subject="job-many-66000")
        many = seen_by(gateway, holder)
    for what, (_, statements) in many.items():
        with subtests.test(what):
            assert statements == few[what][1]
    assert [each["subject"] for each in many["events"][0].json()] == ["job-many-66000", "job-next"]
    assert "job-many-66000" in many["/audit"][0].text
    assert "job-many-66000" in many["/audit.csv"][0].text
    assert len(many["waiting"][0].json()) == MAX_WAITING
    spent = many["entries"][0].json()
    assert (len(spent["entries"]), spent["total"]) == (100, 66_002)
    assert len(spent["courses"][0]["standings"]) <= MOST_STANDINGS + 1
    assert spent["courses"][0]["entries"] == 66_002
    assert many["/budget/heights"][0].text.count('<td class="amount">') == 100
    assert "66,002 entries since" in many["/budget/heights"][0].text
    assert "66,002 decisions wait for you" in many["/reviews"][0].text
    assert "Here are the 200 that have waited longest" in many["/reviews"][0].text
    assert "Here are" not in few["/reviews"][0].text


def test_a_page_asks_the_database_no_more_often_because_there_are_many_data_sets(gateway: Gateway) -> None:
    """Each page shows how many decisions wait."""
    taken = []
    with closing(logged_in(gateway, "holder")) as holder, closing(logged_in(gateway, "ada")) as ada:
        for names in (("heights", "walks"), [f"set-{number}" for number in range(20)]):
            with gateway.database.transaction() as connection:
                for name in names:
                    given_dataset(connection, name=name)
            taken.append([asked(lambda: who.get("/account"))[1] for who in (holder, ada)])  # noqa: B023
    assert taken[0] == taken[1]
    assert taken[1][0] > taken[1][1]  # nobody else is told of what waits
