"""What somebody may write into Redis is dropped before Celery has it; what gateways send is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from celery import Celery
from celery.worker.request import Request
from hostile_messages import HOSTILE, body, headers, message
from kombu import Connection
from kombu.transport import virtual

from domain.messages import Message
from worker import broker


@pytest.fixture(scope="module")
def channel() -> Any:
    return Connection("memory://").channel()


def loaded(raw: bytes) -> Any:
    try:
        return broker._loaded(raw.decode())
    except UnicodeDecodeError:
        return None


def take(job_id: str) -> None:
    """Never called: what comes with its message is looked at."""


def test_whatever_is_none_of_ours_is_dropped(channel: virtual.Channel, subtests: pytest.Subtests) -> None:
    for name, raw in HOSTILE.items():
        with subtests.test(name):
            assert not broker._is_ours(loaded(raw), channel)


def test_each_message_of_ours_is_taken(channel: virtual.Channel, subtests: pytest.Subtests) -> None:
    """As Celery makes it: with headers for all that could be asked, and nothing in them."""
    app = Celery("sender", set_as_current=False)
    for kind in Message:
        with subtests.test(kind.value):
            made = app.amqp.as_task_v2("1", kind.value, args=["job"], countdown=3, expires=5)
            content = {"headers": made.headers | {"traceparent": "00-1"}, "body": body(*made.body)}
            assert broker._is_ours(loaded(message(**content)), channel)


def test_a_limit_of_time_would_reach_the_process_that_works(channel: virtual.Channel) -> None:
    """What the attack is: Celery ends the process when that time is over."""
    raw = json.loads(message(headers=headers(timelimit=[0.1, None])))
    app = Celery("worker", set_as_current=False)
    app.task(take, name=Message.RUN_JOB.value)
    request = Request(channel.Message(raw, channel=channel), app=app)
    assert tuple(request.time_limits) == (0.1, None)
