"""Votes on both databases: who may vote, when a job moves, and what can be read before it does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_job, given_user, make_user, policy_fields
from sqlalchemy.exc import DBAPIError

from domain.errors import Conflict, InvalidRequest, NotAllowed, NotFound, RequestError
from domain.job import Job
from domain.permissions import Role
from domain.policy import Policy
from domain.review import Stage, Tally
from domain.states import JobState
from store import datasets, history, job_lists, jobs, ledger, policies, reviewers, reviews, users, waiting
from store.database import Database
from store.history import Wanted

HOLDER, VERA, RIVAL = (make_user(name, Role.RIGHTS_HOLDER) for name in ("holder", "vera", "rival"))
SECRET = "because of what only the voter knows"


@pytest.fixture
def two(database: Database) -> Database:
    """A data set whose jobs and releases need two votes, of its owner and of vera."""
    with database.transaction() as connection:
        for user in (HOLDER, VERA, RIVAL):
            given_user(connection, user.name, user.role)
        given_user(connection, "olga", Role.OPERATOR)
        fields = policy_fields(approve_jobs=True, review_releases=True, reviewers=["vera"], votes=2)
        given_dataset(connection, policy=fields)
    return database


def given(database: Database, state: JobState = JobState.SUBMITTED, **fields: str) -> Job:
    with database.transaction() as connection:
        return given_job(connection, state=state, **fields)


def vote(database: Database, job: Job, user=HOLDER, *, approves: bool = True, stage=Stage.APPROVAL) -> Tally:
    with database.transaction() as connection:
        return reviews.vote_on_job(
            connection, job_id=job.id, stage=stage, user=user, approves=approves, reason=SECRET, now=NOW
        )


def state(database: Database, job: Job) -> JobState:
    with database.reading() as connection:
        return jobs.get(connection, job.id).state


MOVES = (
    (JobState.SUBMITTED, Stage.APPROVAL, True, True, JobState.QUEUED),
    (JobState.SUBMITTED, Stage.APPROVAL, False, True, JobState.REJECTED),
    (JobState.SUBMITTED, Stage.APPROVAL, True, False, JobState.REJECTED),
    (JobState.IN_REVIEW, Stage.RELEASE, True, True, JobState.RELEASED),
    (JobState.IN_REVIEW, Stage.RELEASE, False, True, JobState.WITHHELD),
    (JobState.IN_REVIEW, Stage.RELEASE, False, False, JobState.WITHHELD),
)


def test_a_job_moves_with_the_second_vote_and_one_refusal_refuses(two: Database, subtests: pytest.Subtests):
    for number, (before, stage, first, second, after) in enumerate(MOVES, start=1):
        with subtests.test(msg=f"{before}: {first} and {second}"):
            job = given(two, before, epsilon=f"0.{number}")
            assert vote(two, job, VERA, approves=first, stage=stage) == Tally(needed=2, given=1)
            assert state(two, job) is before
            found = vote(two, job, HOLDER, approves=second, stage=stage)
            assert state(two, job) is after
            given_votes = [(each.reviewer, each.approves) for each in found.votes]
            assert given_votes == [("vera", first), ("holder", second)]


def test_before_all_votes_are_in_nothing_read_from_the_store_tells_a_direction(two: Database):
    job = given(two)
    vote(two, job, VERA, approves=False)
    with two.reading() as connection:
        read = [
            reviews.of_job(connection, job, Stage.APPROVAL),
            reviews.ended(connection, job),
            reviews.refusals(connection, job),
            waiting.of(connection, HOLDER),
            waiting.decided(connection, VERA, limit=10),
            history.events(connection, Wanted(subject=job.id)),
        ]
        assert history.decisions(connection, job_id=job.id) == []
    # a vote for it must leave the same traces
    other = given(two, epsilon="0.25")
    vote(two, other, VERA, approves=True)
    assert SECRET not in str(read)
    assert "approves" not in str(read)
    with two.reading() as connection:
        traces = [
            [
                (event.actor, event.action, event.details)
                for event in history.events(connection, Wanted(subject=id_))
            ]
            for id_ in (job.id, other.id)
        ]
    assert traces[0] == traces[1]


def test_a_vote_is_given_once(two: Database):
    job = given(two)
    vote(two, job)
    for approves in (True, False):
        with pytest.raises(Conflict, match="you have voted on this"):
            vote(two, job, approves=approves)
    assert state(two, job) is JobState.SUBMITTED


def test_the_author_a_stranger_and_other_roles_do_not_vote(two: Database):
    own = given(two, author="vera")
    with pytest.raises(NotAllowed, match="the author of a job cannot decide"):
        vote(two, own, VERA)
    job = given(two, epsilon="0.25")
    for user in (RIVAL, make_user("ada"), make_user("bob")):
        with pytest.raises((NotFound, RequestError)):
            vote(two, job, user)
    with two.reading() as connection:
        assert reviews.of_job(connection, job, Stage.APPROVAL).given == 0
        assert reviews.of_job(connection, own, Stage.APPROVAL).given == 0


def test_a_refusal_without_a_reason_is_no_vote(two: Database):
    job = given(two)
    for reason in ("", " \n", "x" * 1001, "\x00", "\u202e"):
        with two.transaction() as connection, pytest.raises(InvalidRequest, match="reason"):
            reviews.vote_on_job(
                connection,
                job_id=job.id,
                stage=Stage.APPROVAL,
                user=VERA,
                approves=False,
                reason=reason,
                now=NOW,
            )
    with two.reading() as connection:
        assert reviews.of_job(connection, job, Stage.APPROVAL).given == 0


def test_nothing_is_left_to_decide_elsewhere(two: Database, subtests: pytest.Subtests):
    elsewhere = (JobState.QUEUED, JobState.RUNNING, JobState.RELEASED, JobState.CANCELLED)
    for number, found in enumerate(elsewhere, start=1):
        job = given(two, found, epsilon=f"0.{number}")
        for stage in (Stage.APPROVAL, Stage.RELEASE):
            with subtests.test(msg=f"{found}: {stage}"), pytest.raises(Conflict):
                vote(two, job, stage=stage)


def test_two_last_votes_at_the_same_moment_move_the_job_once(two: Database):
    jobs_ = [given(two, epsilon=f"0.0{number}") for number in range(11, 17)]

    def cast(case: tuple[Job, str]) -> object:
        job, name = case
        return vote(two, job, make_user(name, Role.RIGHTS_HOLDER), approves=name == "vera")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(cast, [(job, name) for job in jobs_ for name in ("holder", "vera")]))
    with two.reading() as connection:
        for job in jobs_:
            assert jobs.get(connection, job.id).state is JobState.REJECTED
            events = history.events(connection, Wanted(subject=job.id))
            assert [event.action for event in events].count("job.move") == 1
            assert [event.action for event in events].count("job.decide") == 2
        account = next(a for a in ledger.list_accounts(connection, cohort="heights") if a.kind == "cohort")
    assert account.reserved == 0


def test_the_same_reviewer_twice_at_the_same_moment_is_one_vote(two: Database):
    job = given(two)

    def cast(_number: int) -> str:
        try:
            vote(two, job, VERA)
        except Conflict:
            return "refused"
        return "kept"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(cast, range(4))) == ["kept", "refused", "refused", "refused"]
    assert state(two, job) is JobState.SUBMITTED


def change(database: Database, **fields: object) -> None:
    with database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        present = policies.in_effect(connection, "heights")
        assert present is not None
        policies.change(
            connection,
            dataset=dataset,
            policy=Policy.model_validate({**policy_fields(), **fields}),
            expected=present.number,
            by="holder",
            reason="",
            now=NOW,
        )


def test_the_number_of_votes_is_that_of_the_policy_the_job_was_submitted_under(two: Database):
    job = given(two)
    change(two, approve_jobs=True, reviewers=["vera"])
    assert vote(two, job).needed == 2
    assert state(two, job) is JobState.SUBMITTED
    later = given(two, epsilon="0.25")
    assert vote(two, later).is_complete
    assert state(two, later) is JobState.QUEUED


def test_the_vote_of_somebody_who_left_stays_and_the_next_reviewer_gives_the_other(two: Database):
    job = given(two)
    vote(two, job, VERA)
    change(two, approve_jobs=True, votes=2, reviewers=["rival"])
    with two.reading() as connection:
        assert job_lists.visible_to(connection, VERA) == []
        with pytest.raises(NotFound):
            jobs.get_visible(connection, job.id, VERA)
        assert [each.subject for each in waiting.of(connection, RIVAL)] == [job.id]
    assert vote(two, job, RIVAL).approved
    assert state(two, job) is JobState.QUEUED


def test_somebody_who_was_disabled_is_no_reviewer_to_count_on(two: Database):
    with two.transaction() as connection:
        assert reviewers.of(connection, "heights") == {"holder", "vera"}
        users.disable(connection, name="vera", now=NOW)
        assert reviewers.of(connection, "heights") == {"holder"}


def test_a_reviewer_sees_the_data_set_and_owns_nothing_of_it(two: Database):
    with two.reading() as connection:
        assert datasets.newest(connection, "heights", VERA).owner == "holder"
        with pytest.raises(NotFound, match="of yours"):
            datasets.owned(connection, "heights", VERA)
        with pytest.raises(NotFound):
            datasets.newest(connection, "heights", RIVAL)
        assert reviewers.reviewed_by(connection, make_user("vera")) == frozenset(), "only as rights holder"


def test_what_waits_comes_first_for_those_who_have_not_voted(two: Database):
    first, second = given(two), given(two, epsilon="0.25")
    vote(two, first, VERA)
    with two.reading() as connection:
        found = waiting.of(connection, VERA)
        assert [(each.subject, each.has_voted) for each in found] == [(first.id, True), (second.id, False)]
        assert waiting.count(connection, VERA) == 1
        assert waiting.count(connection, HOLDER) == 2
        assert waiting.count(connection, RIVAL) == 0
        (voted,) = waiting.decided(connection, VERA, limit=10)
    assert (voted.subject, voted.tally.votes) == (first.id, ())


def test_nothing_that_was_said_can_be_changed(two: Database, subtests: pytest.Subtests):
    job = given(two)
    vote(two, job)
    with two.transaction() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO comments (job_id, thread, author, text, at)"
                " VALUES (:job, 'job', 'ada', 'x', :at)"
            ),
            {"job": job.id, "at": NOW},
        )
    for statement in (
        "UPDATE votes SET at = at",
        "DELETE FROM votes",
        "UPDATE comments SET at = at",
        "DELETE FROM comments",
    ):
        refused = pytest.raises(DBAPIError, match="append-only")
        with subtests.test(msg=statement), refused, two.transaction() as connection:
            connection.execute(sa.text(statement))
