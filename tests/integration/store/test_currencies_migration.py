"""What was counted in epsilon alone goes on as an account of epsilon; older jobs and releases still read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from factories import IMAGE, NOW, job_request_fields, make_declaration, make_job_request
from sqlalchemy.exc import DBAPIError, IntegrityError

from domain.states import JobState
from privacy.cost import Cost, Currency
from store import allotments, jobs, ledger, releases
from store.database import Database


def request_then() -> dict[str, Any]:
    """A request as it was recorded: what is asked of the mechanism stands beside the pipeline."""
    asked = job_request_fields(block_size=10)
    chosen = asked.pop("mechanism")
    return {**asked, "mechanism": chosen.pop("name"), **chosen, "project": None}


RELEASE = {
    "id": "r-1",
    "job_id": "job-released",
    "dataset": "heights",
    "dataset_version": 1,
    "guarantee": "pure_dp",
    "micro_epsilon": 1_000_000,
    "values": [
        {
            "name": "mean_age",
            "value": 41.5,
            "lower_95": 38,
            "upper_95": 45,
            "noise_scale": 1.5,
            "grid_step": 0.001,
        }
    ],
    "files": {"result.tsv": "mean_age\n41.5\n"},
    "certificate": {"payload": "e30="},
    "created_at": NOW.isoformat(),
}
A_JOB = (
    "INSERT INTO jobs (id, dataset_id, author, request, image_digest, question, state, attempts, created_at, "
    "moved_at) VALUES (:id, 'd-1', 'ada', :request, :image, :question, :state, 0, :now, :now)"
)
AN_ACCOUNT = "INSERT INTO accounts (cohort, kind, holder, cap, reserved, spent) VALUES"
AN_ENTRY = (
    "INSERT INTO ledger_entries (account_id, job_id, action, micro_epsilon, at) "
    "VALUES (:account, :job, :action, :amount, :now)"
)
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("INSERT INTO users VALUES ('ada', 'data_user', 't', 'h', :now)", {}),
    ("INSERT INTO users VALUES ('holder', 'rights_holder', 'u', 'h', :now)", {}),
    (
        "INSERT INTO images (digest, name, description, created_at, kind, warm) "
        "VALUES (:image, 'python', '', :now, 'host', true)",
        {},
    ),
    ("INSERT INTO cohorts VALUES ('heights', 'holder', :now)", {}),
    (
        "INSERT INTO datasets VALUES ('d-1', 'heights', 1, 'holder', 'heights', :declared, 'x', 'READY', "
        "NULL, 'keyed:0', :now)",
        {},
    ),
    (f"{AN_ACCOUNT} ('heights', 'cohort', 'heights', 10000000, 500000, 1000000)", {}),  # gets the id 1
    (f"{AN_ACCOUNT} ('heights', 'project', 'sleep', 2000000, 500000, 0)", {}),
    ("INSERT INTO project_members VALUES (2, 'ada')", {}),
    (A_JOB, {"id": "job-released", "state": "RELEASED"}),
    (A_JOB, {"id": "job-waiting", "state": "PREPARING"}),
    (AN_ENTRY, {"account": 1, "job": "job-released", "action": "reserve", "amount": 1_000_000}),
    (AN_ENTRY, {"account": 1, "job": "job-released", "action": "charge", "amount": 1_000_000}),
    (AN_ENTRY, {"account": 1, "job": "job-waiting", "action": "reserve", "amount": 500_000}),
    (AN_ENTRY, {"account": 2, "job": "job-waiting", "action": "reserve", "amount": 500_000}),
    ("INSERT INTO run_outputs VALUES ('job-waiting', 3, :sealed)", {"sealed": b"sealed"}),
    ("INSERT INTO releases VALUES ('r-1', 'job-released', :body, :now)", {}),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def migrated(request: pytest.FixtureRequest, brought: Any) -> Iterator[Database]:
    """A database as the version before left it, brought to this version's form."""
    with brought(request.param, "0002", counted_before) as database:
        yield database


def counted_before(connection: sa.Connection) -> None:
    known = {
        "now": "2026-03-02 09:30:00+00:00",
        "image": IMAGE,
        "question": make_job_request().question(dataset_id="d-1", image_digest=IMAGE),
        "declared": make_declaration().model_dump_json(),
        "request": json.dumps(request_then()),
        "body": json.dumps(RELEASE),
    }
    for statement, values in ROWS:
        connection.execute(sa.text(statement), {**known, **values})


def account(connection: sa.Connection, kind: Any = "cohort", holder: str = "heights") -> ledger.Account:
    found = ledger.find_account(
        connection, cohort="heights", kind=kind, holder=holder, currency=Currency.EPSILON
    )
    assert found is not None
    return found


def test_what_was_counted_is_epsilon(migrated: Database) -> None:
    with migrated.reading() as connection:
        whole, share = account(connection), account(connection, "project", "sleep")
        assert (whole.cap, whole.reserved, whole.spent) == (10_000_000, 500_000, 1_000_000)
        assert (share.cap, share.reserved, share.spent) == (2_000_000, 500_000, 0)
        assert allotments.members(connection, share) == {"ada"}
        (standing,) = ledger.standings(connection, job_id="job-released", cohort="heights")
    assert (standing.currency, standing.before, standing.after) == (Currency.EPSILON, 0, 1_000_000)


def test_a_reservation_of_then_is_charged_now(migrated: Database) -> None:
    with migrated.transaction() as connection:
        ledger.charge(connection, job_id="job-waiting", now=NOW)
        assert (account(connection).reserved, account(connection).spent) == (0, 1_500_000)
        assert account(connection, "project", "sleep").spent == 500_000


def test_a_job_of_then_asks_the_same_and_is_answered(migrated: Database) -> None:
    with migrated.reading() as connection:
        job = jobs.get(connection, "job-released")
        release = releases.read(connection, job)
        outputs = connection.execute(sa.text("SELECT run, sealed FROM run_outputs")).all()
    assert job.request == make_job_request(block_size=10)
    assert job.state is JobState.RELEASED
    assert job.request.question(dataset_id="d-1", image_digest=IMAGE) == job.question
    assert (release.cost, release.diagnostics) == ({"epsilon": "1"}, ())
    assert [tuple(row) for row in outputs] == [(3, b"sealed")]


def test_other_currencies_open_beside_it(migrated: Database) -> None:
    with migrated.transaction() as connection:
        for currency in (Currency.NATS, Currency.EPSILON):
            ledger.open_account(
                connection, cohort="heights", kind="cohort", holder="heights", currency=currency, cap=500_000
            )
        ledger.reserve(
            connection,
            job_id="job-other",
            cohort="heights",
            author="ada",
            project=None,
            cost=Cost.of({Currency.NATS: 500_000}),
            now=NOW,
        )
        assert account(connection).cap == 10_000_000


def test_constraints_hold_after_the_change(migrated: Database, subtests: pytest.Subtests) -> None:
    for statement in (
        "UPDATE accounts SET currency = 'euro'",
        "UPDATE accounts SET spent = cap + 1",
        "INSERT INTO accounts (id, cohort, kind, holder, cap, reserved, spent, currency) "
        "SELECT 9, cohort, kind, holder, cap, 0, 0, currency FROM accounts WHERE id = 1",
        "UPDATE jobs SET once = 'x'",
        "UPDATE jobs SET dataset_id = 'none'",
        "UPDATE jobs SET reason = 'BECAUSE'",
        "DELETE FROM accounts",
        "INSERT INTO pac_states VALUES ('nobody', 'x')",
    ):
        refused = pytest.raises(IntegrityError)
        with subtests.test(msg=statement), refused, migrated.transaction() as connection:
            connection.execute(sa.text(statement))
    for statement in ("UPDATE ledger_entries SET amount = 1", "DELETE FROM ledger_entries"):
        refused = pytest.raises(DBAPIError, match="append-only")
        with subtests.test(msg=statement), refused, migrated.transaction() as connection:
            connection.execute(sa.text(statement))
