"""BodyLimit as what it is: an ASGI application around another, with scripted messages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gateway.limits import BodyLimit

LIMIT = 100
LAST = {"type": "http.request", "body": b"", "more_body": False}
GONE = {"type": "http.disconnect"}


class Recorder:
    """An application that reads its whole body, and a server that counts what was asked of it."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.left = list(messages)
        self.received = 0
        self.sent: list[Any] = []
        self.body: bytes | None = None
        self.after: Any = None

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
        self.body = body
        self.after = await receive()

    async def receive(self) -> dict[str, Any]:
        self.received += 1
        return self.left.pop(0)

    async def send(self, message: Any) -> None:
        self.sent.append(message)


def run(
    messages: list[dict[str, Any]], *, headers: tuple[tuple[bytes, bytes], ...] = (), kind: str = "http"
) -> Recorder:
    recorder = Recorder(messages)
    limited = BodyLimit(recorder.app, max_bytes=LIMIT)
    scope = {"type": kind, "headers": list(headers), "method": "PUT"}
    asyncio.run(limited(scope, recorder.receive, recorder.send))
    return recorder


def chunk(size: int, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


def refused(recorder: Recorder) -> bool:
    start, *rest = recorder.sent
    body = json.loads(b"".join(message["body"] for message in rest))
    return recorder.body is None and start["status"] == body["status"] == 413


@pytest.mark.parametrize(
    "messages",
    [
        [LAST],
        [chunk(LIMIT, more=False)],
        [chunk(50), chunk(50, more=False)],
        [chunk(50), chunk(0), chunk(50), LAST],
        [{"type": "http.request"}],
    ],
)
def test_what_fits_is_passed_on_whole_and_the_end_after_it(messages: list[dict[str, Any]]):
    recorder = run([*messages, GONE])
    assert recorder.body == b"".join(message.get("body", b"") for message in messages)
    assert recorder.after == GONE
    assert recorder.sent == []


@pytest.mark.parametrize(
    "messages", [[chunk(LIMIT + 1)], [chunk(60), chunk(60), chunk(60)], [chunk(LIMIT), chunk(1)]]
)
def test_reading_ends_with_the_first_byte_too_many(messages: list[dict[str, Any]]):
    recorder = run([*messages, *[chunk(10)] * 50])
    assert refused(recorder)
    assert recorder.received <= 2


@pytest.mark.parametrize(
    "stated", [b"101", b"10737418240", b"9" * 15, b"9" * 16, b"9" * 5000, b"", b"-1", b"1e3", b"0x1"]
)
def test_a_stated_length_is_believed_before_anything_is_read(stated: bytes):
    recorder = run([], headers=((b"content-length", stated),))
    assert refused(recorder)
    assert recorder.received == 0


def test_the_worst_of_two_stated_lengths_counts():
    assert refused(run([], headers=((b"content-length", b"101"), (b"content-length", b"1"))))


def test_a_length_that_lies_is_found_out():
    recorder = run([chunk(60), chunk(60)], headers=((b"content-length", b"10"),))
    assert refused(recorder)


@pytest.mark.parametrize("messages", [[GONE], [chunk(10), GONE]])
def test_a_client_who_left_is_not_served(messages: list[dict[str, Any]]):
    recorder = run(messages)
    assert recorder.body is None
    assert recorder.sent == []


def test_what_is_not_http_is_passed_on():
    assert run([chunk(3 * LIMIT, more=False), GONE], kind="lifespan").body == b"x" * 3 * LIMIT
