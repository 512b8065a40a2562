"""What the database itself refuses, whatever the code above it does: raw SQL on real rows."""

from __future__ import annotations

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from factories import given_job, make_release
from sqlalchemy.exc import DBAPIError, IntegrityError

from domain.errors import NotReady
from domain.states import JobState
from store import releases
from store.database import Database
from store.schema import schema
from store.tables import metadata

LISTED = re.compile(r"'([^']+)'")
APPEND_ONLY = ["audit_events", "ledger_entries", "releases"]


@pytest.fixture
def used(database):
    """A database with at least one row in every append-only table."""
    with database.transaction() as connection:
        given_job(connection, state=JobState.RELEASED, job_id="job-released")
    return database


@pytest.fixture(params=["sqlite", "postgresql"])
def bare(request, tmp_path):
    """A database without any table."""
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path / 'bare.db'}")
    else:
        database = Database(request.getfixturevalue("postgresql").fresh(template="template0"))
    yield database
    database.close()


def refuses(database, statement, *, error=IntegrityError, words=None):
    with pytest.raises(error, match=words), database.transaction() as connection:
        connection.execute(sa.text(statement))


def test_migrations_make_the_tables_that_the_code_declares_and_again_they_change_nothing(bare):
    bare.migrate()
    with bare.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert checks_of_database(connection) == checks_of_code()
    with bare.transaction() as connection:
        given_job(connection, job_id="job-kept")
    bare.migrate()
    with bare.reading() as connection:
        assert connection.execute(sa.text("SELECT id FROM jobs")).scalars().all() == ["job-kept"]


def checks_of_code():
    """What Alembic does not compare: of each check its name and the values that it lists."""
    return {
        (table.name, str(check.name), frozenset(LISTED.findall(str(check.sqltext))))
        for table in metadata.sorted_tables
        for check in table.constraints
        if isinstance(check, sa.CheckConstraint)
    }


def checks_of_database(connection):
    inspector = sa.inspect(connection)
    return {
        (table, check["name"], frozenset(LISTED.findall(check["sqltext"])))
        for table in inspector.get_table_names()
        for check in inspector.get_check_constraints(table)
    }


def test_tables_of_a_form_that_is_not_known_are_left_as_they_are(bare):
    bare.migrate()
    with bare.transaction() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0012'"))
    with pytest.raises(NotReady, match="have form 0012, which this version does not know"):
        bare.migrate()
    with bare.reading() as connection:
        assert schema(connection).found == "0012"


def migrate(url):
    database = Database(url)
    database.migrate()
    database.close()


def test_gateway_and_worker_may_migrate_at_the_same_moment(bare):
    bare.close()  # no connection may cross the fork
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        list(pool.map(migrate, [bare.url] * 2))
    with bare.transaction() as connection:
        given_job(connection)


def open_together(folder, barrier):
    for number in range(30):
        database = Database(f"sqlite:///{folder}/{number}.db")
        try:
            barrier.wait()
            with database.transaction() as connection:
                connection.exec_driver_sql("SELECT 1")
        except BaseException:
            barrier.abort()  # or the others would wait for this one
            raise
        database.close()


def test_processes_may_open_a_new_database_at_the_same_moment(tmp_path):
    """On SQLite one of them gives it its write-ahead log, which the others do not take for a failure."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(6)
    started = [fork.Process(target=open_together, args=(tmp_path, barrier)) for _ in range(6)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0] * 6


def test_migrating_is_one_transaction(bare):
    """Whoever waits for its end finds nothing left to do; an interrupted one left nothing behind."""
    commits = []
    sa.event.listen(bare.engine, "commit", lambda _connection: commits.append(1))

    @sa.event.listens_for(bare.engine, "before_cursor_execute")
    def power_cut(_connection, _cursor, statement, *_rest):
        if "disabled_at" in statement:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bare.migrate()
    with bare.reading() as connection:
        assert sa.inspect(connection).get_table_names() == []
    sa.event.remove(bare.engine, "before_cursor_execute", power_cut)
    commits.clear()
    bare.migrate()
    assert len(commits) == 1


def test_append_only_rows_stay_as_they_are(used, subtests):
    for table in APPEND_ONLY:
        column = sa.inspect(used.engine).get_columns(table)[0]["name"]
        replaced = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"
        for statement in (
            f"UPDATE {table} SET {column} = {column}",
            f"DELETE FROM {table}",
            replaced if used.is_sqlite else f"TRUNCATE {table}",
        ):
            with subtests.test(msg=statement):
                refuses(used, statement, error=DBAPIError, words=f"{table} is append-only")


def test_no_account_is_overdrawn_or_negative(used, subtests):
    for change in (
        "spent = cap + 1",
        "reserved = cap + 1",
        "spent = cap, reserved = 1",
        "reserved = -1",
        "spent = -1",
        "cap = spent - 1",
        "kind = 'everyone'",
        "currency = 'euro'",
    ):
        with subtests.test(msg=change):
            refuses(used, f"UPDATE accounts SET {change}")


def test_no_entry_takes_back_budget_or_settles_twice(used, subtests):
    entries = [("job-x", "reserve", amount) for amount in (0, -1, -500_000)]
    entries += [("job-released", action, 500_000) for action in ("charge", "refund")]
    for job, action, amount in entries:
        with subtests.test(msg=f"{action} {amount} for {job}"):
            refuses(
                used,
                "INSERT INTO ledger_entries (account_id, job_id, action, amount, at) "
                f"VALUES (1, '{job}', '{action}', {amount}, CURRENT_TIMESTAMP)",
            )


def test_closed_lists_and_references(used, subtests):
    for statement in (
        "UPDATE jobs SET state = 'FAILED'",
        "UPDATE jobs SET reason = 'the patient in bed 4'",
        "UPDATE users SET role = 'root'",
        "UPDATE datasets SET state = 'OPEN'",
        "UPDATE images SET kind = 'other'",
        "UPDATE images SET syscalls = 'all'",
        "DELETE FROM images",
        "DELETE FROM jobs",
        "UPDATE jobs SET dataset_id = 'none'",
        "DELETE FROM users",
        "INSERT INTO audit_head (id, number, hash) VALUES (2, 0, '')",
    ):
        with subtests.test(msg=statement):
            refuses(used, statement)


def test_a_release_needs_its_job_and_a_job_has_one(used):
    for fields in ({"job_id": "job-released", "id": "another"}, {"job_id": "job-unknown"}):
        with pytest.raises(IntegrityError), used.transaction() as connection:
            releases.insert(connection, make_release(**fields))
