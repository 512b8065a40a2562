"""Every route of the interface with tokens of every scope, and with what is left of an account that ended."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from asking import PEOPLE, Gateway, problem, running_gateway
from factories import given_user
from test_route_matrix import GUARDED, Route

from domain.permissions import DEEDS, GRANTS, Permission, Role, User
from domain.scopes import SCOPE, Scope, covers
from store import sessions, tokens, users
from store.tokens import Caller


@pytest.fixture(scope="module")
def scoped(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Refusals end before anything of the database is looked at but who asks: one database will do."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("scopes") / "dpgate.db")
    with running_gateway(f"sqlite:///{path}", "redis+socket:///none") as running:
        yield running


def made(gateway: Gateway, name: str, role: Role, scopes: frozenset[Scope]) -> dict[str, str]:
    """The header of a new token."""
    with gateway.database.transaction() as connection:
        _, token = tokens.create(
            connection, Caller(User(name=name, role=role)), label="one", scopes=scopes,
            lasts=timedelta(days=1), now=datetime.now(UTC),
        )  # fmt: skip
    return {"Authorization": f"Bearer {token}"}


def person_for(route: Route) -> str:
    return next(name for name, role in PEOPLE.items() if role in GRANTS[route.permissions[0]])


def test_every_permission_of_a_route_is_in_a_scope():
    """One in none would be out of reach of every token with scopes: nobody should find that out by chance."""
    assert {route.permissions[0] for route in GUARDED} | {Permission.METRICS_READ} == set(SCOPE)


@pytest.mark.parametrize("scope", Scope)
def test_a_token_of_one_scope_is_let_in_where_the_table_says_and_nowhere_else(scoped: Gateway, scope: Scope):
    headers = {
        name: made(scoped, name, PEOPLE[name], frozenset({scope})) for name in ("ada", "holder", "olga")
    }
    before = None
    for route in GUARDED:
        permission = route.permissions[0]
        if covers(frozenset({scope}), permission):
            continue
        before = before or scoped.rows()
        answer = scoped.ask(headers=headers[person_for(route)], **route.request)
        refused = problem(answer, status=403, kind="NotAllowed")
        assert refused["problem"] == f"this token is not made to {DEEDS[permission]}.", route.name
        assert refused["fix"] == f"Use one with the scope {SCOPE[permission]}."
    assert scoped.rows() == before


@pytest.mark.parametrize("scope", Scope)
def test_what_a_scope_covers_is_not_refused_by_it(scoped: Gateway, scope: Scope):
    headers = {
        name: made(scoped, name, PEOPLE[name], frozenset({scope})) for name in ("ada", "holder", "olga")
    }
    covered = [route for route in GUARDED if route.method == "GET" and SCOPE[route.permissions[0]] is scope]
    for route in covered:
        assert "this token" not in scoped.ask(headers=headers[person_for(route)], **route.request).text


@pytest.mark.parametrize("role", Role)
def test_nothing_is_left_of_an_account_that_ended(scoped: Gateway, role: Role):
    name, now = f"gone-{role.replace('_', '-')}", datetime.now(UTC)
    with scoped.database.transaction() as connection:
        user = given_user(connection, name, role)
        first = {"Authorization": f"Bearer {users.renew_token(connection, name=name)}"}
        cookie = sessions.open_session(connection, user, now)
    later = made(scoped, name, role, Caller(user).scopes)
    session = {"Cookie": f"dpgate_session={cookie}"}
    assert all(scoped.ask("GET", "/me", headers=token).is_success for token in (first, later))
    with scoped.database.transaction() as connection:
        users.disable(connection, name=name, now=now)
    before = scoped.rows()
    for route in GUARDED:
        for headers in (first, later, session):
            problem(scoped.ask(headers=headers, **route.request), status=401, kind="Unauthenticated")
    assert scoped.rows() == before
