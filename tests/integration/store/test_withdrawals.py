"""A withdrawn data set: no new job sees it, what is not charged is given back, what is charged stands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_job, given_user, make_job_request, make_user
from services import PostgreSQL
from standing_in_line import wait_until_another_waits
from waiting import PATIENCE_S

from domain.dataset import DatasetState, ImportProblem
from domain.errors import Conflict, NotFound
from domain.notice import NoticeKind
from domain.permissions import Role
from domain.review import Stage
from domain.states import Actor, JobState
from privacy.cost import Currency
from store import channels, datasets, erasures, history, jobs, ledger, notices, reviews, withdrawals
from store.database import Database

HOLDER = make_user("holder", Role.RIGHTS_HOLDER)
STATES = (
    JobState.SUBMITTED, JobState.QUEUED, JobState.PREPARING, JobState.RUNNING, JobState.AGGREGATING,
    JobState.IN_REVIEW, JobState.RELEASED,
)  # fmt: skip
EACH = 100_000


def given_jobs(connection: sa.Connection) -> dict[JobState, str]:
    """One in each state, by state."""
    return {
        state: given_job(
            connection, state=state, project=None,
            mechanism={"name": "sample_aggregate", "epsilon": "0.1", "block_size": 3 + number},
        ).id
        for number, state in enumerate(STATES)
    }  # fmt: skip


def take(connection: sa.Connection, **fields: bool) -> int:
    running = fields.get("cancels_running", False)
    return withdrawals.withdraw(connection, name="heights", user=HOLDER, cancels_running=running, now=NOW)[1]


def now_in(connection: sa.Connection, made: dict[JobState, str]) -> dict[JobState, JobState]:
    return {state: jobs.get(connection, job_id).state for state, job_id in made.items()}


def balance(connection: sa.Connection) -> tuple[int, int]:
    account = ledger.find_account(
        connection, cohort="heights", kind="cohort", holder="heights", currency=Currency.EPSILON
    )
    assert account is not None
    return account.reserved, account.spent


@pytest.mark.parametrize("cancels_running", [False, True])
def test_what_is_not_charged_is_given_back_and_the_charge_stands(database: Database, cancels_running: bool):
    with database.transaction() as connection:
        made = given_jobs(connection)
        given_user(connection, "bob")
        for name in ("ada", "bob"):
            channels.add_webhook(connection, name, "https://hooks.example.org/in", NOW)
        assert balance(connection) == (3 * EACH, 4 * EACH)
        assert take(connection, cancels_running=cancels_running) == (6 if cancels_running else 3)
        ended = {
            JobState.SUBMITTED, JobState.QUEUED, JobState.PREPARING,
            *((JobState.RUNNING, JobState.AGGREGATING, JobState.IN_REVIEW) if cancels_running else ()),
        }  # fmt: skip
        assert now_in(connection, made) == {
            state: JobState.CANCELLED if state in ended else state for state in STATES
        }
        assert balance(connection) == (0, 4 * EACH)
        assert datasets.newest(connection, "heights", HOLDER).state is DatasetState.WITHDRAWN
        (event,) = history.events(connection, history.Wanted(action="dataset.withdraw"))
        assert (event.actor, event.details["running"]) == (
            "holder", "cancel" if cancels_running else "finish",
        )  # fmt: skip
        (told,) = notices.of_user(connection, "ada")
        assert told.notice.kind is NoticeKind.DATASET_WITHDRAWN, "once, and not for each job"
        assert not notices.of_user(connection, "bob"), "who had no job on it"
        # what is being drawn ends as it would, or not at all
        drawn = made[JobState.AGGREGATING]
        move = {"actor": Actor.WORKER, "now": NOW}
        assert jobs.move(connection, drawn, JobState.AGGREGATING, JobState.IN_REVIEW, **move) is (
            not cancels_running
        )
        assert withdrawals.open_jobs(connection, "heights").in_review == (0 if cancels_running else 2)
        if not cancels_running:
            vote = reviews.vote_on_job(
                connection, job_id=made[JobState.IN_REVIEW], stage=Stage.RELEASE, user=HOLDER, approves=True,
                reason="", now=NOW,
            )  # fmt: skip
            assert vote.approved
        assert take(connection, cancels_running=True) == (0 if cancels_running else 2)
        assert jobs.get(connection, drawn).state is JobState.CANCELLED
        assert balance(connection) == (0, 4 * EACH)


def test_what_a_restored_platform_has_open_ends_with_the_erasure_that_it_learns_of(database: Database):
    with database.transaction() as connection:
        made = given_jobs(connection)
        known = datasets.newest(connection, "heights", HOLDER)
        erasures.finish(
            connection, erasure_id="0" * 36, name="heights", data_key=known.data_key, record={}, now=NOW
        )
        assert datasets.get(connection, known.id).state is DatasetState.ERASED
        assert now_in(connection, made) == {
            state: state if state is JobState.RELEASED else JobState.CANCELLED for state in STATES
        }


def test_it_takes_nothing_new_until_a_later_version(database: Database):
    with database.transaction() as connection:
        dataset = given_dataset(connection)
        given_user(connection, "ada")
        take(connection)
        seen = datasets.newest(connection, "heights", make_user("ada"))
        with pytest.raises(Conflict, match="withdrawn by its rights holder: it takes nothing new"):
            seen.check_ready()
        asked = {"author": "ada", "request": make_job_request(), "image_digest": None, "now": NOW}
        with pytest.raises(Conflict, match="takes nothing new"):
            jobs.submit(connection, job_id="job-late-0", dataset=dataset, **asked)
        later = given_dataset(connection)
        assert (later.version, later.state) == (2, DatasetState.READY)
        jobs.submit(connection, job_id="job-later", dataset=later, **asked)


def test_an_import_under_way_is_refused_and_nobody_else_withdraws(database: Database):
    with database.transaction() as connection:
        importing = given_dataset(connection, state=DatasetState.IMPORTING)
        other = given_user(connection, "hugo", Role.RIGHTS_HOLDER)
        with pytest.raises(NotFound):
            withdrawals.withdraw(connection, name="heights", user=other, cancels_running=False, now=NOW)
        take(connection)
        assert not datasets.finish_import(
            connection, dataset_id=importing.id, snapshot="keyed:" + "0" * 64, problem=None, now=NOW
        )
        found = datasets.get(connection, importing.id)
        assert (found.state, found.problem) == (DatasetState.REFUSED, ImportProblem.WITHDRAWN)
        with pytest.raises(Conflict, match="no version"):
            take(connection)


def test_a_job_that_comes_first_is_found(postgresql: PostgreSQL, postgresql_url: str):
    database = postgresql.opened(postgresql_url)

    def withdraw() -> int:
        with database.transaction() as connection:
            return take(connection)

    with database.transaction() as connection:
        given_dataset(connection)
    with ThreadPoolExecutor(1) as other:
        with database.transaction() as connection:
            job = given_job(connection, project=None)
            later = other.submit(withdraw)
            wait_until_another_waits(database, unless=later.done)
        assert later.result(PATIENCE_S) == 1
    with database.reading() as connection:
        assert jobs.get(connection, job.id).state is JobState.CANCELLED


def test_a_job_that_comes_second_is_refused(postgresql: PostgreSQL, postgresql_url: str):
    """It saw the data set as it was before; without a lock it would be on record behind the withdrawal."""
    database = postgresql.opened(postgresql_url)
    with database.transaction() as connection:
        dataset = given_dataset(connection)
        given_user(connection, "ada")

    def submit() -> None:
        asked = {"author": "ada", "request": make_job_request(project=None), "image_digest": None, "now": NOW}
        with database.transaction() as connection:
            jobs.submit(connection, job_id="job-late-0", dataset=dataset, **asked)

    with ThreadPoolExecutor(1) as other:
        with database.transaction() as connection:
            take(connection)
            later = other.submit(submit)
            wait_until_another_waits(database, unless=later.done)
        with pytest.raises(Conflict, match="takes nothing new"):
            later.result(PATIENCE_S)
