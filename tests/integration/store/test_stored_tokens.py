"""Scoped tokens on record: how far each reaches, and how long."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import NOW, given_user

from domain.errors import Conflict, InvalidRequest, NotFound, Unauthenticated
from domain.permissions import GRANTS, Permission
from domain.scopes import ALL, MEANING, SCOPE, Scope, covers
from store import tokens, users
from store.tokens import Caller

WEEK = timedelta(days=7)
READ = frozenset({Scope.READ})


@pytest.fixture
def connection(database):
    with database.transaction() as connection:
        yield connection


@pytest.fixture
def ada(connection):
    return Caller(given_user(connection, "ada"))


def make(connection, by, *, scopes=READ, lasts=WEEK, label="laptop"):
    return tokens.create(connection, by, label=label, scopes=scopes, lasts=lasts, now=NOW)


def test_every_permission_is_in_one_scope_and_every_scope_has_a_meaning():
    assert set(SCOPE) == set(Permission) == set(GRANTS)
    assert set(SCOPE.values()) == set(MEANING) == ALL
    assert not any(covers(frozenset(), permission) for permission in Permission)
    assert all(covers(ALL, permission) for permission in Permission)


def test_a_token_names_its_user_and_its_reach(connection, ada):
    _, text = make(connection, ada)
    found = tokens.authenticate(connection, text, NOW)
    assert (found.user, found.scopes, found.expires_at) == (ada.user, READ, NOW + WEEK)


def test_the_full_token_goes_on_working(connection, ada):
    full = users.renew_token(connection, name="ada")
    assert tokens.authenticate(connection, full, NOW) == ada


def test_it_ends(connection, ada):
    _, text = make(connection, ada)
    assert tokens.authenticate(connection, text, NOW + WEEK - timedelta(seconds=1))
    with pytest.raises(Unauthenticated, match="the token is not valid"):
        tokens.authenticate(connection, text, NOW + WEEK)


def test_it_can_be_revoked_by_its_owner_alone(connection, ada):
    made, text = make(connection, ada)
    given_user(connection, "bob")
    with pytest.raises(NotFound):
        tokens.revoke(connection, name="bob", token_id=made.id, now=NOW)
    assert tokens.authenticate(connection, text, NOW)
    tokens.revoke(connection, name="ada", token_id=made.id, now=NOW)
    for again in (made.id, "", "\ud7ff", "' OR 1=1"):
        with pytest.raises(NotFound, match="has no token"):
            tokens.revoke(connection, name="ada", token_id=again, now=NOW)
    with pytest.raises(Unauthenticated):
        tokens.authenticate(connection, text, NOW)


def test_a_wrong_secret(connection, ada):
    made, text = make(connection, ada)
    with pytest.raises(Unauthenticated, match="the token is not valid"):
        tokens.authenticate(connection, f"dpgate.{made.id}.{'A' * 43}", NOW)
    kept = str(connection.execute(sa.text("SELECT * FROM api_tokens")).all())
    assert text.split(".")[2] not in kept


def test_nobody_makes_a_wider_or_longer_one_of_it(connection, ada):
    both = frozenset({Scope.READ, Scope.TOKENS})
    _, text = make(connection, ada, scopes=both)
    narrow = tokens.authenticate(connection, text, NOW)
    with pytest.raises(InvalidRequest, match="scopes: hold submit"):
        make(connection, narrow, scopes=frozenset({Scope.READ, Scope.SUBMIT}))
    made, _ = make(connection, narrow, scopes=both, lasts=timedelta(days=300))
    assert made.expires_at == NOW + WEEK


def test_no_scope_and_too_many_tokens(connection, ada):
    with pytest.raises(InvalidRequest, match="Name at least one"):
        make(connection, ada, scopes=frozenset())
    for number in range(tokens.MOST):
        make(connection, ada, label=f"t{number}")
    with pytest.raises(Conflict, match="50 tokens"):
        make(connection, ada)


def test_the_day_of_the_last_use_is_noted_once_a_day(connection, ada):
    _, text = make(connection, ada)
    assert tokens.needs_note(connection, text, NOW.date())
    tokens.note_use(connection, text, NOW.date())
    assert not tokens.needs_note(connection, text, NOW.date())
    assert tokens.needs_note(connection, text, NOW.date() + timedelta(days=1))
    assert tokens.of_user(connection, "ada", NOW)[0].last_used_on == NOW.date()


def test_a_disabled_user_has_no_token_that_works(connection, ada):
    _, text = make(connection, ada)
    full = users.renew_token(connection, name="ada")
    users.disable(connection, name="ada", now=NOW)
    for token in (text, full):
        with pytest.raises(Unauthenticated, match="the token is not valid"):
            tokens.authenticate(connection, token, NOW)
