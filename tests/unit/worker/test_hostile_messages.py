"""What somebody may write into Redis is dropped before Celery has it; what gateways send is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from celery import Celery
from celery.worker.request import Request
from hostile_messages import HOSTILE, JOB, MESSAGE_KEY, body, code, headers, message
from kombu import Connection
from kombu.transport import virtual
from pydantic import SecretStr

from domain.errors import NotReady
from domain.messages import CODE, Message, key_of
from worker import broker


@pytest.fixture(scope="module")
def channel() -> Any:
    return Connection("memory://").channel()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "_keys", [bytes.fromhex(MESSAGE_KEY)])


def loaded(raw: bytes) -> Any:
    try:
        return broker._loaded(raw.decode())
    except UnicodeDecodeError:
        return None


def take(job_id: str) -> None:
    """Never called: what comes with its message is looked at."""


def test_whatever_is_none_of_ours_is_dropped(channel: virtual.Channel, subtests: pytest.Subtests) -> None:
    for name, (why, raw) in HOSTILE.items():
        with subtests.test(name):
            assert broker._why_not(loaded(raw), channel) is why


def test_without_a_key_none_is_taken(channel: virtual.Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert broker._why_not(loaded(message()), channel) is None
    monkeypatch.setattr(broker, "_keys", [])
    assert broker._why_not(loaded(message()), channel) is broker.WhyDropped.CODE


def test_a_key_that_is_none_is_refused_and_not_repeated(subtests: pytest.Subtests) -> None:
    for text in (None, "", "5a" * 31, "5A" * 32, "5a" * 33, "x" * 64):
        with subtests.test(text), pytest.raises(NotReady, match="DPGATE_MESSAGE_KEY is needed") as refused:
            key_of(None if text is None else SecretStr(text))
        assert not text or text not in str(refused.value)


def test_each_message_of_ours_is_taken(channel: virtual.Channel, subtests: pytest.Subtests) -> None:
    """As Celery makes it: with headers for all that could be asked, and nothing in them."""
    app = Celery("sender", set_as_current=False)
    for kind in Message:
        with subtests.test(kind.value):
            made = app.amqp.as_task_v2("1", kind.value, args=JOB, countdown=3, expires=5)
            sent = made.headers | {"traceparent": "00-1", CODE: code(kind.value, JOB)}
            content = {"headers": sent, "body": body(*made.body)}
            assert broker._why_not(loaded(message(**content)), channel) is None


def test_a_limit_of_time_would_reach_the_process_that_works(channel: virtual.Channel) -> None:
    """What the attack is: Celery ends the process when that time is over."""
    raw = json.loads(message(headers=headers(timelimit=[0.1, None])))
    app = Celery("worker", set_as_current=False)
    app.task(take, name=Message.RUN_JOB.value)
    request = Request(channel.Message(raw, channel=channel), app=app)
    assert tuple(request.time_limits) == (0.1, None)
