"""A database that a test has given back is as new for the next one, or is not there any more."""

from __future__ import annotations

import psycopg
import pytest
import sqlalchemy as sa
from factories import NOW, given_job, given_user
from services import PostgreSQL

from domain.states import JobState
from store import audit
from store.database import Database
from store.tables import metadata


def contents(url: str) -> dict[str, list[tuple[object, ...]]]:
    database = Database(url)
    with database.reading() as connection:
        held = {
            table.name: [tuple(row) for row in connection.execute(table.select())]
            for table in metadata.sorted_tables
        }
        held["sequences"] = [
            tuple(row)
            for row in connection.execute(sa.text("SELECT * FROM pg_sequences ORDER BY sequencename"))
        ]
    database.close()
    return held


def use(url: str) -> None:
    database = Database(url)
    with database.transaction() as connection:
        given_user(connection, "olga")
        given_job(connection, state=JobState.RELEASED, job_id="job-released")
        audit.append(connection, at=NOW, actor="olga", action="job.move", subject="job-released")
    database.close()


def test_nothing_of_the_one_before_is_left(postgresql: PostgreSQL) -> None:
    url = postgresql.fresh()
    new = contents(url)
    use(url)
    assert contents(url) != new
    postgresql.give_back(url)
    assert postgresql.fresh() == url
    assert contents(url) == new
    use(url)  # and what refuses to be changed still does
    database = Database(url)
    with pytest.raises(sa.exc.DBAPIError), database.transaction() as connection:
        connection.execute(sa.text("DELETE FROM audit_events"))
    database.close()
    postgresql.give_back(url)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE audit_events DISABLE TRIGGER USER",
        "CREATE TABLE more (number integer)",
        "ALTER TABLE users ADD COLUMN more integer",
        "ALTER TABLE users ALTER COLUMN role DROP NOT NULL",
        "DROP TABLE releases",
    ],
)
def test_one_of_another_form_is_not_lent_again(postgresql: PostgreSQL, change: str) -> None:
    url = postgresql.fresh()
    database = Database(url)
    with database.transaction() as connection:
        connection.execute(sa.text(change))
    database.close()
    postgresql.give_back(url)
    assert is_gone(url)


def test_one_that_somebody_still_uses_is_taken_away(postgresql: PostgreSQL) -> None:
    url = postgresql.fresh()
    database = Database(url)
    with database.engine.connect() as connection:
        connection.execute(sa.text("SELECT 1"))
        postgresql.give_back(url)
        connection.invalidate()
    database.close()
    assert is_gone(url)


def is_gone(url: str) -> bool:
    try:
        psycopg.connect(url.replace("+psycopg", "")).close()
    except psycopg.OperationalError as error:
        return "does not exist" in str(error)
    return False
