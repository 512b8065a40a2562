"""Reviews of twins and comments on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset, given_job, given_user, make_user, policy_fields

from domain.dataset import DatasetState
from domain.errors import Conflict, InvalidRequest, NotFound
from domain.notice import NoticeKind
from domain.permissions import Role, User
from domain.policy import Policy
from domain.review import MAX_COMMENT, MAX_COMMENTS, Thread, TwinState
from domain.states import JobState
from store import channels, comments, datasets, history, notices, policies, twin_reviews, waiting
from store.database import Database
from store.history import Wanted
from store.twin_reviews import TwinReview

HOLDER, VERA, RIVAL = (make_user(name, Role.RIGHTS_HOLDER) for name in ("holder", "vera", "rival"))
ADA, BOB = make_user("ada"), make_user("bob")
TWO = policy_fields(data_users=["ada"], reviewers=["vera"], votes=2, review_twin=True)


@pytest.fixture
def reviewed(database: Database) -> Database:
    """A data set whose twin needs two votes."""
    with database.transaction() as connection:
        for user in (HOLDER, VERA, RIVAL, ADA, BOB, make_user("olga", Role.OPERATOR)):
            given_user(connection, user.name, user.role)
        given_dataset(connection, policy=TWO)
    return database


def vote(database: Database, user: User, *, approves: bool = True, version: int = 1) -> TwinReview:
    with database.transaction() as connection:
        return twin_reviews.vote(
            connection,
            name="heights",
            version=version,
            user=user,
            approves=approves,
            reason="so it is",
            now=NOW,
        )


def state(database: Database) -> TwinState:
    with database.reading() as connection:
        return twin_reviews.of(connection, datasets.newest(connection, "heights", HOLDER)).state


def check_open(database: Database, user: User) -> None:
    with database.reading() as connection:
        twin_reviews.check_open(connection, datasets.newest(connection, "heights", user), user)


@pytest.mark.parametrize(
    ("first", "second", "after"),
    [(True, True, TwinState.APPROVED), (False, True, TwinState.REFUSED), (True, False, TwinState.REFUSED)],
)
def test_a_twin_leaves_after_all_votes_and_one_refusal_refuses(
    reviewed: Database, first: bool, second: bool, after: TwinState
):
    with pytest.raises(Conflict, match="have not yet approved the twin of version 1"):
        check_open(reviewed, ADA)
    found = vote(reviewed, VERA, approves=first)
    assert (found.state, found.tally.given, found.tally.votes) == (TwinState.WAITING, 1, ())
    assert vote(reviewed, HOLDER, approves=second).state is after
    check_open(reviewed, VERA)
    if after is TwinState.APPROVED:
        check_open(reviewed, ADA)
    else:
        with pytest.raises(Conflict, match="refused the twin of version 1"):
            check_open(reviewed, ADA)
    with reviewed.reading() as connection:
        events = history.events(connection, Wanted(action="twin.decide"))
        votes = history.events(connection, Wanted(action="review.vote"))
    assert [event.details["decision"] for event in reversed(events)] == [
        "approve" if each else "refuse" for each in (first, second)
    ]
    assert [event.details for event in votes] == [{"stage": "TWIN", "given": 1, "needed": 2}]


def test_without_the_policys_word_nobody_waits(database: Database):
    with database.transaction() as connection:
        given_user(connection, "ada")
        given_dataset(connection)
        assert waiting.of(connection, HOLDER) == []
    check_open(database, ADA)
    with pytest.raises(Conflict, match="nothing about this twin waits"):
        vote(database, HOLDER)


def test_who_votes_about_a_twin(reviewed: Database):
    for user in (RIVAL, ADA, BOB, make_user("olga", Role.OPERATOR)):
        with pytest.raises(NotFound):
            vote(reviewed, user)
    vote(reviewed, VERA)
    with pytest.raises(Conflict, match="you have voted"):
        vote(reviewed, VERA, approves=False)
    assert state(reviewed) is TwinState.WAITING


def test_a_vote_is_about_the_version_that_was_looked_at(reviewed: Database):
    vote(reviewed, VERA)
    vote(reviewed, HOLDER)
    with reviewed.transaction() as connection:
        given_dataset(connection, policy=TWO)
    with pytest.raises(Conflict, match="version 2 is the newest now"):
        vote(reviewed, VERA, version=1)
    assert state(reviewed) is TwinState.WAITING
    with pytest.raises(Conflict, match="version 2"):
        check_open(reviewed, ADA)
    with reviewed.reading() as connection:
        (found,) = waiting.of(connection, VERA)
    assert (found.subject, found.version, found.has_voted) == ("heights", 2, False)


def test_a_version_that_is_not_ready_has_no_twin_to_decide_about(database: Database):
    with database.transaction() as connection:
        given_user(connection, "vera", Role.RIGHTS_HOLDER)
        given_dataset(connection, policy=TWO, state=DatasetState.IMPORTING)
    with pytest.raises(Conflict, match="nothing about this twin waits"):
        vote(database, HOLDER)


def test_how_many_votes_are_needed_is_fixed_by_the_first_one(reviewed: Database):
    vote(reviewed, VERA, approves=False)
    with reviewed.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        one = Policy.model_validate({**TWO, "votes": 1})
        policies.change(connection, dataset=dataset, policy=one, expected=1, by="holder", reason="", now=NOW)
    assert state(reviewed) is TwinState.WAITING, "or else the vote that is in would show by the outcome"
    assert vote(reviewed, HOLDER).state is TwinState.REFUSED


def test_two_last_votes_at_the_same_moment_decide_once(reviewed: Database):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda user: vote(reviewed, user, approves=user is VERA), (VERA, HOLDER)))
    assert state(reviewed) is TwinState.REFUSED
    with reviewed.reading() as connection:
        assert len(history.events(connection, Wanted(action="twin.decide"))) == 2


def write(
    database: Database, user: User, text: str = "Why?", *, job="job-talk-01", thread=Thread.JOB
) -> None:
    with database.transaction() as connection:
        comments.add(connection, job_id=job, thread=thread, user=user, text=text, now=NOW)


def read(
    database: Database, user: User, *, job: str = "job-talk-01", thread: Thread = Thread.JOB
) -> list[str]:
    with database.reading() as connection:
        return [each.text for each in comments.listed(connection, job_id=job, thread=thread, user=user)]


@pytest.fixture
def talked_about(reviewed: Database) -> Database:
    """Two jobs of ada: one that waits, one whose release is in review."""
    with reviewed.transaction() as connection:
        given_job(connection, job_id="job-talk-01")
        given_job(connection, job_id="job-talk-02", state=JobState.IN_REVIEW, epsilon="0.25")
    return reviewed


def test_the_author_and_the_reviewers_talk_until_there_is_a_release(talked_about: Database):
    write(talked_about, ADA, " first ")
    write(talked_about, VERA, "second\nline")
    write(talked_about, HOLDER, "third")
    for user in (ADA, VERA, HOLDER):
        assert read(talked_about, user) == ["first", "second\nline", "third"]
        with pytest.raises(Conflict, match="the talk with its author has ended"):
            write(talked_about, user, job="job-talk-02")
        assert read(talked_about, user, job="job-talk-02") == []
    with talked_about.reading() as connection:
        events = history.events(connection, Wanted(action="job.comment"))
    assert [event.details for event in events] == [{"thread": "job"}] * 3


def test_what_reviewers_of_a_release_write_is_for_reviewers_alone(talked_about: Database):
    write(talked_about, VERA, "41.5 is high", job="job-talk-02", thread=Thread.RELEASE)
    assert read(talked_about, HOLDER, job="job-talk-02", thread=Thread.RELEASE) == ["41.5 is high"]
    for user in (ADA, BOB, RIVAL, make_user("olga", Role.OPERATOR)):
        with pytest.raises(NotFound):
            read(talked_about, user, job="job-talk-02", thread=Thread.RELEASE)
        with pytest.raises(NotFound):
            write(talked_about, user, job="job-talk-02", thread=Thread.RELEASE)
    with pytest.raises(Conflict, match="no release to write about"):
        write(talked_about, VERA, thread=Thread.RELEASE)


def test_strangers_and_operators_neither_read_nor_write(talked_about: Database, subtests: pytest.Subtests):
    for user in (BOB, RIVAL, make_user("olga", Role.OPERATOR)):
        with subtests.test(msg=user.name):
            with pytest.raises(NotFound):
                read(talked_about, user)
            with pytest.raises(NotFound):
                write(talked_about, user)


def test_a_comment_that_cannot_be_kept_is_refused(talked_about: Database, subtests: pytest.Subtests):
    for text in ("", " \n\t", "x" * (MAX_COMMENT + 1), "a\x00b", "a\u202eb", "a\x1bb"):
        with subtests.test(msg=ascii(text[:20])):
            with pytest.raises(InvalidRequest, match="text"):
                write(talked_about, ADA, text)
            assert read(talked_about, ADA) == []


def test_a_thread_has_an_end(talked_about: Database):
    known = {"job_id": "job-talk-01", "thread": Thread.JOB}
    before = [{**known, "author": "ada", "text": str(n), "at": NOW} for n in range(MAX_COMMENTS - 1)]
    with talked_about.transaction() as connection:
        connection.execute(sa.insert(comments.comments), before)
        comments.add(connection, **known, user=ADA, text="the last", now=NOW)
        with pytest.raises(Conflict, match=f"at most {MAX_COMMENTS} comments"):
            comments.add(connection, **known, user=VERA, text="x", now=NOW)


def test_who_is_told_that_a_twin_waits_was_decided_and_that_somebody_wrote(talked_about: Database):
    def told(name: str) -> list[NoticeKind]:
        with talked_about.reading() as connection:
            return sorted(one.notice.kind for one in notices.of_user(connection, name))

    everybody = ("holder", "vera", "rival", "ada", "bob", "olga")
    with talked_about.transaction() as connection:
        for name in everybody:
            channels.add_webhook(connection, name, "https://hooks.example.org/in", NOW)
        dataset = datasets.newest(connection, "heights", HOLDER)
        twin_reviews.announce(connection, dataset.id, now=NOW)
    assert {name: told(name) for name in everybody if told(name)} == {
        name: [NoticeKind.TWIN_WAITS] for name in ("holder", "vera")
    }
    vote(talked_about, VERA, approves=False)
    assert told("holder") == [NoticeKind.TWIN_WAITS], "one vote of two is nobody's news"
    vote(talked_about, HOLDER)
    write(talked_about, ADA)
    write(talked_about, VERA, job="job-talk-02", thread=Thread.RELEASE)
    assert told("vera") == [NoticeKind.COMMENT, NoticeKind.TWIN_DECIDED, NoticeKind.TWIN_WAITS]
    assert told("holder") == [NoticeKind.COMMENT, NoticeKind.COMMENT, NoticeKind.TWIN_WAITS]
    assert [told(name) for name in ("rival", "ada", "bob", "olga")] == [[], [], [], []]
