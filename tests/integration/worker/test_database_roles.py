"""Accounts of PostgreSQL for gateway and workers: what each does goes on, and what neither may is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from factories import make_user
from services import ROLES, by_role
from test_query_route import HEIGHT, TALL, ask
from zones import Bench, check_books, given_heights, imported, open_bench

from domain.dataset import DatasetState
from domain.permissions import Role
from domain.states import JobState
from store import erasures, releases
from store.database import Database
from store.tables import run_outputs
from worker.certificate import public_key_pem
from worker.sweep import sweep

HOLDER = make_user("holder", Role.RIGHTS_HOLDER)
REFUSED = {
    "dpgate_gateway": (
        "SELECT sealed FROM run_outputs",
        "INSERT INTO run_outputs SELECT id, 0, 'x' FROM jobs LIMIT 1",
        "SELECT sealed FROM pac_states",
        "UPDATE platform_facts SET value = 'mine'",
        "INSERT INTO platform_facts VALUES ('other', 'mine')",
        "UPDATE releases SET body = body",
        "DELETE FROM releases",
        "UPDATE erasures SET done_at = asked_at",
        "UPDATE chunks SET state = 'DONE'",
        # asked for by somebody who then does nothing, over and over, none would ever be made
        "UPDATE sweeps SET asked_at = now()",
        "DELETE FROM sweeps",
    ),
    "dpgate_worker": (
        "SELECT * FROM passwords",
        "SELECT * FROM api_tokens",
        "SELECT * FROM sessions",
        "UPDATE platform_facts SET value = 'mine'",
        "DELETE FROM platform_facts",
        "UPDATE releases SET body = body",
    ),
}
REFUSED_TO_BOTH = (
    "ALTER TABLE audit_events DISABLE TRIGGER ALL",
    "DELETE FROM audit_events",
    "UPDATE ledger_entries SET amount = 0",
    "DELETE FROM jobs",
    "DROP TABLE votes",
    "UPDATE alembic_version SET version_num = '0001'",
)


def answers(database: Database, statement: str) -> str:
    """What the server says, and then nothing of it stays."""
    with database.engine.connect() as connection:
        try:
            connection.execute(sa.text(statement))
        except sa.exc.ProgrammingError as error:
            return type(error.orig).__name__
        except sa.exc.DBAPIError as error:
            return str(error.orig)
        finally:
            connection.rollback()
    return "done"


def test_each_does_its_own_and_neither_the_others(
    postgresql_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    gateway, worker = (by_role(postgresql_url, role) for role in ROLES)
    with (
        open_bench(worker, tmp_path) as bench,
        closing(Database(gateway)) as asking,
        closing(Database(postgresql_url)) as owner,
    ):
        go_the_route(bench, asking)
        for role, database in zip(ROLES, (asking, bench.database), strict=True):
            for statement in (*REFUSED[role], *REFUSED_TO_BOTH):
                with subtests.test(f"{role}: {statement}"):
                    assert answers(database, statement) == "InsufficientPrivilege"
        for statement in (*REFUSED["dpgate_gateway"], *REFUSED["dpgate_worker"], *REFUSED_TO_BOTH):
            with subtests.test(f"the owner: {statement}"):
                assert answers(owner, statement) != "InsufficientPrivilege", "it is no mistake in words"


def go_the_route(bench: Bench, gateway: Database) -> None:
    """A worker's work, and what the gateway ends of it. What its routes need is asked where they are."""
    key = public_key_pem(bench.zone.keys.signing)
    for _ in range(2):
        with bench.database.transaction() as connection:
            releases.publish_key(connection, key)
    dataset = given_heights(bench)
    released = ask(bench, TALL)
    bench.drive()
    assert bench.job(released).state is JobState.RELEASED
    running = ask(bench, HEIGHT)
    while not bench.rows(run_outputs):
        bench.deliver(bench.sent.queue.popleft())
    bench.sent.queue.clear()
    assert bench.job(running).state is JobState.RUNNING
    with gateway.transaction() as connection:
        erasures.ask(
            connection, name="heights", user=make_user("holder", Role.RIGHTS_HOLDER), now=bench.clock()
        )
    assert not bench.rows(run_outputs), "the gateway has them deleted, unread"
    sweep(bench.zone)
    assert imported(bench, dataset.id).state is DatasetState.ERASED
    check_books(bench)
