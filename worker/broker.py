"""Drops messages that Celery must not have, and counts them: a single one that cannot be read would end a
worker, and a limit of time that comes with one kills the process that works, with what it has in hand.

A message of ours carries a code under the key of messages. Whoever can write into Redis can still send again
what somebody of ours has sent; that is answered by the database alone.
"""

from __future__ import annotations

import hmac
import logging
from collections import Counter
from typing import Any

import kombu.transport
import kombu.transport.redis as carrier
import redis
from kombu.utils.json import loads

from domain.messages import CODE, Message, Queue, WhyDropped, code_of

log = logging.getLogger(__name__)
_KIND = ("application/json", "utf-8")
_TASKS = {message.value for message in Message}
_QUEUES = tuple(queue.value for queue in Queue)
MOST_LETTERS = 64 * 1024
"""Ours have some hundred, and their headers as many."""
dropped: Counter[WhyDropped] = Counter()
"""By this process, since it started."""
_keys: list[bytes] = []


class HandedOut(carrier.QoS):
    """Messages that were handed out and are not done, which Redis keeps beside the queues."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        """Give one out again, of a worker that is gone. What somebody put there ends no worker."""
        with self.channel.conn_or_acquire(client) as known:
            kept = known.hget(self.unacked_key, tag)
        if kept is None or _may_be_restored(kept, self.channel):
            super().restore_by_tag(tag, client, leftmost)
        else:
            self._remove_from_indices(tag).execute()


class Channel(carrier.Channel):
    QoS = HandedOut

    def _restore(self, message: Any, leftmost: bool = False) -> None:
        with self.conn_or_acquire() as known:
            kept = known.hget(self.unacked_key, message.delivery_tag)
        if kept is None or _may_be_restored(kept, self):
            super()._restore(message, leftmost)


class Transport(carrier.Transport):
    """Redis as Celery has it, with a look at each message first."""

    Channel = Channel

    # where somebody has put a key of another kind in the place of a queue's, the worker connects anew until
    # that is gone: it would end, and with it the processes that work, with what they have in hand
    connection_errors = (*carrier.Transport.connection_errors, redis.ResponseError)

    def _deliver(self, message: Any, queue: Any) -> None:
        why = _why_not(message, self.channels[0])
        if why is None:
            super()._deliver(message, queue)
        else:
            _count(why)


def look_first() -> None:
    """From now on, in this process and those that it forks. Without a key, none is taken."""
    carrier.loads = _loaded  # type: ignore[assignment]
    for name in ("redis", "rediss"):
        kombu.transport.TRANSPORT_ALIASES[name] = f"{__name__}:Transport"


def take_those_of(key: bytes) -> None:
    """From now on, messages with a code under this key."""
    _keys[:] = [key]


def _count(why: WhyDropped) -> None:
    dropped[why] += 1
    # whoever sends very many must not fill the log; not its text: nobody knows whose it is
    if dropped[why].bit_count() == 1:
        log.error("a message that is none of ours was dropped: %s, %d so far", why, dropped[why])


def _may_be_restored(kept: bytes, channel: Any) -> bool:
    """Whether it is a message of ours with the queue that it was in."""
    try:
        message, exchange, queue = _loaded(kept.decode())
    except (ValueError, TypeError):
        why: WhyDropped | None = WhyDropped.UNREADABLE
    else:
        # to an exchange that is not there, the worker would connect anew for ever
        is_known = exchange in ("", *_QUEUES) and queue in _QUEUES
        why = _why_not(message, channel) if is_known else WhyDropped.UNREADABLE
    if why is not None:
        _count(why)
    return why is None


def _loaded(text: str, **options: Any) -> Any:
    if len(text) > MOST_LETTERS:
        return None
    try:
        return loads(text, **options)
    except (ValueError, RecursionError):
        return None


def _why_not(raw: Any, channel: Any) -> WhyDropped | None:
    """None where it asks for one of our tasks, for nothing else, and was sent by somebody of ours. Looks at
    its kind first: what is compressed is not opened, and what is no JSON is not read."""
    if not isinstance(raw, dict) or (raw.get("content-type"), raw.get("content-encoding")) != _KIND:
        return WhyDropped.UNREADABLE
    headers = raw.get("headers")
    if not isinstance(headers, dict) or "compression" in headers or not isinstance(headers.get("id"), str):
        return WhyDropped.UNREADABLE
    try:
        ids, named, more = channel.Message(raw, channel=channel).decode()
    except Exception:  # whatever a hostile message makes a library raise
        return WhyDropped.UNREADABLE
    if not isinstance(ids, list) or not all(type(each) in (str, int) for each in ids):
        return WhyDropped.UNREADABLE
    name = headers.get("task")
    if not isinstance(name, str) or name not in _TASKS:
        return WhyDropped.UNKNOWN
    # nobody of ours limits the time of a task, names arguments, or has another task follow
    if headers.get("timelimit") not in (None, [None, None]) or named != {} or not _says_nothing(more):
        return WhyDropped.MORE
    return None if _is_sealed(headers.get(CODE), name, ids) else WhyDropped.CODE


def _says_nothing(more: Any) -> bool:
    return isinstance(more, dict) and not any(more.values())


def _is_sealed(code: Any, name: str, ids: list[str | int]) -> bool:
    # in bytes: of a text with other letters than those of ASCII the comparison would raise
    found = str(code).encode("utf-8", "replace")
    return any(hmac.compare_digest(found, code_of(key, name, ids).encode()) for key in _keys)
