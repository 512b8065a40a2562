"""Requests to a whole gateway on a real database and a real Redis, each answer held against the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpx
import sqlalchemy as sa
from anyio.from_thread import BlockingPortal, start_blocking_portal
from factories import given_user
from fastapi import FastAPI
from gateways import document
from hostile_messages import MESSAGE_KEY
from services import by_role

from domain.permissions import Role
from gateway.app import PREFIX, create_app
from gateway.config import GatewaySettings
from store import accounts, users
from store.database import Database
from store.tables import metadata

PEOPLE = {
    "ada": Role.DATA_USER,
    "bob": Role.DATA_USER,
    "holder": Role.RIGHTS_HOLDER,
    "rival": Role.RIGHTS_HOLDER,
    "olga": Role.OPERATOR,
}
PROBLEM = "application/problem+json"
# one question for all tables: it is asked around each refusal
COUNTS = sa.select(
    *(
        sa.select(sa.func.count()).select_from(table).scalar_subquery().label(table.name)
        for table in metadata.sorted_tables
    )
)


@dataclass
class Gateway:
    """A running gateway with one user of each kind, and a second data user and rights holder."""

    app: FastAPI
    database: Database
    portal: BlockingPortal
    http: httpx.AsyncClient
    tokens: dict[str, str]

    def ask(self, method: str, path: str, *, by: str | None = None, **request: Any) -> httpx.Response:
        """One request, by a user of PEOPLE or by nobody; its answer is checked against the document."""
        answer = self.portal.call(lambda: self.ask_later(method, path, by=by, **request))
        self._check_documented(method, path, answer)
        return answer

    async def ask_later(
        self, method: str, path: str, *, by: str | None = None, **request: Any
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[by]}"} if by else {}
        headers |= request.pop("headers", {})
        return await self.http.request(method, PREFIX + path, headers=headers, **request)

    def rows(self) -> dict[str, int]:
        """How many rows each table has: equal before and after whatever was refused."""
        with self.database.reading() as connection:
            return dict(connection.execute(COUNTS).one()._mapping)

    def _check_documented(self, method: str, path: str, answer: httpx.Response) -> None:
        found = next((ops for pattern, ops in _documented() if pattern.fullmatch(PREFIX + path)), {})
        operation = found.get(method.lower())
        if operation is None:
            assert answer.status_code in (200, 404, 405, 413), f"{method} {path} is not documented"
            return
        documented = operation["responses"].get(str(answer.status_code))
        assert documented is not None, f"{method} {path}: {answer.status_code} is not documented"
        assert answer.headers["content-type"] in documented["content"]
        assert answer.is_success or list(documented["content"]) == [PROBLEM]


@cache
def _documented() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """The paths of the document, as patterns."""
    return [
        (re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + r"(\?.*)?"), found)
        for path, found in document()["paths"].items()
    ]


@contextmanager
def running_gateway(database_url: str, broker_url: str, **settings: Any) -> Iterator[Gateway]:
    """A gateway as its server would start it; at PostgreSQL with its own account."""
    own = by_role(database_url, "dpgate_gateway")
    app = create_app(
        GatewaySettings(database_url=own, broker_url=broker_url, message_key=MESSAGE_KEY, **settings)
    )
    with (
        closing(Database(database_url)) as database,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
    ):
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway")
        with database.transaction() as connection:
            for name, role in PEOPLE.items():
                given_user(connection, name, role)
            tokens = {name: users.renew_token(connection, name=name) for name in PEOPLE}
        yield Gateway(app, database, portal, http, tokens)
        portal.call(http.aclose)


def give_passwords(gateway: Gateway, password: str) -> None:
    """To ada and bob, who log in on the pages."""
    with gateway.database.transaction() as connection:
        for name in ("ada", "bob"):
            accounts.set_password(connection, name, password, datetime.now(UTC))


def problem(answer: httpx.Response, *, status: int, kind: str | None = None) -> dict[str, Any]:
    """The only problem of a refusal, after checking that it is one of this kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    body = answer.json()
    assert body["status"] == status
    if kind is not None:
        assert body["type"] == f"urn:dpgate:problem:{kind}"
    return body["problems"][0] if body["problems"] else {}
