"""Approval of counts for twins on both databases: who votes, what a vote changes, and who hears of it."""

from __future__ import annotations

from typing import Any

import pytest
from factories import NOW, given_dataset, given_user, make_policy, make_user, policy_fields
from made_counts import given_counts

from domain.errors import Conflict, InvalidRequest, NotFound
from domain.permissions import Role, User
from domain.review import TwinState
from domain.states import JobState
from domain.twin.basis import BLANK, TwinBasis
from store import datasets, history, policies, twin_reviews, twins, waiting
from store.database import Database
from store.history import Wanted

HOLDER, VERA, RIVAL = (make_user(name, Role.RIGHTS_HOLDER) for name in ("holder", "vera", "rival"))
ADA = make_user("ada")
ONE = policy_fields(data_users=["ada"], reviewers=["vera"])
TWO = policy_fields(data_users=["ada"], reviewers=["vera"], votes=2, review_twin=True)


@pytest.fixture
def counted(database: Database) -> Database:
    """Released counts of a data set whose twins need two votes."""
    with database.transaction() as connection:
        for user in (HOLDER, VERA, RIVAL, ADA):
            given_user(connection, user.name, user.role)
        given_counts(connection, given_dataset(connection, policy=TWO), job_id="counts-one")
    return database


def vote(database: Database, user: User, *, approves: bool = True, reason: str = "so") -> twins.Counts:
    with database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        return twins.vote(
            connection,
            dataset=dataset,
            job_id="counts-one",
            user=user,
            approves=approves,
            reason=reason,
            now=NOW,
        )


def basis_of(database: Database, user: User, **named: str) -> TwinBasis:
    with database.reading() as connection:
        dataset = datasets.newest(connection, "heights", user)
        return twins.basis_for(connection, dataset, user, **named)


def test_two_votes_where_the_policy_asks_for_two(counted: Database) -> None:
    with pytest.raises(Conflict, match="not yet approved"):
        basis_of(counted, ADA)
    first = vote(counted, VERA)
    assert (first.state, first.tally.given, first.tally.votes) == (TwinState.WAITING, 1, ())
    with pytest.raises(Conflict, match="cannot be changed"):
        vote(counted, VERA)
    with pytest.raises(Conflict, match="not yet approved"):
        basis_of(counted, ADA)
    assert vote(counted, HOLDER).state is TwinState.APPROVED
    assert basis_of(counted, ADA).job_id == "counts-one"
    with counted.reading() as connection:
        decided = history.events(connection, Wanted(action="twin.decide"))
    assert {event.actor for event in decided} == {"holder", "vera"}
    assert {event.subject for event in decided} == {"counts-one"}


def test_one_refusal_refuses_and_the_twin_stays_as_it_was(counted: Database) -> None:
    with pytest.raises(InvalidRequest, match="reason"):
        vote(counted, VERA, approves=False, reason="")
    vote(counted, VERA, approves=False)
    assert vote(counted, HOLDER).state is TwinState.REFUSED
    assert basis_of(counted, HOLDER) == BLANK
    with pytest.raises(Conflict, match="not yet approved"):
        basis_of(counted, ADA)


def test_nobody_else_votes_or_looks(counted: Database) -> None:
    for user in (RIVAL, ADA):
        with pytest.raises(NotFound):
            vote(counted, user)
    with pytest.raises(NotFound):
        basis_of(counted, ADA, job_id="counts-one")
    assert basis_of(counted, VERA, job_id="counts-one").level == 1
    with pytest.raises(NotFound):
        basis_of(counted, VERA, job_id="counts-two")


def test_what_waits_is_listed_until_it_is_decided(counted: Database) -> None:
    def titles(user: User) -> list[tuple[str, bool]]:
        with counted.reading() as connection:
            found = [each for each in waiting.of(connection, user) if "released counts" in each.title]
        return [(each.subject, each.has_voted) for each in found]

    assert titles(VERA) == titles(HOLDER) == [("heights", False)]
    assert titles(RIVAL) == []
    vote(counted, VERA)
    assert (titles(VERA), titles(HOLDER)) == ([("heights", True)], [("heights", False)])
    vote(counted, HOLDER)
    assert titles(VERA) == titles(HOLDER) == []
    with counted.reading() as connection:
        (decided,) = waiting.decided(connection, VERA, limit=5)
    assert (decided.subject, decided.title) == ("heights", "twin counts of participants.tsv")


def test_the_newest_approved_counts_count_and_a_new_version_starts_blank(counted: Database) -> None:
    vote(counted, VERA)
    vote(counted, HOLDER)
    with counted.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        given_counts(connection, dataset, job_id="counts-two", again=True, level=2, state=JobState.QUEUED)
        assert twins.basis(connection, dataset.id).job_id == "counts-one"
        other = given_dataset(connection, policy=TWO)
        assert twins.basis(connection, other.id) is BLANK
        with pytest.raises(NotFound, match="version 2"):
            twins.get(connection, other, "counts-one")


@pytest.fixture
def unreviewed(database: Database) -> Database:
    """Released counts of a data set whose policy asks for no review of twins; one reviewer approved them."""
    with database.transaction() as connection:
        for user in (HOLDER, VERA, RIVAL, ADA):
            given_user(connection, user.name, user.role)
        given_counts(connection, given_dataset(connection, policy=ONE), job_id="counts-one")
    assert vote(database, VERA).state is TwinState.APPROVED
    assert basis_of(database, ADA).job_id == "counts-one"
    return database


def change_policy(database: Database, **fields: Any) -> None:
    with database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        policies.change(
            connection,
            dataset=dataset,
            policy=make_policy(data_users=["ada"], reviewers=["vera"], **fields),
            expected=dataset.policy_number,
            by="holder",
            reason="more eyes",
            now=NOW,
        )


@pytest.mark.parametrize("approves", [True, False])
def test_a_policy_that_asks_for_more_votes_holds_approved_counts_back(
    unreviewed: Database, approves: bool
) -> None:
    change_policy(unreviewed, votes=2, review_twin=True)
    for named in ({}, {"job_id": "counts-one"}):
        with pytest.raises((Conflict, NotFound), match=r"not yet approved|no such counts"):
            basis_of(unreviewed, ADA, **named)
    with unreviewed.reading() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        (counts,) = twins.waiting(connection, [dataset])
        assert (counts.state, counts.tally.given, counts.tally.needed) == (TwinState.WAITING, 1, 2)
        assert twins.basis(connection, dataset.id) is BLANK
    with pytest.raises(Conflict, match="cannot be changed"):
        vote(unreviewed, VERA)
    state = vote(unreviewed, HOLDER, approves=approves).state
    assert state is (TwinState.APPROVED if approves else TwinState.REFUSED)
    if approves:
        assert basis_of(unreviewed, ADA).job_id == "counts-one"
    else:
        with pytest.raises(Conflict, match="not yet approved"):
            basis_of(unreviewed, ADA)


def test_a_policy_that_asks_for_as_many_votes_as_there_were_changes_nothing(unreviewed: Database) -> None:
    change_policy(unreviewed, votes=1, review_twin=True)
    assert basis_of(unreviewed, ADA).job_id == "counts-one"


def test_counts_do_not_pass_a_form_that_reviewers_refused(unreviewed: Database) -> None:
    change_policy(unreviewed, votes=1, review_twin=True)
    with unreviewed.transaction() as connection:
        twin_reviews.vote(
            connection, name="heights", version=1, user=VERA, approves=False, reason="names", now=NOW
        )
    for named in ({}, {"job_id": "counts-one"}):
        with pytest.raises(Conflict, match="refused the twin"):
            basis_of(unreviewed, ADA, **named)
    assert basis_of(unreviewed, VERA).job_id == "counts-one"


def test_the_counts_of_a_release_are_read_once(counted: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    vote(counted, VERA)
    vote(counted, HOLDER)
    found = basis_of(counted, ADA)
    with counted.reading() as connection:
        first = twins.counts_of(connection, found)
    assert list(first) == ["participants.tsv"]

    def refuse(*_: object) -> None:
        raise AssertionError("the release was read again")

    monkeypatch.setattr(twins.releases, "read", refuse)
    with counted.reading() as connection:
        assert twins.counts_of(connection, found) is first
        assert twins.counts_of(connection, BLANK) == {}


def test_there_are_no_counts_before_the_release(database: Database) -> None:
    with database.transaction() as connection:
        given_counts(connection, given_dataset(connection), state=JobState.QUEUED)
        with pytest.raises(Conflict, match="no release to read"):
            twins.counts_of(connection, twins.basis_of(connection, "counts-000001"))
