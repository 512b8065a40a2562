"""A rights holder with more jobs than a statement takes values reads their trail at a short one's price."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from asking import Gateway
from factories import NOW, given_dataset, given_job
from sqlalchemy import event

from store import audit
from store.tables import jobs as job_rows

MANY = sa.text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 66000) SELECT i FROM n"
)


def given_many_jobs_like(connection: sa.Connection, job_id: str) -> None:
    """PostgreSQL takes 65,535 values in one statement, SQLite 32,766."""
    columns = [column for column in job_rows.c if column.name not in ("id", "once")]
    count = MANY.columns(sa.column("i", sa.Integer)).subquery()
    name = sa.literal("job-many-") + sa.cast(count.c.i, sa.String)
    first = job_rows.c.id == job_id
    many = sa.select(name, *columns).where(first).select_from(job_rows.join(count, sa.true()))
    connection.execute(sa.insert(job_rows).from_select(["id", *(c.name for c in columns)], many))


def trail(gateway: Gateway) -> tuple[list[str], int]:
    """The subjects that a rights holder is shown, newest first, and how many statements that took."""
    said = []

    def note(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        said.append(statement)

    event.listen(sa.engine.Engine, "before_cursor_execute", note)
    try:
        answer = gateway.ask("GET", "/audit/events?limit=2", by="holder")
    finally:
        event.remove(sa.engine.Engine, "before_cursor_execute", note)
    assert answer.status_code == 200, answer.text
    return [each["subject"] for each in answer.json()], len(said)


def test_66_000_jobs_cost_a_rights_holder_no_more_statements_than_two(gateway: Gateway) -> None:
    with gateway.database.transaction() as connection:
        given_dataset(connection, name="heights")
        for job_id in ("job-first", "job-next"):
            given_job(connection, job_id=job_id)
    few = trail(gateway)
    with gateway.database.transaction() as connection:
        given_many_jobs_like(connection, "job-first")
        audit.append(connection, at=NOW, actor="ada", action="job.submit", subject="job-many-66000")
    many = trail(gateway)
    assert len(few[0]) == 2
    assert many[0] == ["job-many-66000", "job-next"]
    assert many[1] == few[1]
