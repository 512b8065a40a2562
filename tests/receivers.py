"""The other side of notices, really running on loopback: a mail server, and a program that takes webhooks."""

from __future__ import annotations

import email
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import sqlalchemy as sa
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from factories import given_user
from waiting import let_pass

from domain.permissions import Role
from gateway.notices.addresses import Rules
from gateway.notices.mail import MailServer
from gateway.notices.sender import Sender
from gateway.notices.webhook import WebhookPost
from store import channels
from store.database import Database

SENDER = "dpgate@platform.example.org"
HANG_S = 8


@dataclass(frozen=True)
class Posted:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Takes webhooks. `answers` are given in turn: a status, or something that holds the connection."""

    url: str
    got: list[Posted] = field(default_factory=list)
    answers: deque[int | Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=deque)

    @property
    def host(self) -> str:
        return self.url.split("/")[2]


@contextmanager
def receiving(context: ssl.SSLContext | None = None, *, host: str = "127.0.0.1") -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.got.append(Posted(self.path, dict(self.headers.items()), body))
            answer = receiver.answers.popleft() if receiver.answers else 204
            with suppress(OSError):
                answer(self) if callable(answer) else self._say(answer)

        def _say(self, status: int) -> None:
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "http" if context is None else "https"
    receiver = Receiver(f"{scheme}://{host}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def drip(handler: BaseHTTPRequestHandler) -> None:
    """An answer that never ends and is never silent: one letter of a header each half second."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in range(HANG_S * 2):
        let_pass(0.5, because="the answer is slow")
        handler.wfile.write(b"x")
        handler.wfile.flush()


def large(handler: BaseHTTPRequestHandler) -> None:
    """An answer with a body that nobody wants."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    for _ in range(2000):
        handler.wfile.write(b"x" * 65536)


@dataclass
class Mailbox:
    """A mail server, and what was handed in. `refusals` are given in turn, before anything is taken."""

    url: str = ""
    messages: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    refusals: deque[str] = field(default_factory=deque)
    logins: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        if self.refusals:
            return self.refusals.popleft()
        found = email.message_from_bytes(envelope.content, policy=SMTP)
        assert isinstance(found, EmailMessage)
        self.messages.append(found)
        self.recipients.append(list(envelope.rcpt_tos))
        return "250 taken"

    def check_login(self, _server: Any, _session: Any, _envelope: Any, _how: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == b"right", handled=False)


class _OnAnyPort(Controller):
    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server(context: ssl.SSLContext | None = None, **options: Any) -> Iterator[Mailbox]:
    """Without TLS, or with STARTTLS where a context is given."""
    mailbox = Mailbox()
    if options.pop("logins", False):
        options |= {"authenticator": mailbox.check_login, "auth_required": True}
    if context is not None:
        options |= {"tls_context": context, "require_starttls": True}
    controller = _OnAnyPort(mailbox, hostname="127.0.0.1", port=0, **options)
    controller.start()
    mailbox.url = f"{'smtp' if context is None else 'starttls'}://localhost:{controller.port}"
    try:
        yield mailbox
    finally:
        controller.stop()


@contextmanager
def sending(
    database: Database,
    *,
    receiver: Receiver | None = None,
    mailbox: Mailbox | None = None,
    loopback: bool = True,
    trust: ssl.SSLContext | None = None,
    **options: Any,
) -> Iterator[Sender]:
    """A sender that is asked by the test, not by its own thread."""
    rules = Rules.of([receiver.host] if receiver else [], loopback=loopback)
    sender = Sender(
        database,
        mail=MailServer(mailbox.url, SENDER) if mailbox else None,
        post=WebhookPost(rules, trust=trust) if receiver else None,
        **options,
    )
    try:
        yield sender
    finally:
        sender.close()


def given_webhook(database: Database, url: str, now: datetime, *, name: str = "ada") -> tuple[str, str]:
    """Id and secret of a webhook of somebody, who is made where they are not there."""
    with database.transaction() as connection:
        _known(connection, name)
        made, secret = channels.add_webhook(connection, name, url, now)
    return made.id, secret


def given_address(database: Database, now: datetime, *, name: str = "ada") -> str:
    """A confirmed address of somebody."""
    with database.transaction() as connection:
        _known(connection, name)
        channels.set_address(connection, name, f"{name}@example.org", now)
        channels.confirm(connection, name, channels.new_code(connection, name, now), now)
    return f"{name}@example.org"


def _known(connection: sa.Connection, name: str) -> None:
    given_user(connection, name, Role.RIGHTS_HOLDER if name == "holder" else Role.DATA_USER)


def current() -> datetime:
    return datetime.now(UTC)
