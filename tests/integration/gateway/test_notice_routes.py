"""Channels and notices over the interface, with a mail server and a receiver that really run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from asking import Gateway, problem, running_gateway
from factories import given_dataset, given_image, job_request_fields, policy_fields
from receivers import SENDER, Mailbox, Receiver, current, mail_server, receiving
from sqlalchemy import select
from waiting import wait_until

from domain.notice import NoticeState, SendProblem
from gateway.notices.sender import Sender, rules_of
from gateway.notices.sender import mail_server as mail_of
from gateway.notices.webhook import WebhookPost
from store.notice_tables import notices
from store.tables import audit_events


@dataclass(frozen=True)
class Told:
    """A gateway that can send, and the two sides that it sends to."""

    gateway: Gateway
    mailbox: Mailbox
    receiver: Receiver

    def send(self) -> int:
        """What its thread does every few seconds."""
        settings = self.gateway.app.state.settings
        sender = Sender(
            self.gateway.database, mail=mail_of(settings), post=WebhookPost(rules_of(settings)),
            public_url=settings.public_url,
        )  # fmt: skip
        try:
            return sender.send_due(current())
        finally:
            sender.close()

    def confirm(self, name: str) -> None:
        """An address of this person, by the code of the mail."""
        self.gateway.ask("PUT", "/channels/email", by=name, json={"address": f"{name}@example.org"})
        wrong = {"code": "wrong"}
        refused = self.gateway.ask("POST", "/channels/email/confirmation", by=name, json=wrong)
        assert problem(refused, status=422)["field"] == "code"
        self.send()
        found = re.search(r"^    (\S+)", self.mailbox.messages.pop().get_content(), re.M)
        assert found is not None
        answer = self.gateway.ask("POST", "/channels/email/confirmation", by=name, json={"code": found[1]})
        assert answer.json()["email"] == {"address": f"{name}@example.org", "confirmed": True}


@pytest.fixture
def told(database_url: str, redis_url: str) -> Iterator[Told]:
    with ExitStack() as stack:
        mailbox = stack.enter_context(mail_server())
        receiver = stack.enter_context(receiving())
        settings = {
            "smtp_url": mailbox.url, "mail_from": SENDER, "webhook_hosts": (receiver.host,),
            "webhook_loopback": True, "public_url": "https://dpgate.example.org",
            # the tests send when they want to
            "send_notices": False,
        }  # fmt: skip
        running = stack.enter_context(running_gateway(database_url, redis_url, **settings))
        yield Told(running, mailbox, receiver)


def test_a_job_that_waits_is_told_and_its_decision_too(told: Told):
    gateway = told.gateway
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(approve_jobs=True))
    for name in ("ada", "holder", "rival", "bob"):
        told.confirm(name)
    job_id = gateway.ask("PUT", "/jobs/job-0001", by="ada", json=job_request_fields()).json()["id"]
    told.send()
    (waits,) = told.mailbox.messages
    assert waits["To"] == "holder@example.org"
    assert f"https://dpgate.example.org/reviews/{job_id}" in waits.get_content()
    refusal = {"decision": "reject", "reason": "The bounds are far too wide."}
    gateway.ask("POST", f"/jobs/{job_id}/decision", by="holder", json=refusal)
    told.send()
    decided = told.mailbox.messages[1:]
    assert [message["To"] for message in decided] == ["ada@example.org"]
    assert "Your job on heights was rejected." in decided[0].get_content()
    assert "bounds" not in str(decided[0])
    kinds = sorted(one["kind"] for one in gateway.ask("GET", "/notices", by="ada").json())
    assert kinds == ["confirmation", "job_decided"]  # of one second: in any order


def test_a_webhook_is_added_tested_rotated_and_removed(told: Told):
    gateway, url = told.gateway, f"{told.receiver.url}/in"
    made = gateway.ask("POST", "/channels/webhooks", by="ada", json={"url": url})
    assert made.status_code == 201
    path, secret = f"/channels/webhooks/{made.json()['id']}", made.json()["secret"]
    again = gateway.ask("POST", "/channels/webhooks", by="ada", json={"url": url})
    problem(again, status=409, kind="Conflict")
    assert gateway.ask("POST", f"{path}/test", by="ada").json()["state"] == "WAITING"
    told.send()
    (posted,) = told.receiver.got
    assert (posted.path, b'"kind":"test"' in posted.body) == ("/in", True)
    rotated = gateway.ask("POST", f"{path}/rotation", by="ada").json()["secret"]
    assert rotated != secret
    shown = gateway.ask("GET", "/channels", by="ada").text + gateway.ask("GET", "/notices", by="ada").text
    assert secret not in shown
    assert rotated not in shown
    for call, ask in (("DELETE", path), ("POST", f"{path}/rotation"), ("POST", f"{path}/test")):
        problem(gateway.ask(call, ask, by="bob"), status=404, kind="NotFound")
    assert gateway.ask("DELETE", path, by="ada").json()["webhooks"] == []
    problem(gateway.ask("POST", f"{path}/test", by="ada"), status=404)
    with gateway.database.reading() as connection:
        rows = connection.execute(select(audit_events.c.action, audit_events.c.details)).all()
    assert {"webhook.add", "webhook.rotate", "webhook.remove"} <= {row.action for row in rows}
    assert not any(word in str(rows) for word in (secret, rotated, told.receiver.host))


def test_what_was_given_up_is_tried_again_by_its_user_or_the_operator(told: Told):
    gateway = told.gateway
    hook = gateway.ask("POST", "/channels/webhooks", by="ada", json={"url": told.receiver.url}).json()["id"]
    for _ in range(2):
        notice = gateway.ask("POST", f"/channels/webhooks/{hook}/test", by="ada").json()["id"]
    problem(gateway.ask("POST", f"/notices/{notice}/retry", by="ada"), status=409, kind="Conflict")
    _give_up(gateway)
    dead = gateway.ask("GET", "/notices", by="ada").json()
    assert {(one["state"], one["problem_sentence"]) for one in dead} == {
        ("DEAD", "The other side did not answer in time.")
    }
    problem(gateway.ask("POST", f"/notices/{notice}/retry", by="bob"), status=404, kind="NotFound")
    assert gateway.ask("POST", f"/notices/{notice}/retry", by="ada").json()["state"] == "WAITING"
    counts = gateway.ask("GET", "/operation/notices", by="olga").json()
    assert [(one["state"], one["count"]) for one in counts] == [("DEAD", 1), ("WAITING", 1)]
    assert "ada" not in str(counts)
    none = gateway.ask("POST", "/operation/notices/retry", by="olga", json={"channel": "email"})
    assert none.json() == {"retried": 0}
    one = gateway.ask("POST", "/operation/notices/retry", by="olga", json={"problem": "timeout"})
    assert one.json() == {"retried": 1}
    told.send()
    assert len(told.receiver.got) == 2


WRONG = (
    ("PUT", "/channels/email", {"address": "nobody"}, "address"),
    ("PUT", "/channels/email", {"address": "a@b.org\r\nBcc: eve@e.org"}, "address"),
    ("PUT", "/channels/email", {"address": "a@b.org", "name": "bob"}, "name"),
    ("POST", "/channels/email/confirmation", {"code": ""}, "code"),
    ("POST", "/channels/webhooks", {"url": "https://elsewhere.example.org/"}, "url"),
    ("POST", "/channels/webhooks", {"url": "http://169.254.169.254/"}, "url"),
    ("PUT", "/channels/off", {"off": ["test"]}, "off"),
    ("PUT", "/channels/off", {"off": ["nothing"]}, "off.0"),
)


def test_what_is_wrong_is_named_and_changes_nothing(told: Told):
    before = told.gateway.rows()
    for method, path, body, field in WRONG:
        refused = problem(told.gateway.ask(method, path, by="ada", json=body), status=422)
        assert (refused["field"], bool(refused["problem"])) == (field, True)
    assert told.gateway.rows() == before


def test_mails_that_somebody_else_may_get_are_few(told: Told):
    for number in range(5):
        told.gateway.ask("PUT", "/channels/email", by="ada", json={"address": f"victim{number}@example.org"})
        told.send()
    refused = told.gateway.ask("PUT", "/channels/email", by="ada", json={"address": "victim@example.org"})
    problem(refused, status=429, kind="TooMany")
    assert int(refused.headers["retry-after"]) > 0
    # what was there before stays
    assert told.gateway.ask("GET", "/channels", by="ada").json()["email"]["address"] == "victim4@example.org"


def test_a_platform_without_mail_and_hosts_says_so(sqlite_url: str, redis_url: str):
    with running_gateway(sqlite_url, redis_url) as gateway:
        found = gateway.ask("GET", "/channels", by="ada").json()
        assert (found["sends_email"], found["webhook_hosts"]) == (False, [])
        refused = gateway.ask("PUT", "/channels/email", by="ada", json={"address": "ada@example.org"})
        assert "sends no e-mail" in problem(refused, status=409, kind="Conflict")["problem"]
        refused = gateway.ask("POST", "/channels/webhooks", by="ada", json={"url": "https://example.org/"})
        assert "webhooks are off" in problem(refused, status=409)["problem"]


def test_a_gateway_sends_by_itself_while_it_runs(sqlite_url: str, redis_url: str):
    with receiving() as receiver:
        settings = {"webhook_hosts": (receiver.host,), "webhook_loopback": True}
        with running_gateway(sqlite_url, redis_url, **settings) as gateway:
            made = gateway.ask("POST", "/channels/webhooks", by="ada", json={"url": receiver.url}).json()
            gateway.ask("POST", f"/channels/webhooks/{made['id']}/test", by="ada")
            wait_until(lambda: receiver.got, said="what the gateway's own thread sends")
        assert [posted.body.count(b'"kind":"test"') for posted in receiver.got] == [1]


def _give_up(gateway: Gateway) -> None:
    """As after all attempts."""
    with gateway.database.transaction() as connection:
        connection.execute(
            notices.update().values(state=NoticeState.DEAD, problem=SendProblem.TIMEOUT, attempts=6)
        )
