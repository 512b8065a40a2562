"""Drafts of registrations, on both databases: one owner, no lost change, bounded in number and size."""

from __future__ import annotations

from datetime import timedelta

import pytest
from factories import NOW, given_user

from domain.errors import Conflict, NotFound, TooLarge
from domain.permissions import Role
from store import drafts
from store.database import Database

CONTENT = {"declaration": {"name": "new", "größe": [1, 2.5, None, True, "\u2028"]}, "done": ["about"]}


@pytest.fixture
def peopled(database: Database) -> Database:
    with database.transaction() as connection:
        given_user(connection, "holder", Role.RIGHTS_HOLDER)
        given_user(connection, "rival", Role.RIGHTS_HOLDER)
    return database


def test_a_draft_comes_back_as_it_was_typed(peopled: Database):
    with peopled.transaction() as connection:
        made = drafts.create(connection, owner="holder", content=CONTENT, now=NOW)
    with peopled.reading() as connection:
        assert drafts.read(connection, made.id, owner="holder") == made
        assert [draft.id for draft in drafts.of_owner(connection, "holder")] == [made.id]
    assert made.content == CONTENT


def test_somebody_elses_draft_does_not_exist(peopled: Database):
    with peopled.transaction() as connection:
        made = drafts.create(connection, owner="holder", content=CONTENT, now=NOW)
        with pytest.raises(NotFound):
            drafts.read(connection, made.id, owner="rival")
        assert not drafts.remove(connection, made.id, owner="rival")
        assert drafts.of_owner(connection, "rival") == []
        assert drafts.remove(connection, made.id, owner="holder")
        assert not drafts.remove(connection, made.id, owner="holder")


def test_of_two_changes_made_on_the_same_draft_the_later_one_is_told(peopled: Database):
    with peopled.transaction() as connection:
        made = drafts.create(connection, owner="holder", content={}, now=NOW)
    later = NOW + timedelta(minutes=1)
    with peopled.transaction() as connection:
        changed = drafts.change(connection, made, {"a": 1}, revision=made.revision, now=later)
    with peopled.transaction() as connection, pytest.raises(Conflict):
        drafts.change(connection, made, {"a": 2}, revision=made.revision, now=later)
    with peopled.reading() as connection:
        assert drafts.read(connection, made.id, owner="holder") == changed
    assert (changed.content, changed.revision, changed.changed_at) == ({"a": 1}, 2, later)


def test_drafts_are_bounded_in_number_and_size(peopled: Database):
    with peopled.transaction() as connection:
        for _ in range(drafts.MOST):
            made = drafts.create(connection, owner="holder", content={}, now=NOW)
        with pytest.raises(Conflict, match="20 drafts"):
            drafts.create(connection, owner="holder", content={}, now=NOW)
        drafts.create(connection, owner="rival", content={}, now=NOW)
        with pytest.raises(TooLarge):
            drafts.change(connection, made, {"a": "x" * drafts.MAX_BYTES}, revision=1, now=NOW)
        with pytest.raises(TooLarge):
            drafts.create(connection, owner="rival", content={"a": "x" * drafts.MAX_BYTES}, now=NOW)
