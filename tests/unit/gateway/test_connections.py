"""Connections whose clients do not read, or are many, and who gives way then."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from itertools import islice
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState
from waiting import PATIENCE_S

from gateway import connections
from gateway.connections import LINE, Connection
from gateway.login_line import LoginLine

PIECE = bytes(2**15)
MUCH = 256 * len(PIECE)
CROWD = 60
ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Heard(Connection):
    """One that says when it is made, is held up, and has ended."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.is_made, self.is_held, self.has_ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.was_heard = asyncio.Event()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.is_made.set()

    def _settle(self, rounds: int) -> None:
        super()._settle(rounds)
        if self.is_heard:
            self.was_heard.set()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.is_held.set()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.has_ended.set()


class Port:
    """Where an application is served, and the connections to it in their order."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.made: list[Heard] = []
        self.newest: asyncio.Queue[Heard] = asyncio.Queue()

    async def connected(self, source: str, *, asks: bool) -> tuple[socket.socket, Heard]:
        loop, client = asyncio.get_running_loop(), socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.bind((source, 0))
        client.setblocking(False)
        await loop.sock_connect(client, self.address)
        if asks:
            await loop.sock_sendall(client, ASK)
        made = await self.newest.get()
        await made.is_made.wait()
        return client, made


@asynccontextmanager
async def served(
    app: Callable[..., Any], *, line: LoginLine | None = None, crowd: Iterable[socket.socket] = ()
) -> AsyncIterator[Port]:
    """`crowd` connects, and asks, before the first connection is taken."""
    config, state = uvicorn.Config(app, log_level="critical"), ServerState()
    with socket.create_server(("127.0.0.1", 0), backlog=CROWD) as listener:
        port = Port(listener.getsockname())
        for client in crowd:
            client.connect(port.address)
            client.sendall(ASK)

        def make() -> Heard:
            made = Heard(config, state, {LINE: line} if line else {})
            port.made.append(made)
            port.newest.put_nowait(made)
            return made

        # as uvicorn does with a socket that it is handed
        handed = socket.fromfd(listener.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)
        server = await asyncio.get_running_loop().create_server(make, sock=handed, backlog=CROWD)
        yield port
        server.close()


async def ended(port: Port, count: int) -> None:
    """When so many connections have ended."""
    waits = [asyncio.create_task(made.has_ended.wait()) for made in port.made]
    for wait in islice(asyncio.as_completed(waits), count):
        await wait
    for left in waits:
        left.cancel()


async def unread() -> int:
    """How much of an answer was given to who does not read; then somebody else came and they gave way."""
    given = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal given
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(MUCH // len(PIECE)):
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
            given += len(PIECE)
        await send({"type": "http.response.body"})

    async with served(app) as port:
        first, held = await port.connected("127.0.0.1", asks=True)
        await held.is_held.wait()
        before = given
        other, _ = await port.connected("127.0.0.1", asks=False)
        await held.has_ended.wait()
        first.close()
        other.close()
        return before


@pytest.mark.needs(process=True)
def test_who_does_not_read_gets_little_and_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 1)
    assert asyncio.run(asyncio.wait_for(unread(), PATIENCE_S)) < MUCH / 16


async def many_of_one_address() -> list[str]:
    """Whose connection ends when one too many comes: three of an address are being answered, and one more of
    it says nothing, like the one of somebody who came before."""
    goes_on, asked = asyncio.Event(), asyncio.Semaphore(0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.release()
        await goes_on.wait()

    async with served(app) as port, AsyncExitStack() as kept:
        for source, asks in (("127.0.0.2", False), *[("127.0.0.3", True)] * 3, ("127.0.0.3", False)):
            client, _ = await port.connected(source, asks=asks)
            kept.callback(client.close)
            if asks:
                await asked.acquire()
        last, _ = await port.connected("127.0.0.4", asks=False)
        kept.callback(last.close)
        await ended(port, 1)
        goes_on.set()
        return [made.address for made in port.made if made.is_given_up]


@pytest.mark.needs(process=True)
def test_an_address_that_is_answered_much_gives_way_before_one_that_is_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 5)
    assert asyncio.run(asyncio.wait_for(many_of_one_address(), PATIENCE_S)) == ["127.0.0.3"]


async def taken_at_one_go() -> list[bytes]:
    """What each of a crowd is told that has asked before it was taken."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    with ExitStack() as stack:
        clients = [stack.enter_context(socket.socket()) for _ in range(CROWD)]
        for number, client in enumerate(clients):
            client.bind((f"127.0.1.{number + 1}", 0))
        async with served(app, crowd=clients):
            return [await asyncio.to_thread(told, client) for client in clients]


def told(client: socket.socket) -> bytes:
    client.settimeout(PATIENCE_S)
    try:
        return client.recv(12)
    except ConnectionResetError:
        return b""


@pytest.mark.needs(process=True)
def test_each_of_a_crowd_is_heard_before_it_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 5)
    assert asyncio.run(asyncio.wait_for(taken_at_one_go(), PATIENCE_S)) == [b"HTTP/1.1 204"] * CROWD
    # and would not be
    monkeypatch.setattr(connections, "ROUNDS_UNHEARD", 1)
    monkeypatch.setattr(Connection, "is_heard", True)
    assert b"" in asyncio.run(asyncio.wait_for(taken_at_one_go(), PATIENCE_S))


async def crowd_around(line: LoginLine | None) -> list[str]:
    """Whose connections end when strangers come after somebody who has two."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("nobody asks")

    async with served(app, line=line) as port, AsyncExitStack() as kept:
        for source in ("127.0.0.2", "127.0.0.2", *(f"127.0.0.{number}" for number in range(3, 9))):
            client, _ = await port.connected(source, asks=False)
            kept.callback(client.close)
        await ended(port, 3)
        return [made.address for made in port.made if made.is_given_up]


@pytest.mark.needs(process=True)
def test_where_somebody_came_in_from_gives_way_after_where_nobody_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 5)
    line = LoginLine()
    assert asyncio.run(asyncio.wait_for(crowd_around(line), PATIENCE_S))[:2] == ["127.0.0.2"] * 2
    line.greet("127.0.0.2")
    assert "127.0.0.2" not in asyncio.run(asyncio.wait_for(crowd_around(line), PATIENCE_S))


async def at_one_go(line: LoginLine) -> list[str]:
    """Whose connections end when a crowd is taken in one round of the loop, after somebody came and said
    nothing; the crowd says nothing either."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("nobody asks")

    async with served(app, line=line) as port, AsyncExitStack() as kept:
        first, made = await port.connected("127.0.0.2", asks=False)
        kept.callback(first.close)
        await made.was_heard.wait()
        # the loop is not free to take any of them meanwhile
        for number in range(CROWD):
            client = kept.enter_context(socket.socket())
            client.bind((f"127.0.1.{number + 1}", 0))
            client.connect(port.address)
        for _ in range(CROWD):
            await port.newest.get()
        await ended(port, CROWD + 1 - connections.MOST_OPEN)
        return [made.address for made in port.made if made.is_given_up]


@pytest.mark.needs(process=True)
def test_who_came_in_before_stays_when_a_crowd_comes_at_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of it has been heard yet when there are too many; all but they may give way a round later."""
    monkeypatch.setattr(connections, "MOST_OPEN", 5)
    monkeypatch.setattr(connections, "MORE_AT_ONCE", 0)
    line = LoginLine()
    line.greet("127.0.0.2")
    assert "127.0.0.2" not in asyncio.run(asyncio.wait_for(at_one_go(line), PATIENCE_S))
