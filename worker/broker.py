"""Drops messages that cannot be read before Celery has them: a single one would end a worker.

Whoever can write into Redis can still send what a gateway could; that is answered by the database alone.
"""

from __future__ import annotations

import logging
from typing import Any

import kombu.transport
import kombu.transport.redis as carrier
from kombu.utils.json import loads

log = logging.getLogger(__name__)
_HEADERS = ("id", "task")


class Transport(carrier.Transport):
    """Redis as Celery has it, with a look at each message first."""

    def _deliver(self, message: Any, queue: Any) -> None:
        if _is_readable(message, self.channels[0]):
            super()._deliver(message, queue)
        else:
            log.error("a message that cannot be read was dropped")  # not its text: nobody knows whose it is


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


def _is_readable(raw: Any, channel: Any) -> bool:
    """Looks at its kind first: what is compressed is not opened, and what is no JSON is not read."""
    if not isinstance(raw, dict) or raw.get("content-type") != "application/json":
        return False
    headers = raw.get("headers")
    if not isinstance(headers, dict) or "compression" in headers:
        return False
    try:
        arguments, named, _ = channel.Message(raw, channel=channel).decode()
    except Exception:  # whatever a hostile message makes a library raise
        return False
    has_name = all(isinstance(headers.get(name), str) for name in _HEADERS)
    return has_name and isinstance(arguments, list) and named == {}
