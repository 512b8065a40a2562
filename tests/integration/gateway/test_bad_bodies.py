"""Bytes that are not a request at all, on every route that takes a body: never a 500, never half-read."""

from __future__ import annotations

import gzip
import json
import socket
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import uvicorn
from anyio.from_thread import start_blocking_portal
from asking import Gateway, problem
from factories import job_request_fields
from hostile_messages import MESSAGE_KEY
from waiting import PATIENCE_S, wait_until

from gateway import connections, limits
from gateway.app import create_app
from gateway.config import GatewaySettings

TAKES_A_BODY = [
    ("PUT", "/jobs/job-bad-body", "ada"),
    ("POST", "/datasets", "holder"),
    ("PUT", "/datasets/heights/allocations/user/ada", "holder"),
    ("POST", "/users", "olga"),
]
VALID = json.dumps(job_request_fields()).encode()
BODIES = {
    "nothing": b"",
    "not JSON": b"<job/>",
    "cut off": VALID[:-1],
    "two documents": VALID + VALID,
    "trailing comma": b'{"a": 1,}',
    "null": b"null",
    "a list": b"[]",
    "a number": b"12",
    "a text": b'"text"',
    "nested lists": b"[" * 100_000,
    "nested lists, closed": b"[" * 50_000 + b"]" * 50_000,
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nested where nothing is known": b'{"epsilon":' + b"[" * 900 + b"]" * 900 + b"}",
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "UTF-16": '{"name": 1}'.encode("utf-16"),
    "NUL bytes": bytes(1000),
    "NUL in text": b'{"name": "a\\u0000b", "epsilon": "\\u0000"}',
    "lone surrogate": b'{"name": "\\ud800", "\\udfff": 1, "epsilon": "\\ud800"}',
    "an integer of 10000 digits": b'{"epsilon": ' + b"9" * 10_000 + b"}",
    "gzip": gzip.compress(VALID),
}
MAX_BYTES = 4 * 1024 * 1024


def test_is_refused_and_nothing_is_kept(shared_gateway: Gateway, subtests: pytest.Subtests):
    before = shared_gateway.rows()
    for method, path, person in TAKES_A_BODY:
        for what, content in BODIES.items():
            headers = {"Content-Type": "application/json"}
            headers |= {"Content-Encoding": "gzip"} if what == "gzip" else {}
            with subtests.test(f"{method} {path}: {what}"):
                answer = shared_gateway.ask(method, path, by=person, content=content, headers=headers)
                found = problem(answer, status=422, kind="InvalidRequest")
                assert found["field"]
                assert found["problem"]
                assert shared_gateway.rows() == before


def test_another_content_type_is_not_read_as_json(shared_gateway: Gateway, subtests: pytest.Subtests):
    # so a form on another site cannot send a request that counts
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        with subtests.test(kind):
            answer = shared_gateway.ask(
                "PUT", "/jobs/job-bad-body", by="ada", content=VALID, headers={"Content-Type": kind}
            )
            assert problem(answer, status=422)["field"] == "body"


async def chunks(size: int, *, count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield bytes(size)


def test_a_body_without_a_length_is_cut_off_at_the_limit(shared_gateway: Gateway):
    before = shared_gateway.rows()
    for path in ("/jobs/job-bad-body", "/me", "/nothing"):
        answer = shared_gateway.ask("PUT", path, by="ada", content=chunks(1 << 20, count=6))
        found = problem(answer, status=413, kind="TooLarge")
        assert found["field"] == "body"
    assert shared_gateway.rows() == before


def test_a_body_just_within_the_limit_is_read(shared_gateway: Gateway):
    padded = VALID[:-1] + b" " * (MAX_BYTES - len(VALID)) + b"}"
    assert len(padded) == MAX_BYTES
    headers = {"Content-Type": "application/json"}
    answer = shared_gateway.ask("PUT", "/jobs/job-bad-body", by="ada", content=padded, headers=headers)
    problem(answer, status=404, kind="NotFound")
    answer = shared_gateway.ask("PUT", "/jobs/job-bad-body", by="ada", content=padded + b" ", headers=headers)
    problem(answer, status=413, kind="TooLarge")


@pytest.fixture
def server(sqlite_url: str, redis_url: str, tmp_path: Path) -> Iterator[Path]:
    """The gateway under the server it runs on, at a socket."""
    path = tmp_path / "http"
    app = create_app(GatewaySettings(database_url=sqlite_url, broker_url=redis_url, message_key=MESSAGE_KEY))
    config = uvicorn.Config(
        app, uds=str(path), log_level="critical", server_header=False, http="gateway.connections:Connection"
    )
    running = uvicorn.Server(config)
    running.install_signal_handlers = lambda: None  # type: ignore[method-assign]  # a thread has none
    with start_blocking_portal() as portal:
        serving = portal.start_task_soon(running.serve)
        wait_until(lambda: running.started, unless=serving.done, said="the server")
        yield path
        running.should_exit = True
        serving.result()


def raw(path: Path, *parts: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_S)
        connection.connect(str(path))
        try:
            for part in parts:
                connection.sendall(part)
        except BrokenPipeError:
            pass
        answer = b""
        try:
            while received := connection.recv(65_536):
                answer += received
                if b"\r\n\r\n" in answer and (answer.endswith(b"}") or b"\r\ncontent-length: 0" in answer):
                    break
        except ConnectionResetError:
            assert answer
        return answer


HEAD = b"PUT /api/v1/jobs/job-bad-body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def test_large_bodies_of_strangers_take_no_memory(server: Path, monkeypatch: pytest.MonkeyPatch):
    for length in (b"10737418240", b"9" * 14, b"9" * 19):
        answer = raw(server, HEAD + b"Content-Length: " + length + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"application/problem+json" in answer
    # before its first byte
    assert raw(server, HEAD + b"Content-Length: 4000000\r\n\r\n").startswith(b"HTTP/1.1 401 ")
    bare = HEAD.replace(b"/api/v1/jobs/job-bad-body", b"/login") + b"Content-Length: 4000000\r\n\r\n"
    assert raw(server, bare).startswith(b"HTTP/1.1 303 ")
    answer, peak = endless(server)
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert peak < MAX_BYTES
    monkeypatch.setattr(limits, "STRANGERS_BYTES", MAX_BYTES)
    answer, peak = endless(server)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert MAX_BYTES < peak < 6 * MAX_BYTES


def endless(server: Path) -> tuple[bytes, int]:
    """The answer, and the most memory that it took."""
    chunk = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    tracemalloc.start()
    try:
        answer = raw(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 64)
        return answer, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_who_says_nothing_or_too_little_is_not_waited_for(server: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.1)
    monkeypatch.setattr(connections, "BODY_S", 0.1)
    assert raw(server) == raw(server, HEAD) == b""
    assert raw(server, HEAD + b"Content-Length: 2\r\n\r\nx") == b""
    # nor is what comes in very many pieces read to its end
    crumbs = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 2 * connections.MOST_PIECES
    assert raw(server, crumbs).startswith(b"HTTP/1.1 400 ")
    monkeypatch.setattr(connections, "HEAD_S", PATIENCE_S)
    monkeypatch.setattr(connections, "MOST_OPEN", 2)
    with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
        for each in (first, second):
            each.settimeout(PATIENCE_S)
            each.connect(str(server))
        assert raw(server, b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        # the one that has waited longest has given way
        assert first.recv(1) == b""
        second.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert second.recv(9) == b"HTTP/1.1 "
