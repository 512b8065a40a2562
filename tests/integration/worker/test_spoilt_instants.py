"""An instant that is none, or is of no year that Python knows: whoever has the database's account can write
one. PostgreSQL takes `infinity` for one, SQLite any letters. It stops nobody but the job whose it is."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from factories import make_user
from test_query_route import ask
from zones import Bench, given_heights

from domain.errors import Spoilt
from domain.permissions import Role
from domain.project import NewProject
from domain.states import JobState
from store import projects
from store.database import Broken
from store.tables import jobs
from worker.sweep import sweep

TALL = {"column": "height", "operator": ">"}
NO_INSTANT = "infinity"


def asked(bench: Bench, above: int) -> str:
    return ask(bench, {"kind": "count", "where": [{**TALL, "value": above}]})


def write(bench: Bench, table: str, where: str, *columns: str, **values: str) -> None:
    """Past the platform."""
    written = dict.fromkeys(columns, NO_INSTANT) | values
    said = ", ".join(f"{name} = '{value}'" for name, value in written.items())
    with bench.database.transaction() as connection:
        connection.execute(sa.text(f"UPDATE {table} SET {said} WHERE {where}"))


def released(bench: Bench, job_id: str) -> bool:
    bench.drive()
    return bench.job(job_id).state is JobState.RELEASED


def test_one_of_an_old_job_keeps_nobody_from_being_charged(bench: Bench) -> None:
    given_heights(bench)
    old = asked(bench, 160)
    assert released(bench, old)
    write(bench, "jobs", f"id = '{old}'", "charged_at", "moved_at", "created_at")
    assert released(bench, asked(bench, 161))


def test_one_of_a_job_under_way_stops_no_other(bench: Bench) -> None:
    given_heights(bench)
    old = asked(bench, 160)
    columns = ("charged_at", "due_at", "publish_at", "moved_at", "nudged_at")
    write(bench, "jobs", f"id = '{old}'", *columns, state="RUNNING", slots="2")
    bench.sent.take()
    next_one = asked(bench, 161)
    sweep(bench.zone)
    assert released(bench, next_one)
    with bench.database.reading() as connection:
        found = connection.execute(sa.select(jobs.c.due_at, jobs.c.id).where(jobs.c.id == old)).one()
    assert isinstance(found.due_at, Broken)


def test_a_day_that_is_none_hides_its_own_row_alone(bench: Bench) -> None:
    ada = make_user("ada", Role.DATA_USER)
    with bench.database.transaction() as connection:
        for name in ("first-one", "second-one"):
            new = NewProject(name=name, title=name, purpose="to try", ends_on=bench.clock().date())
            projects.make(connection, new, lead="ada", now=bench.clock())
    write(bench, "projects", "name = 'first-one'", "ends_on")
    with bench.database.reading() as connection:
        assert [found.name for found in projects.visible_to(connection, ada)] == ["second-one"]
        with pytest.raises(Spoilt, match="first-one"):
            projects.find(connection, "first-one")
