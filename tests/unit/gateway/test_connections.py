"""A connection whose client does not read what it asked for."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState
from waiting import PATIENCE_S

from gateway import connections
from gateway.connections import Connection

PIECE = bytes(2**15)
MUCH = 256 * len(PIECE)
ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Heard(Connection):
    """One that says when it is held up, and when it has ended."""

    is_held: asyncio.Event
    has_ended: asyncio.Event

    def pause_writing(self) -> None:
        super().pause_writing()
        self.is_held.set()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.has_ended.set()


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

    config, state, made = uvicorn.Config(app, log_level="critical"), ServerState(), []
    config.load()

    def make() -> Heard:
        made.append(Heard(config, state, {}))
        made[-1].is_held, made[-1].has_ended = asyncio.Event(), asyncio.Event()
        return made[-1]

    loop = asyncio.get_running_loop()
    # as uvicorn does with a socket that it is handed
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as client:
        handed = socket.fromfd(listener.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)
        server = await loop.create_server(make, sock=handed)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.setblocking(False)
        address = listener.getsockname()
        await loop.sock_connect(client, address)
        await loop.sock_sendall(client, ASK)
        while not made:
            await asyncio.sleep(0)
        await made[0].is_held.wait()
        before = given
        with socket.create_connection(address):
            await made[0].has_ended.wait()
        server.close()
        return before


@pytest.mark.needs(process=True)
def test_who_does_not_read_gets_little_and_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OPEN", 1)
    assert asyncio.run(asyncio.wait_for(unread(), PATIENCE_S)) < MUCH / 16
