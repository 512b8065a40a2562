"""Senders of notices that race, die or lose their database: each notice is sent once, or given up."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

import pytest
from receivers import Mailbox, Receiver, given_address, given_webhook, receiving, sending
from telling import sent_to, tell
from waiting import PATIENCE_S, wait_until

from domain.notice import MOST_ATTEMPTS, NoticeState, SendProblem
from gateway.notices.addresses import Rules
from gateway.notices.sender import Sender
from gateway.notices.webhook import WebhookPost
from store import channels, outbox
from store.database import Database


def test_two_senders_send_once(database: Database, receiver: Receiver, now: datetime):
    given_webhook(database, receiver.url, now)
    for _ in range(12):
        tell(database, now)
    with sending(database, receiver=receiver) as one, sending(database, receiver=receiver) as other:
        start = threading.Barrier(2)

        def work(sender) -> None:
            start.wait()
            while sender.send_due(now):
                pass

        threads = [threading.Thread(target=work, args=(sender,)) for sender in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(receiver.got) == len({posted.headers["webhook-id"] for posted in receiver.got}) == 12
    assert {delivery.state for delivery in sent_to(database)} == {NoticeState.SENT}


def test_a_receiver_that_is_slow_delays_nobody_else(database: Database, now: datetime):
    """Control: with notices in the order in which they wait, four of the slow one's come first."""
    held = threading.Event()
    with receiving() as slow, receiving() as quick:
        slow.answers.extend([lambda _: held.wait(PATIENCE_S)] * 20)
        given_webhook(database, slow.url, now, name="ada")
        given_webhook(database, quick.url, now, name="bob")
        for _ in range(20):
            tell(database, now, to=("ada",))
        for _ in range(3):
            tell(database, now, to=("bob",))
        post = WebhookPost(Rules.of([slow.host, quick.host], loopback=True))
        sender = Sender(database, mail=None, post=post, every_s=0.05)
        sender.start()
        try:
            wait_until(lambda: len(quick.got) == 3, said="who is quick has all of theirs")
            assert len(slow.got) == 1
        finally:
            held.set()
            sender.close()


def test_what_a_killed_sender_held_is_sent_after_its_lease(
    database: Database, receiver: Receiver, now: datetime
):
    given_webhook(database, receiver.url, now)
    tell(database, now)
    with database.transaction() as connection:
        (held,) = outbox.claim(connection, now, limit=1)
    late = now + outbox.LEASE
    with sending(database, receiver=receiver) as sender:
        assert sender.send_due(late - timedelta(seconds=1)) == 0
        assert sender.send_due(late) == 1
    with database.transaction() as connection:
        # the first one was only slow: what it found counts no more
        assert outbox.finish(connection, held, SendProblem.TIMEOUT, late) is None
    assert sent_to(database)[0].state is NoticeState.SENT


def test_a_notice_that_kills_its_sender_is_given_up(database: Database, now: datetime):
    given_webhook(database, "https://hooks.example.org", now)
    tell(database, now)
    at = now
    for _ in range(MOST_ATTEMPTS):
        with database.transaction() as connection:
            assert len(outbox.claim(connection, at, limit=1)) == 1
        at += outbox.LEASE
    with database.transaction() as connection:
        assert outbox.claim(connection, at, limit=1) == []
    (delivery,) = sent_to(database)
    assert (delivery.state, delivery.problem) == (NoticeState.DEAD, SendProblem.INTERRUPTED)


def test_a_removed_channel_gets_nothing_more(database: Database, receiver: Receiver, now: datetime):
    webhook_id, _ = given_webhook(database, receiver.url, now)
    given_address(database, now)
    tell(database, now)
    with database.transaction() as connection:
        channels.remove_webhook(connection, "ada", webhook_id)
        channels.remove_address(connection, "ada")
    tell(database, now)
    assert sent_to(database) == []
    with sending(database, receiver=receiver) as sender:
        assert sender.send_due(now) == 0
    assert receiver.got == []


def test_a_refused_mail_leaves_a_word_and_no_text(
    sqlite_database: Database, mailbox: Mailbox, now: datetime, caplog: pytest.LogCaptureFixture
):
    given_address(sqlite_database, now)
    tell(sqlite_database, now)
    mailbox.refusals.append("554 SECRET TEXT of the other side")
    with caplog.at_level(logging.DEBUG), sending(sqlite_database, mailbox=mailbox) as sender:
        sender.send_due(now)
    (delivery,) = sent_to(sqlite_database)
    assert (delivery.state, delivery.problem) == (NoticeState.WAITING, SendProblem.REFUSED)
    ours = " ".join(entry.getMessage() for entry in caplog.records if entry.name.startswith("gateway"))
    assert "SECRET" not in ours
    assert "ada" not in ours


def test_the_thread_of_a_gateway_sends_by_itself_and_survives_a_missing_database(
    sqlite_database: Database, receiver: Receiver, now: datetime, caplog: pytest.LogCaptureFixture
):
    _, secret = given_webhook(sqlite_database, f"{receiver.url}/hidden-path", now)
    with sending(sqlite_database, receiver=receiver, every_s=0.02) as sender:
        right = sender._database
        sender._database = Database("sqlite:////nowhere/at/all.db")
        with caplog.at_level(logging.DEBUG, logger="gateway"):
            sender.start()
            wait_until(lambda: "cannot be sent now" in caplog.text)
            sender._database.close()
            sender._database = right
            tell(sqlite_database, now)
            wait_until(lambda: sent_to(sqlite_database)[0].state is NoticeState.SENT)
    ours = " ".join(entry.getMessage() for entry in caplog.records if entry.name.startswith("gateway"))
    assert secret not in ours
    assert "hidden-path" not in ours
    assert len(receiver.got) == 1
