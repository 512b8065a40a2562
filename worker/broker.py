"""Drops messages that Celery must not have: a single one that cannot be read would end a worker, and a limit
of time that comes with one kills the process that works, with what it has in hand.

Whoever can write into Redis can still send what a gateway could; that is answered by the database alone.
"""

from __future__ import annotations

import logging
from typing import Any

import kombu.transport
import kombu.transport.redis as carrier
import redis
from kombu.utils.json import loads

from domain.messages import Message

log = logging.getLogger(__name__)
_KIND = ("application/json", "utf-8")
_TASKS = {message.value for message in Message}


class Transport(carrier.Transport):
    """Redis as Celery has it, with a look at each message first."""

    # where somebody has put a key of another kind in the place of a queue's, the worker connects anew until
    # that is gone: it would end, and with it the processes that work, with what they have in hand
    connection_errors = (*carrier.Transport.connection_errors, redis.ResponseError)

    def _deliver(self, message: Any, queue: Any) -> None:
        if _is_ours(message, self.channels[0]):
            super()._deliver(message, queue)
        else:
            log.error("a message that is none of ours was dropped")  # not its text: nobody knows whose it is


def look_first() -> None:
    """From now on, in this process and those that it forks."""
    carrier.loads = _loaded  # type: ignore[assignment]
    for name in ("redis", "rediss"):
        kombu.transport.TRANSPORT_ALIASES[name] = f"{__name__}:Transport"


def _loaded(text: str, **options: Any) -> Any:
    try:
        return loads(text, **options)
    except (ValueError, RecursionError):
        return None


def _is_ours(raw: Any, channel: Any) -> bool:
    """Whether it asks for one of our tasks, and for nothing else. Looks at its kind first: what is compressed
    is not opened, and what is no JSON is not read."""
    if not isinstance(raw, dict) or (raw.get("content-type"), raw.get("content-encoding")) != _KIND:
        return False
    headers = raw.get("headers")
    if not isinstance(headers, dict) or "compression" in headers:
        return False
    try:
        arguments, named, more = channel.Message(raw, channel=channel).decode()
    except Exception:  # whatever a hostile message makes a library raise
        return False
    is_named = isinstance(headers.get("id"), str) and str(headers.get("task")) in _TASKS
    # nobody of ours limits the time of a task, or has another one follow it
    is_all = headers.get("timelimit") in (None, [None, None]) and _says_nothing(more)
    return is_named and is_all and isinstance(arguments, list) and named == {}


def _says_nothing(more: Any) -> bool:
    return isinstance(more, dict) and not any(more.values())
