"""A gateway on a loopback port, and people who visit it without a browser."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpx
import uvicorn
from hostile_messages import MESSAGE_KEY
from story import PEOPLE
from told_notices import MAIL_AND_HOOKS
from waiting import PATIENCE_S, wait_until

from domain.permissions import User
from domain.states import Actor, JobState
from gateway.app import create_app
from gateway.config import GatewaySettings
from gateway.pages.session import COOKIE
from store import jobs, sessions
from store.database import Database


@cache
def certificates() -> ssl.SSLContext:
    """Nothing here speaks TLS; every client of its own would read the certificates of the host, for 40 ms."""
    return ssl.create_default_context()


@dataclass(frozen=True)
class Console:
    """A running console and its database."""

    url: str
    database: Database

    def session(self, name: str) -> str:
        """The cookie of a new login of this person."""
        with self.database.transaction() as connection:
            return sessions.open_session(connection, User(name=name, role=PEOPLE[name]), datetime.now(UTC))

    def state(self, job_id: str) -> JobState:
        with self.database.reading() as connection:
            return jobs.get(connection, job_id).state

    def pretend_progress(self, job_id: str) -> None:
        """What workers write down while the runs of a job go on, or fail."""
        now = datetime.now(UTC)
        with self.database.transaction() as connection:
            jobs.count_attempt(connection, job_id)
            jobs.set_publish_time(connection, job_id, now)
            jobs.nudge(connection, job_id, now=now, not_since_s=0)

    def approve(self, job_id: str) -> None:
        """The rights holder lets a job run."""
        with self.database.transaction() as connection:
            assert jobs.move(
                connection, job_id, JobState.SUBMITTED, JobState.QUEUED, actor=Actor.RIGHTS_HOLDER,
                now=datetime.now(UTC),
            )  # fmt: skip

    @contextmanager
    def visit(self, name: str | None = None) -> Iterator[Visitor]:
        """A person without JavaScript, logged in where a name is given."""
        cookies = {COOKIE: self.session(name)} if name else {}
        known = {"base_url": self.url, "cookies": cookies, "verify": certificates()}
        with httpx.Client(**known, timeout=PATIENCE_S) as client:
            yield Visitor(client)


@dataclass(frozen=True)
class Visitor:
    """Reads pages and sends their forms, as a browser without scripts does."""

    client: httpx.Client
    _fields: dict[frozenset[tuple[str, str]], str] = field(default_factory=dict)
    """The hidden field by the cookies that it goes by: to read it costs a page."""

    def get(self, path: str, **request: Any) -> httpx.Response:
        return self.client.get(path, **request)

    def send(self, path: str, **fields: str) -> httpx.Response:
        """A form with the hidden field that every page of this login has."""
        return self.client.post(path, data={"csrf": self.hidden_field(), **fields})

    def hidden_field(self) -> str:
        """What pages of this login put into their forms; nothing for a stranger."""
        login = frozenset(self.client.cookies.items())
        if login not in self._fields:
            found = re.search(r'name="csrf" value="([^"]+)"', self.client.get("/account").text)
            if not found:
                return ""
            self._fields[login] = found[1]
        return self._fields[login]


@contextmanager
def running_console(database_url: str, broker_url: str, **settings: Any) -> Iterator[Console]:
    told = MAIL_AND_HOOKS | {"message_key": MESSAGE_KEY} | settings
    app = create_app(GatewaySettings(database_url=database_url, broker_url=broker_url, **told))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started, unless=lambda: not thread.is_alive(), said="the console's start")
        with closing(Database(database_url)) as database:
            yield Console(f"http://127.0.0.1:{_port(server)}", database)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


def words(answer: httpx.Response) -> str:
    """The text of a page without its tags: what somebody reads."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", answer.text, flags=re.S)
    return re.sub(r"\s+", " ", text)


def _port(server: uvicorn.Server) -> int:
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
