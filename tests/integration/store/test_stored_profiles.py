"""Profiles on record: whose they are, who may claim them, and what a state allows. On both databases."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from factories import given_dataset, given_user, make_user

from domain.errors import Conflict, NotFound
from domain.permissions import Role
from domain.profile_request import KEPT, MOST_OPEN, ProfileProblem, ProfileRequest, ProfileState
from store import history, profiles
from store.database import Database
from store.profile_box import new_key
from store.tables import audit_events

KEY = new_key()[1]


def request(number: int = 1, **fields: Any) -> ProfileRequest:
    delivery = f"00000000-0000-4000-8000-{number:012d}"
    return ProfileRequest(**{"name": "clinic", "delivery": delivery, "key": KEY, **fields})


@pytest.fixture
def people(database: Database) -> Database:
    with database.transaction() as connection:
        for name in ("holder", "rival"):
            given_user(connection, name, Role.RIGHTS_HOLDER)
    return database


def ask(
    connection: sa.Connection, now: datetime, number: int = 1, *, by: str = "holder", **fields: Any
) -> Any:
    found, _ = profiles.request(
        connection, profile_id=f"profile-{number:04d}", owner=by, request=request(number, **fields), now=now
    )
    return found


def test_the_same_request_again_is_the_one_on_record(people: Database, now: datetime) -> None:
    with people.transaction() as connection:
        first = ask(connection, now)
        again, is_new = profiles.request(
            connection, profile_id=first.id, owner="holder", request=request(), now=now
        )
        assert (again, is_new) == (first, False)
        for owner, other in (("rival", request()), ("holder", request(name="other"))):
            with pytest.raises(Conflict, match="stands for another"):
                profiles.request(connection, profile_id=first.id, owner=owner, request=other, now=now)


def test_another_rights_holder_gets_nowhere(people: Database, now: datetime) -> None:
    with people.transaction() as connection:
        given_dataset(connection, name="taken")
        found = ask(connection, now)
        for call in (
            lambda: profiles.get_own(connection, found.id, owner="rival"),
            lambda: profiles.sealed_of(connection, found.id, owner="rival", now=now),
            lambda: profiles.remove(connection, found.id, owner="rival", now=now),
        ):
            with pytest.raises(NotFound):
                call()
        assert profiles.of_owner(connection, "rival") == []
        with pytest.raises(Conflict, match="somebody else's"):
            profiles.request(
                connection, profile_id="profile-rival", owner="rival", request=request(), now=now
            )
        with pytest.raises(Conflict, match="somebody else's"):
            profiles.check_delivery(connection, found.delivery, "rival")
        with pytest.raises(Conflict, match="is taken"):
            ask(connection, now, 2, by="rival", name="taken")


def test_a_profile_goes_its_way_once(people: Database, now: datetime) -> None:
    due = now + timedelta(minutes=1)
    with people.transaction() as connection:
        first, second = ask(connection, now), ask(connection, now, 2)
        with pytest.raises(Conflict, match="Wait until"):
            profiles.sealed_of(connection, first.id, owner="holder", now=now)
        claimed = profiles.claim(connection, first.id, now=now, due_at=due)
        assert claimed is not None
        assert claimed.state is ProfileState.READING
        assert profiles.claim(connection, second.id, now=now, due_at=due) is None  # one at a time
        assert profiles.finish(connection, claimed, sealed=b"\0sealed", now=now)
        assert not profiles.finish(connection, claimed, sealed=b"again", now=now)
        assert not profiles.fail(connection, claimed, problem=ProfileProblem.LOST, now=now)
        assert profiles.sealed_of(connection, first.id, owner="holder", now=now) == b"\0sealed"
        told = [row.action for row in connection.execute(sa.select(audit_events)) if row.subject == first.id]
        assert told == ["profile.request", "profile.end", "profile.fetch"]


def test_its_events_are_in_the_trail_of_who_asked_and_stay_there(people: Database, now: datetime) -> None:
    """An id that was given back may be another rights holder's: each sees what is about their own."""
    seen: dict[str, list[str]] = {}
    with people.transaction() as connection:
        for number, owner in enumerate(("holder", "rival"), start=1):
            asked, _ = profiles.request(
                connection,
                profile_id="profile-reused",
                owner=owner,
                request=request(number, name=owner),
                now=now,
            )
            claimed = profiles.claim(connection, asked.id, now=now, due_at=now)
            assert claimed is not None
            assert profiles.finish(connection, claimed, sealed=owner.encode(), now=now)
            profiles.sealed_of(connection, asked.id, owner=owner, now=now)
            profiles.remove(connection, asked.id, owner=owner, now=now)
        for owner in ("holder", "rival", "worker", "owner"):
            own = history.concerning(connection, make_user(owner, Role.RIGHTS_HOLDER))
            found = history.events(connection, history.Wanted(), among=own)
            assert {event.details["name"] for event in found} <= {owner}
            seen[owner] = [event.action for event in reversed(found)]
    all_steps = ["profile.request", "profile.end", "profile.fetch", "profile.remove"]
    assert seen == {"holder": all_steps, "rival": all_steps, "worker": [], "owner": []}


def test_the_database_itself_keeps_states_and_bytes_together(people: Database, now: datetime) -> None:
    with people.transaction() as connection:
        ask(connection, now)
    for change in ("state = 'SEALED'", "state = 'FAILED'", "problem = 'LOST'", "state = 'DONE'"):
        with pytest.raises(sa.exc.IntegrityError), people.transaction() as connection:
            connection.exec_driver_sql(f"UPDATE profiles SET {change}")


def test_few_wait_and_few_are_kept(people: Database, now: datetime) -> None:
    with people.transaction() as connection:
        for number in range(1, KEPT + 4):
            found = ask(connection, now + timedelta(seconds=number), number)
            claimed = profiles.claim(connection, found.id, now=now, due_at=now)
            assert claimed is not None
            profiles.fail(connection, claimed, problem=ProfileProblem.NO_KEY, now=now)
        for number in range(100, 100 + MOST_OPEN):
            ask(connection, now + timedelta(hours=1), number)
        with pytest.raises(Conflict, match="wait or are made"):
            ask(connection, now, 200)
        assert len(profiles.of_owner(connection, "holder")) == KEPT + MOST_OPEN
