"""One platform of one process: gateway, Redis and worker as they are, asked and driven step by step."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import redis
import sqlalchemy as sa
from asking import Gateway
from form_browser import Browser
from left_out import SEALED_COLUMNS
from receivers import Mailbox, Receiver
from recording import Transcript
from stillness import StillClock

from domain.permissions import User
from gateway.app import PREFIX
from gateway.notices.sender import Sender
from gateway.pages.session import COOKIE
from store import sessions, users

QUEUES = ("dpgate", "dpgate-rehearsals")
MOST_MESSAGES = 200
"""More than any job sends; whatever comes back for ever ends with what the log says."""
OF_THE_PROCESS = ("origin", "reply_to")
"""Of a message: the number of the process that sent it, and where in its memory the sender lies."""


@dataclass
class World:
    gateway: Gateway
    clock: StillClock
    transcript: Transcript
    redis: redis.Redis
    deliveries: Path
    sender: Sender
    mailbox: Mailbox
    receiver: Receiver
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)
    browsers: dict[str, Browser] = field(default_factory=dict)
    files: dict[Path, bytes] = field(default_factory=dict)

    def ask(
        self, who: str, method: str, path: str, template: str | None = None, **request: Any
    ) -> httpx.Response:
        """One request to the interface; every byte of the answer is noted."""
        headers = self._bearer(who)
        call = lambda: self.gateway.http.request(method, PREFIX + path, headers=headers, **request)  # noqa: E731
        answer = self.gateway.portal.call(call)
        self._note_answer(f"{who or 'nobody'}: {method} {path}", answer, "body")
        if template is not None:
            self.transcript.answered(f"{method} {PREFIX}{template}", answer.status_code)
        return answer

    def must(
        self, who: str, method: str, path: str, template: str | None = None, **request: Any
    ) -> httpx.Response:
        """The same, where the life goes on only if it is taken."""
        answer = self.ask(who, method, path, template, **request)
        assert answer.is_success, (method, path, answer.text)
        return answer

    def visit(self, who: str, path: str, template: str | None = None) -> httpx.Response:
        """One page, as somebody who is logged in."""
        answer = self.browser(who).get(path)
        self._note_answer(f"{who}: {path}", answer, "page")
        self.transcript.answered(f"GET {template or path}", answer.status_code)
        return answer

    def measure(self, who: str) -> None:
        """The figures, which are for a program that has an operator's token."""
        headers = self._bearer(who)
        answer = self.gateway.portal.call(lambda: self.gateway.http.get("/metrics", headers=headers))
        self._note_answer(f"{who}: /metrics", answer, "metric")
        self.transcript.answered("GET /metrics", answer.status_code)

    def _bearer(self, who: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}

    def send(self, who: str, path: str, template: str, **fields: str) -> httpx.Response:
        """A form, with the hidden field of this login."""
        browser, csrf = self.browser(who), self._hidden_field(who)
        if csrf is None:  # of a login that has ended
            del self.browsers[who]
            browser, csrf = self.browser(who), self._hidden_field(who)
        answer = browser.post(path, {"csrf": csrf or "", **fields})
        self._note_answer(f"{who}: POST {path}", answer, "page")
        self.transcript.answered(f"POST {template}", answer.status_code)
        return answer

    def _hidden_field(self, who: str) -> str | None:
        found = re.search(r'name="csrf" value="(\w+)"', self.browser(who).get("/account").text)
        return found[1] if found else None

    def browser(self, who: str) -> Browser:
        if who not in self.browsers:
            browser = self.browsers[who] = Browser(self.gateway)
            if not who:
                return browser  # who is not logged in
            with self.gateway.database.transaction() as connection:
                (user,) = [user for user in users.listed(connection) if user.name == who]
                cookie = sessions.open_session(connection, User(name=who, role=user.role), self.clock.now())
            browser.http.cookies.set(COOKIE, cookie)
        return self.browsers[who]

    def _note_answer(self, place: str, answer: httpx.Response, surface: str) -> None:
        self.transcript.note("status", place, str(answer.status_code))
        lines = [f"{name}: {value}" for name, value in answer.headers.multi_items()]
        self.transcript.note("headers", place, "\n".join(lines))
        self.transcript.note(surface, place, answer.content)

    def deliver(self, number: str, files: Mapping[str, str]) -> str:
        """What a rights holder has brought to the worker zone."""
        for path, content in files.items():
            target = self.deliveries / number / path
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_text(content)
        return number

    def pump(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Every message in turn, as the worker takes it, at the time that it waits for; then the notices."""
        for _ in range(MOST_MESSAGES):
            if (message := self._next_message()) is None:
                self._note_redis()
                self.post()
                return
            self._take(message)
            meanwhile()
        raise AssertionError([one.text for one in self.transcript.on("log")][-3:])

    def _next_message(self) -> dict[str, Any] | None:
        for queue in QUEUES:
            raw = self.redis.rpop(queue)
            if raw is not None:
                self._note_redis()
                message: dict[str, Any] = json.loads(raw)
                shown = {
                    "queue": queue,
                    "body": base64.b64decode(message["body"]).decode(),
                    "headers": _without(message["headers"]),
                    "properties": _without(message["properties"]),
                }
                self.transcript.note("message", queue, json.dumps(shown, sort_keys=True))
                return message
        return None

    def _note_redis(self) -> None:
        """Whatever else lies there."""
        for key in sorted(self.redis.keys()):
            name = key.decode()
            found = self.redis.llen(key) if name in QUEUES else _content(self.redis, name)
            self.transcript.note("message", name, repr(found))

    def _take(self, message: Mapping[str, Any]) -> None:
        from worker.app import app

        if eta := message["headers"].get("eta"):
            self.clock.forward_to(datetime.fromisoformat(eta))
        (arguments, *_) = json.loads(base64.b64decode(message["body"]))
        app.dpgate_heartbeat.took(message["headers"]["task"], str(next(iter(arguments), "")))
        app.tasks[message["headers"]["task"]].run(*arguments)
        app.dpgate_heartbeat.beat(self.gateway.database, at_work={})

    def post(self) -> None:
        """What is due goes out, and is noted as it came in."""
        while self.sender.send_due(self.clock.now()):
            pass
        for mail in self.mailbox.messages:
            self.transcript.note("mail", str(mail["To"]), mail.as_string())
        for posted in self.receiver.got:
            self.transcript.note("webhook", posted.path, repr((posted.path, posted.headers, posted.body)))
        self.mailbox.messages.clear()
        self.receiver.got.clear()

    def command(self, *arguments: str) -> int:
        """A command of the researcher's machine: what it prints, ends with and writes into its folder."""
        from dpgate.cli.app import run

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(self.folder):
            code = run(list(arguments))
        place = " ".join(arguments)
        self.transcript.note("status", place, str(code))
        self.transcript.note("command", place, f"{out.getvalue()}\n--\n{err.getvalue()}")
        self.transcript.commands.append(place)
        self._note_files(place)
        return code

    def _note_files(self, place: str) -> None:
        """Those that are new or have changed."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and self.files.get(path) != (content := path.read_bytes()):
                self.files[path] = content
                self.transcript.note("file", f"{place}: {path.relative_to(self.folder)}", content)

    def note_rows(self, moment: str) -> None:
        """What the gateway's own account can read: every row; of what is sealed, how long it is."""
        with self.gateway.database.reading() as connection:
            there = sa.MetaData()
            there.reflect(connection)  # also what no code of ours knows
            for table in there.sorted_tables:
                rows = [
                    {name: _readable(table.name, name, value) for name, value in row.items()}
                    for row in connection.execute(sa.select(table)).mappings()
                ]
                self.transcript.note("row", f"{moment}: {table.name}", "\n".join(sorted(map(str, rows))))


def _without(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in OF_THE_PROCESS}


def _readable(table: str, column: str, value: Any) -> Any:
    """Of what is sealed, how long it is."""
    is_sealed = isinstance(value, str | bytes) and (table, column) in SEALED_COLUMNS
    return len(value) if is_sealed else value


def _content(client: redis.Redis, key: str) -> Any:
    """What lies in Redis under a name, whatever its kind."""
    match client.type(key).decode():
        case "string":
            return client.get(key)
        case "list":
            return client.lrange(key, 0, -1)
        case "set":
            return sorted(client.smembers(key))
        case "hash":
            return sorted(client.hgetall(key).items())
        case "zset":
            return client.zrange(key, 0, -1, withscores=True)
        case "none":
            return None  # it has ended since
    raise AssertionError(f"{key} is of a kind that nobody reads here")


class InProcess(httpx.BaseTransport):
    """How commands reach the gateway of this process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._inner = httpx.ASGITransport(gateway.app)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        status, headers, content = self._gateway.portal.call(self._ask, request)
        return httpx.Response(status, headers=headers, content=content, request=request)

    async def _ask(self, request: httpx.Request) -> tuple[int, list[tuple[str, str]], bytes]:
        asked = httpx.Request(request.method, request.url, headers=request.headers, content=request.content)
        answer = await self._inner.handle_async_request(asked)
        return answer.status_code, answer.headers.multi_items(), await answer.aread()


@contextlib.contextmanager
def commands_reach(gateway: Gateway, tokens: Mapping[str, str]) -> Iterator[None]:
    """Commands with `--profile NAME` speak to this gateway in the name of that person."""
    from dpgate import client
    from dpgate.credentials import Login, keep_login

    made = client.Client.__init__

    def reaching(self: Any, login: Any, **named: Any) -> None:
        made(self, login, **{**named, "transport": InProcess(gateway)})

    client.Client.__init__ = reaching
    for name, token in tokens.items():
        keep_login(Login("http://gateway", token), profile=name)
    yield
    client.Client.__init__ = made
