"""Jobs on record: every row of the state table with its ledger action and audit event, and no other move."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import (
    IMAGE,
    NOW,
    given_dataset,
    given_image,
    given_job,
    given_user,
    make_job_request,
    make_pipeline,
    make_release,
    make_source,
    make_user,
)
from made_counts import given_counts
from undone import undone

from desk.jobs import _move
from domain.dataset import DatasetState
from domain.errors import BudgetExceeded, Conflict, NotFound, NotReady
from domain.model import parse
from domain.permissions import Role
from domain.states import TRANSITIONS, Actor, JobState, LedgerAction
from domain.twin.request import TwinRequest
from privacy.cost import Currency
from store import datasets, job_lists, jobs, ledger, releases, twins
from store.tables import audit_events, ledger_entries
from store.tables import jobs as job_rows

MOVES = [row for row in TRANSITIONS if row.before is not None]
AMOUNT = 500_000
CHANGE = {
    LedgerAction.CHARGE: (-AMOUNT, AMOUNT),
    LedgerAction.REFUND: (-AMOUNT, 0),
    None: (0, 0),
}


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        yield connection


def balance(connection):
    account = ledger.find_account(
        connection, cohort="heights", kind="cohort", holder="heights", currency=Currency.EPSILON
    )
    return account.reserved, account.spent


def events(connection):
    query = sa.select(audit_events).order_by(audit_events.c.number)
    return connection.execute(query).all()


def only_dataset(connection):
    return datasets.get(connection, connection.execute(sa.text("SELECT id FROM datasets")).scalar_one())


def submit(connection, job_id="job-first", *, author="ada", **fields):
    dataset = given_dataset(connection) if not events(connection) else only_dataset(connection)
    given_user(connection, author)
    return jobs.submit(
        connection,
        job_id=job_id,
        author=author,
        dataset=dataset,
        request=make_job_request(**fields),
        image_digest=given_image(connection).digest,
        now=NOW,
    )


def test_every_row_of_the_table(database, subtests):
    with database.transaction() as connection:
        given_dataset(connection)
        for row in MOVES:
            for actor in sorted(row.actors):
                with subtests.test(msg=f"{row.before}-{row.after} by {actor}"), undone(connection):
                    check_row(connection, row, actor)


def check_row(connection, row, actor):
    job = given_job(connection, state=row.before)
    before = balance(connection)
    assert jobs.move(connection, job.id, row.before, row.after, actor=actor, by="somebody", now=NOW)
    expected = tuple(map(sum, zip(before, CHANGE[row.ledger], strict=True)))
    assert balance(connection) == expected
    assert jobs.get(connection, job.id).state is row.after
    last = events(connection)[-1]
    assert (last.actor, last.action, last.subject) == ("somebody", "job.move", job.id)
    assert last.details == {"before": row.before, "after": row.after, "ledger": row.ledger}


def test_every_move_that_is_not_in_the_table(database, subtests):
    with database.transaction() as connection:
        for state in JobState:
            with undone(connection):
                job = given_job(connection, state=state)
                untouched = (balance(connection), events(connection))
                allowed = {(row.after, actor) for row in MOVES if row.before is state for actor in row.actors}
                for after in JobState:
                    for actor in sorted(set(Actor) - {actor for to, actor in allowed if to is after}):
                        refused = pytest.raises(Conflict, match="cannot")
                        with subtests.test(msg=f"{state}-{after} by {actor}"), refused:
                            jobs.move(connection, job.id, state, after, actor=actor, now=NOW)
                assert (balance(connection), events(connection)) == untouched
                assert jobs.get(connection, job.id).state is state


def test_a_move_from_a_state_that_has_passed_finds_nothing_to_do(connection):
    job = given_job(connection, state=JobState.PREPARING)
    assert move_to_running(connection, job.id)
    after = (balance(connection), events(connection))
    assert not move_to_running(connection, job.id)
    assert not jobs.move(connection, job.id, JobState.PREPARING, JobState.ERRORED, actor=Actor.SWEEP, now=NOW)
    with pytest.raises(Conflict, match="the job has just moved on"):
        _move(connection, job, JobState.ERRORED, Actor.SWEEP)
    assert (balance(connection), events(connection)) == after


def move_to_running(connection, job_id):
    return jobs.move(connection, job_id, JobState.PREPARING, JobState.RUNNING, actor=Actor.WORKER, now=NOW)


def test_of_many_that_move_at_once_one_does(database):
    with database.transaction() as connection:
        job = given_job(connection, state=JobState.PREPARING)

    def charge(_):
        with database.transaction() as connection:
            return move_to_running(connection, job.id)

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(charge, range(16))) == 1
    with database.reading() as connection:
        assert balance(connection) == (0, AMOUNT)


def test_a_new_job_reserves_and_is_on_the_audit_trail(connection):
    job, is_new = submit(connection)
    assert (job.state, is_new, job.owner) == (JobState.SUBMITTED, True, "holder")
    assert balance(connection) == (AMOUNT, 0)
    last = events(connection)[-1]
    assert (last.action, last.actor, last.subject) == ("job.submit", "ada", job.id)


def test_the_same_submission_again_changes_nothing(connection):
    first, _ = submit(connection)
    before = (balance(connection), events(connection))
    assert submit(connection, epsilon=0.50) == (first, False)
    assert (balance(connection), events(connection)) == before


def test_the_id_of_another_request_is_refused(connection, subtests):
    submit(connection)
    for change in ({"epsilon": "0.6"}, {"block_size": 12}, {"author": "bob"}, {"project": "p"}):
        with subtests.test(msg=str(change)), undone(connection):
            with pytest.raises(Conflict, match="this id stands for another request"):
                submit(connection, **change)
            assert balance(connection) == (AMOUNT, 0)


def test_the_same_submission_many_times_at_once_reserves_once(database):
    with database.transaction() as connection:
        submit(connection, "job-other")

    def again(_):
        with database.transaction() as connection:
            return submit(connection, "job-same")[1]

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(again, range(16))) == 1
    with database.reading() as connection:
        assert balance(connection) == (2 * AMOUNT, 0)


def test_the_identical_question_is_answered_at_no_cost(connection):
    answered = given_job(connection, state=JobState.RELEASED)
    before = balance(connection)
    job, is_new = jobs.submit(
        connection,
        job_id="job-again",
        author=given_user(connection, "bob").name,
        dataset=datasets.get(connection, answered.dataset_id),
        request=make_job_request(epsilon=0.5),
        image_digest=IMAGE,
        now=NOW,
    )
    assert (job.state, job.answered_by, is_new) == (JobState.RELEASED, answered.id, True)
    assert balance(connection) == before
    assert releases.read(connection, job) == releases.read(connection, answered)
    entries = connection.execute(sa.select(ledger_entries).where(ledger_entries.c.job_id == job.id))
    assert entries.all() == []


def test_a_question_without_a_readable_answer_costs(connection, subtests):
    for state in (JobState.IN_REVIEW, JobState.WITHHELD, JobState.RUNNING):
        with subtests.test(msg=state), undone(connection):
            given_job(connection, state=state)
            before = sum(balance(connection))
            assert given_job(connection).state is JobState.SUBMITTED
            assert sum(balance(connection)) == before + AMOUNT


def test_a_job_over_budget_leaves_no_trace(database):
    with database.transaction() as connection:
        given_dataset(connection, budget_epsilon="0.4")
        before = (balance(connection), events(connection))
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        given_job(connection, job_id="job-large")
    with database.reading() as connection:
        assert (balance(connection), events(connection)) == before
        with pytest.raises(NotFound):
            jobs.get(connection, "job-large")


def test_who_sees_which_jobs(connection):
    own, other = given_job(connection), given_job(connection, author="bob")
    expected = {
        make_user("ada"): {own.id},
        make_user("bob"): {other.id},
        make_user("eve"): set(),
        make_user("holder", Role.RIGHTS_HOLDER): {own.id, other.id},
        make_user("stranger", Role.RIGHTS_HOLDER): set(),
        make_user("ops", Role.OPERATOR): {own.id, other.id},
    }
    for user, seen in expected.items():
        assert {job.id for job in job_lists.visible_to(connection, user)} == seen
        for job_id in (own.id, other.id, "job-none"):
            if job_id in seen:
                assert jobs.get_visible(connection, job_id, user).id == job_id
            else:
                with pytest.raises(NotFound, match=r"no such job that you may see\. `dpgate status` lists"):
                    jobs.get_visible(connection, job_id, user)


def test_the_time_of_release_is_set_once(connection):
    job = given_job(connection, state=JobState.RUNNING)
    assert jobs.publish_time(connection, job.id) is None
    for seconds in (10, 20):
        jobs.set_publish_time(connection, job.id, NOW + timedelta(seconds=seconds))
    assert jobs.publish_time(connection, job.id) == NOW + timedelta(seconds=10)


def test_attempts_are_counted_and_messages_not_sent_too_often(connection):
    job = given_job(connection)
    assert [jobs.count_attempt(connection, job.id) for _ in range(2)] == [1, 2]
    nudged = [
        jobs.nudge(connection, job.id, now=NOW + timedelta(seconds=second), not_since_s=10)
        for second in (5, 10, 19, 20)
    ]
    assert nudged == [False, True, False, True]


def test_jobs_long_in_a_state_oldest_first(connection):
    late = given_job(connection, now=NOW + timedelta(seconds=5))
    early = given_job(connection)
    found = jobs.in_state(connection, JobState.SUBMITTED, now=NOW + timedelta(seconds=60), for_s=55)
    assert found == [early.id, late.id]
    assert jobs.in_state(connection, JobState.SUBMITTED, now=NOW + timedelta(seconds=59), for_s=55) == [
        early.id
    ]


def test_a_release_is_read_only_once_released(connection):
    job = given_job(connection, state=JobState.IN_REVIEW)
    with pytest.raises(Conflict, match="the job is IN_REVIEW; it has no release to read"):
        releases.read(connection, job)
    assert releases.read_for_review(connection, job).job_id == job.id
    jobs.move(connection, job.id, JobState.IN_REVIEW, JobState.WITHHELD, actor=Actor.RIGHTS_HOLDER, now=NOW)
    with pytest.raises(Conflict, match="WITHHELD"):
        releases.read(connection, jobs.get(connection, job.id))


def test_a_release_reads_back_as_it_was_written(connection):
    job = given_job(connection, state=JobState.RELEASED)
    assert releases.read(connection, job) == make_release(job_id=job.id)


def test_the_signing_key_is_published_once_for_good(connection):
    assert releases.public_key(connection) is None
    for _ in range(2):
        releases.publish_key(connection, "one")
    with pytest.raises(NotReady, match="not that of the worker zone"):
        releases.publish_key(connection, "two")
    assert releases.public_key(connection) == "one"


def stability(pipeline="print(1)", **chosen):
    mechanism = {"name": "stability_calibrated", "noise_multiplier": 2, **chosen}
    sources = (make_source(content=pipeline.encode()),)
    return {"mechanism": mechanism, "pipeline": make_pipeline(sources=sources).model_dump()}


@pytest.fixture
def countable(connection):
    given_dataset(connection, budget_releases=3)
    return connection


def test_what_is_released_once_is_for_one_job_at_a_time(countable):
    first = given_job(countable, **stability())
    for fields in (stability(), stability(noise_multiplier=3)):
        with pytest.raises(Conflict, match="releases once from one pipeline and data set"):
            given_job(countable, author="bob", **fields)
    assert given_job(countable, **stability("print(2)")).state is JobState.SUBMITTED
    assert jobs.move(
        countable, first.id, JobState.SUBMITTED, JobState.CANCELLED, actor=Actor.DATA_USER, now=NOW
    )
    assert given_job(countable, **stability(noise_multiplier=3)).state is JobState.SUBMITTED


def test_the_identical_question_is_answered_although_it_is_released_once(countable):
    first = given_job(countable, state=JobState.RELEASED, **stability())
    again, _ = submit(countable, "job-again", author="bob", **stability())
    assert (again.state, again.answered_by) == (JobState.RELEASED, first.id)
    with pytest.raises(Conflict, match="releases once"):
        given_job(countable, **stability(noise_multiplier=3))
    account = ledger.find_account(
        countable, cohort="heights", kind="cohort", holder="heights", currency=Currency.RELEASES
    )
    assert (account.spent, account.reserved) == (1, 0)


def test_the_same_snapshot_registered_again_is_not_released_from_again(countable):
    dataset = only_dataset(countable)
    given_job(countable, **stability())
    again = given_dataset(countable, state=DatasetState.IMPORTING, budget_releases=3)
    datasets.finish_import(countable, dataset_id=again.id, snapshot=dataset.snapshot, problem=None, now=NOW)
    with pytest.raises(Conflict, match="releases once"):
        given_job(countable, **stability())
    given_dataset(countable, budget_releases=3)  # with people or values of its own
    assert given_job(countable, **stability()).state is JobState.SUBMITTED


def test_equal_data_of_two_rights_holders_are_two_data_sets(database):
    """Who guesses another's data, registers the guess and has it counted: no refusal tells if it is right."""
    with database.transaction() as connection:
        theirs = given_dataset(connection)
        guess = given_dataset(connection, owner="rival", name="guess")
        assert guess.snapshot == theirs.snapshot  # equal data: the guess is right
        given_counts(connection, theirs, job_id="counts-of-holder")
        given_counts(connection, guess, job_id="counts-of-rival")
    # and each of the two stays once, also where a job of a version before has the name of the snapshot alone
    tables = [{"path": "participants.tsv"}]
    request = parse(TwinRequest, {"dataset": "heights", "tables": tables, "epsilon": "3"})
    before = request.once_key(snapshot=theirs.snapshot)
    of_holder = sa.update(job_rows).where(job_rows.c.id == "counts-of-holder")
    for change in ({}, {"once": before}):
        with database.transaction() as connection:
            if change:
                connection.execute(of_holder.values(**change))
            with pytest.raises(Conflict, match="counts for a twin of these data were made"):
                twins.submit(
                    connection, job_id="counts-again", request=request, dataset=theirs, by="holder", now=NOW
                )


def test_one_name_for_equal_data_of_everybody_would_tell(database, monkeypatch):
    """So that the test above can fail: as it was before."""
    once = lambda _connection, request, dataset: request.once_key(snapshot=dataset.snapshot)  # noqa: E731
    monkeypatch.setattr(jobs, "_once", once)
    with database.transaction() as connection:
        given_counts(connection, given_dataset(connection), job_id="counts-of-holder")
        guess = given_dataset(connection, owner="rival", name="guess")
        with pytest.raises(Conflict, match="counts for a twin of these data were made"):
            given_counts(connection, guess, job_id="counts-of-rival")
