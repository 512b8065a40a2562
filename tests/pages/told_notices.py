"""Channels and notices of the story: some that arrived, one that waits, one that was given up."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.notice import MOST_ATTEMPTS, WAITS, NoticeKind, NoticeState, SendProblem
from store import channels, notices, outbox

MAIL_AND_HOOKS = {
    "smtp_url": "smtp://127.0.0.1:9",
    "mail_from": "dpgate@platform.example.org",
    "webhook_hosts": ("hooks.example.org", "chat.example.org:8443"),
    # there is nobody at the other side
    "send_notices": False,
}
ADDRESS = "ada.lovelace@a-long-name-of-an-institute.example.org"
HOOK = "https://hooks.example.org/services/T0123/B4567?room=memory&day=%3Cb%3E"


def tell_notices(connection: sa.Connection, now: datetime, *, released: str, waiting: str) -> None:
    _give_channels(connection, now)
    jobs = {"dataset": "heights"}
    for days, kind, problem, attempts in (
        (9, NoticeKind.JOB_DECIDED, None, 1),
        (6, NoticeKind.RELEASE_READY, SendProblem.REFUSED, MOST_ATTEMPTS),
        (3, NoticeKind.RELEASE_READY, SendProblem.TIMEOUT, 3),
    ):
        at = now - timedelta(days=days)
        state = {"state": "QUEUED"} if kind is NoticeKind.JOB_DECIDED else {"state": "RELEASED"}
        notices.tell(connection, kind=kind, subject=released, to=["ada"], now=at, **jobs, **state)
        _deliver(connection, at, problem, attempts)
    waits = NoticeKind.JOB_WAITS
    notices.tell(connection, kind=waits, subject=waiting, to=["holder"], now=now, **jobs)


def only_dead(connection: sa.Connection, name: str) -> str:
    """The id of a notice of this person that was given up."""
    found = notices.of_user(connection, name)
    return next(one.notice.id for one in found if one.state is NoticeState.DEAD)


def _give_channels(connection: sa.Connection, now: datetime) -> None:
    channels.add_webhook(connection, "ada", HOOK, now - timedelta(days=20))
    channels.set_address(connection, "ada", ADDRESS, now)
    channels.confirm(connection, "ada", channels.new_code(connection, "ada", now), now)
    channels.add_webhook(connection, "holder", "https://chat.example.org:8443/in", now)
    channels.set_address(connection, "holder", "holder@example.org", now)
    channels.set_muted(connection, "ada", [NoticeKind.COMMENT])


def _deliver(connection: sa.Connection, at: datetime, problem: SendProblem | None, attempts: int) -> None:
    """The webhook has this problem, the mail arrives."""
    for attempt in range(attempts):
        for claimed in outbox.claim(connection, at, limit=9):
            is_hook = claimed.sending.webhook_id is not None
            outbox.finish(connection, claimed, problem if is_hook else None, at)
        at += WAITS[min(attempt, len(WAITS) - 1)]
