"""A job's id is its author's choice, a cohort's name its owner's: neither may stand for something else."""

from __future__ import annotations

import pytest
from factories import NOW, given_dataset, given_job, given_user, make_user, policy_fields
from made_counts import given_counts

from domain.errors import Conflict
from domain.permissions import Role, User
from domain.review import TwinState
from store import audit, datasets, history, twin_reviews, twins
from store.database import Database
from store.history import Wanted

HOLDER, VERA, RIVAL = (make_user(name, Role.RIGHTS_HOLDER) for name in ("holder", "vera", "rival"))
TWO = policy_fields(data_users=["ada"], reviewers=["vera"], votes=2, review_twin=True)


@pytest.fixture
def told(database: Database) -> Database:
    """A data set of `holder`, and `rival` who has nothing to do with it."""
    with database.transaction() as connection:
        for user in (HOLDER, VERA, RIVAL):
            given_user(connection, user.name, user.role)
        given_dataset(connection, policy=TWO)
    return database


def seen_by(database: Database, user: User) -> set[tuple[str, str]]:
    """Action and actor of every event that a rights holder may read."""
    with database.reading() as connection:
        own = history.concerning(connection, user)
        return {
            (event.action, event.actor)
            for event in history.events(connection, Wanted(), among=own, limit=1000)
        }


def test_one_vote_on_the_form_is_no_vote_on_counts(told: Database) -> None:
    """Whoever has counts made would choose the version's id, and need nobody who looked at them."""
    with told.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        twin_reviews.vote(connection, name="heights", version=1, user=VERA, approves=True, reason="", now=NOW)
    with told.transaction() as connection, pytest.raises(Conflict, match="stands for another"):
        given_counts(connection, dataset, job_id=dataset.id)
    with told.transaction() as connection:
        given_counts(connection, dataset, job_id="counts-one")
        found = twins.vote(
            connection,
            dataset=dataset,
            job_id="counts-one",
            user=HOLDER,
            approves=True,
            reason="",
            now=NOW,
        )
    assert (found.state, found.tally.given) == (TwinState.WAITING, 1)


def test_no_job_has_the_id_of_any_version(told: Database) -> None:
    with told.transaction() as connection:
        first = datasets.newest(connection, "heights", HOLDER)
        given_dataset(connection, policy=TWO)
        with pytest.raises(Conflict, match="stands for another"):
            given_job(connection, job_id=first.id)


def test_a_cohort_with_somebodys_name_opens_nothing_about_them(told: Database) -> None:
    with told.transaction() as connection:
        audit.append(connection, at=NOW, actor="vera", action="session.open", subject="vera", by="password")
        audit.append(connection, at=NOW, actor="gateway", action="login.refused", subject="vera")
    before = seen_by(told, RIVAL)
    with told.transaction() as connection:
        given_dataset(connection, name="mine", owner="rival", cohort="vera")
        audit.append(connection, at=NOW, actor="rival", action="budget.allot", subject="vera", kind="user")
    assert seen_by(told, RIVAL) - before == {
        ("dataset.register", "rival"), ("dataset.import", "worker"), ("budget.allot", "rival"),
    }  # fmt: skip


def test_a_job_with_the_name_of_a_cohort_opens_nothing_about_it(told: Database) -> None:
    with told.transaction() as connection:
        given_dataset(connection, name="of-others", owner="rival", cohort="heart-study")
        audit.append(connection, at=NOW, actor="rival", action="budget.allot", subject="heart-study")
        given_user(connection, "zoe-the-first")
        audit.append(connection, at=NOW, actor="gateway", action="login.refused", subject="zoe-the-first")
    before = seen_by(told, HOLDER)
    with told.transaction() as connection:
        for job_id, epsilon in (("heart-study", "0.5"), ("zoe-the-first", "0.25")):
            given_job(connection, job_id=job_id, epsilon=epsilon)
    assert seen_by(told, HOLDER) - before == seen_by(told, VERA) - before == {("job.submit", "ada")}
