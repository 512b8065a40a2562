"""The page on notices: what it shows of a message is what is posted, and its lines of Python check one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from fenced import fences
from receivers import Posted, given_webhook, receiving, sending

from domain.notice import NoticeKind
from store import channels, notices
from store.database import Database

PAGE = "how-to/accounts.md#notices-by-e-mail-and-webhook"
SUBJECT = "3f0c1b1e-7a53-4c5e-9a51-0d6c7c3c2b11"


def test_the_lines_of_the_page_accept_our_messages_and_no_others(sqlite_url: str, now: datetime) -> None:
    database = Database(sqlite_url)
    with receiving() as receiver, sending(database, receiver=receiver) as sender:
        webhook_id, secret = given_webhook(database, receiver.url, now)
        with database.transaction() as connection:
            notices.tell(
                connection, kind=NoticeKind.RELEASE_READY, subject=SUBJECT, to=["ada"], now=now,
                dataset="heights", state="RELEASED",
            )  # fmt: skip
            new = channels.rotate_secret(connection, "ada", webhook_id, now)
        sender.send_due(now)
    database.close()
    (posted,) = receiver.got
    check(is_genuine(), posted, [secret, new], at=now.timestamp())
    (shown,) = [json.loads(fence.text) for fence in fences(PAGE) if fence.language == "json"]
    assert json.loads(posted.body) == shown | {"id": posted.headers["webhook-id"]}
    assert len(shown["id"]) == len(posted.headers["webhook-id"])


def check(genuine: Callable[..., bool], posted: Posted, secrets: list[str], *, at: float) -> None:
    for secret in secrets:
        assert genuine(secret, posted.headers, posted.body, now=at)
        assert not genuine(secret, posted.headers, posted.body + b" ", now=at)
        assert not genuine(secret, posted.headers | {"webhook-id": "msg_other"}, posted.body, now=at)
        late = at + timedelta(minutes=6).total_seconds()
        assert not genuine(secret, posted.headers, posted.body, now=late)
        fresh = posted.headers | {"webhook-timestamp": str(int(late))}
        assert not genuine(secret, fresh, posted.body, now=late)
    assert not genuine("whsec_" + "A" * 44, posted.headers, posted.body, now=at)


def is_genuine() -> Callable[..., bool]:
    (code,) = [fence.text for fence in fences(PAGE) if fence.language == "python"]
    names: dict[str, Any] = {}
    exec(compile(code, PAGE, "exec"), names)
    found: Callable[..., bool] = names["is_genuine"]
    return found
