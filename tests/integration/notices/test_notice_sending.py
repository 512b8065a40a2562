"""Notices on their way, to servers that really run: once, again, given up, never elsewhere."""

from __future__ import annotations

import json
import socket
from datetime import datetime, timedelta

import pytest
from receivers import (
    SENDER,
    Mailbox,
    Receiver,
    drip,
    given_address,
    given_webhook,
    large,
    sending,
)
from telling import sent_to, tell

from domain.notice import MOST_ATTEMPTS, WAITS, NoticeKind, NoticeState, SendProblem
from gateway.notices.webhook import signature
from store import channels, notices
from store.database import Database

LINK = "https://dpgate.example.org"


def test_a_webhook_gets_the_notice_signed(database: Database, receiver: Receiver, now: datetime):
    _, secret = given_webhook(database, f"{receiver.url}/in?room=1", now)
    tell(database, now)
    with sending(database, receiver=receiver) as sender:
        assert sender.send_due(now) == 1
        assert sender.send_due(now) == 0
    (posted,) = receiver.got
    (delivery,) = sent_to(database)
    assert (posted.path, posted.headers["Host"]) == ("/in?room=1", receiver.host)
    assert json.loads(posted.body) == {
        "id": delivery.notice.id, "kind": "release_ready", "subject": "job-0001",
        "at": "2026-03-02T09:30:00+00:00", "facts": {"dataset": "heights", "state": "RELEASED"},
    }  # fmt: skip
    timestamp = posted.headers["webhook-timestamp"]
    assert (posted.headers["webhook-id"], timestamp) == (delivery.notice.id, str(int(now.timestamp())))
    expected = signature(secret, delivery.notice.id, timestamp, posted.body)
    assert posted.headers["webhook-signature"] == expected
    assert (delivery.state, delivery.problem) == (NoticeState.SENT, None)


def test_both_secrets_sign_for_a_day(database: Database, receiver: Receiver, now: datetime):
    webhook_id, old = given_webhook(database, receiver.url, now)
    with database.transaction() as connection:
        new = channels.rotate_secret(connection, "ada", webhook_id, now)
    tell(database, now)
    tell(database, now + timedelta(days=1))
    with sending(database, receiver=receiver) as sender:
        sender.send_due(now)
        sender.send_due(now + timedelta(days=1))
    for posted, secrets in zip(receiver.got, ([new, old], [new]), strict=True):
        parts = (posted.headers["webhook-id"], posted.headers["webhook-timestamp"], posted.body)
        assert posted.headers["webhook-signature"].split(" ") == [signature(one, *parts) for one in secrets]


def test_a_mail_says_what_happened_and_where(database: Database, mailbox: Mailbox, now: datetime):
    address = given_address(database, now)
    tell(database, now)
    with sending(database, mailbox=mailbox, public_url=LINK) as sender:
        sender.send_due(now)
    (message,) = mailbox.messages
    assert (message["From"], message["To"]) == (f"dpgate <{SENDER}>", address)
    assert message["Subject"] == "dpgate: The release of your job on heights can be read"
    assert message.get_content_type() == "text/plain"
    text = message.get_content()
    assert "The release of your job on heights can be read." in text
    assert f"{LINK}/jobs/job-0001" in text
    assert mailbox.recipients == [[address]]


def test_without_an_address_of_its_own_the_platform_sends_no_link(
    database: Database, mailbox: Mailbox, now: datetime
):
    given_address(database, now)
    tell(database, now)
    with sending(database, mailbox=mailbox) as sender:
        sender.send_due(now)
    assert "http" not in mailbox.messages[0].get_content()


def test_only_the_code_goes_to_an_address_before_it_is_confirmed(
    database: Database, mailbox: Mailbox, now: datetime
):
    given_address(database, now)
    with database.transaction() as connection:
        channels.set_address(connection, "ada", "new@example.org", now)
        notices.tell_channel(connection, kind=NoticeKind.CONFIRMATION, name="ada", channel="email", now=now)
    tell(database, now)
    with sending(database, mailbox=mailbox, public_url=LINK) as sender:
        assert sender.send_due(now) == 1
    (message,) = mailbox.messages
    assert message["To"] == "new@example.org"
    (link,) = [line for line in message.get_content().splitlines() if line.startswith(LINK)]
    code = link.partition("?code=")[2]
    with database.transaction() as connection:
        channels.confirm(connection, "ada", code, now)
    tell(database, now)
    with sending(database, mailbox=mailbox) as sender:
        assert sender.send_due(now) == 1
    assert mailbox.messages[1]["To"] == "new@example.org"


def test_what_does_not_arrive_is_tried_again_on_schedule_and_then_given_up(
    database: Database, receiver: Receiver, now: datetime
):
    given_webhook(database, receiver.url, now)
    tell(database, now)
    receiver.answers.extend([500] * MOST_ATTEMPTS)
    at = now
    with sending(database, receiver=receiver) as sender:
        for wait in WAITS:
            assert sender.send_due(at) == 1
            (delivery,) = sent_to(database)
            assert (delivery.state, delivery.problem) == (NoticeState.WAITING, SendProblem.REFUSED)
            assert delivery.next_at == at + wait
            assert sender.send_due(at + wait - timedelta(seconds=1)) == 0
            at += wait
        assert sender.send_due(at) == 1
        assert sent_to(database)[0].state is NoticeState.DEAD
        assert sender.send_due(at + timedelta(days=30)) == 0
        with database.transaction() as connection:
            notices.retry(connection, "ada", delivery.notice.id, at)
        assert sender.send_due(at) == 1
    assert sent_to(database)[0].state is NoticeState.SENT
    assert len({posted.headers["webhook-id"] for posted in receiver.got}) == 1
    assert len(receiver.got) == MOST_ATTEMPTS + 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [(302, SendProblem.REDIRECT), (307, SendProblem.REDIRECT), (410, SendProblem.REFUSED),
     (503, SendProblem.REFUSED)],
)  # fmt: skip
def test_only_a_good_status_counts_and_no_redirect_is_followed(
    sqlite_database: Database, receiver: Receiver, now: datetime, answer: int, problem: SendProblem
):
    given_webhook(sqlite_database, receiver.url, now)
    tell(sqlite_database, now)
    receiver.answers.append(answer)
    with sending(sqlite_database, receiver=receiver) as sender:
        sender.send_due(now)
    assert [posted.path for posted in receiver.got] == ["/"]
    assert sent_to(sqlite_database)[0].problem is problem


def test_slow_answers_end_after_the_limit_and_large_ones_are_not_read(
    sqlite_database: Database, receiver: Receiver, now: datetime
):
    for number in range(2):
        given_webhook(sqlite_database, f"{receiver.url}/{number}", now)
    receiver.answers.extend([drip, large])
    tell(sqlite_database, now)
    with sending(sqlite_database, receiver=receiver) as sender:
        assert sender.send_due(now) == 2
    found = {delivery.problem for delivery in sent_to(sqlite_database)}
    assert found == {SendProblem.TIMEOUT, None}


def test_nobody_there(sqlite_database: Database, now: datetime):
    with socket.socket() as held:  # nobody listens there, nor will anybody else
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        gone = Receiver(f"http://127.0.0.1:{port}")
        given_webhook(sqlite_database, gone.url, now)
        given_address(sqlite_database, now)
        tell(sqlite_database, now)
        with sending(sqlite_database, receiver=gone, mailbox=Mailbox(f"smtp://127.0.0.1:{port}")) as sender:
            assert sender.send_due(now) == 2
    assert {delivery.problem for delivery in sent_to(sqlite_database)} == {SendProblem.UNREACHABLE}
