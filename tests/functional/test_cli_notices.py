"""Notices from the command line, on a gateway with a mail server and a receiver that really run."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from factories import given_user
from hostile_messages import MESSAGE_KEY
from receivers import SENDER, Mailbox, Receiver, current, mail_server, receiving
from terminal import Terminal, terminal
from waiting import wait_until

from domain.notice import NoticeState, SendProblem
from domain.permissions import Role
from dpgate.cli.exit_codes import ExitCode
from dpgate.credentials import Login
from gateway.app import create_app
from gateway.config import GatewaySettings
from store import users
from store.database import Database
from store.notice_tables import notices


@dataclass(frozen=True)
class Site:
    """Two people at terminals, and the other side of their notices."""

    ada: Terminal
    olga: Terminal
    mailbox: Mailbox
    receiver: Receiver
    database: Database


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        mailbox, receiver = stack.enter_context(mail_server()), stack.enter_context(receiving())
        settings = GatewaySettings(
            database_url=sqlite_url, broker_url="redis+socket:///none", smtp_url=mailbox.url,
            message_key=MESSAGE_KEY, mail_from=SENDER, webhook_hosts=(receiver.host,), webhook_loopback=True,
        )  # fmt: skip
        server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="warning"))
        thread = threading.Thread(target=server.run)
        thread.start()
        stack.callback(thread.join)
        stack.callback(setattr, server, "should_exit", True)
        wait_until(lambda: server.started)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        database = stack.enter_context(closing(Database(sqlite_url)))
        people = {}
        for name, role in (("ada", Role.DATA_USER), ("olga", Role.OPERATOR)):
            with database.transaction() as connection:
                given_user(connection, name, role)
                token = users.renew_token(connection, name=name)
            people[name] = terminal(tmp_path / name, Login(url, token))
        yield Site(people["ada"], people["olga"], mailbox, receiver, database)


def test_an_address_is_set_confirmed_and_removed(site: Site) -> None:
    assert "email confirm CODE" in site.ada.ok("email", "set", "ada@example.org").out
    wait_until(lambda: site.mailbox.messages)
    found = re.search(r"^    (\S+)", site.mailbox.messages[0].get_content(), re.M)
    assert found is not None
    wrong = site.ada("email", "confirm", "wrong")
    assert (wrong.code, "not the one that was sent last" in wrong.err) == (ExitCode.USAGE, True)
    assert "is confirmed" in site.ada.ok("email", "confirm", "--", found[1]).out
    assert "confirmed already" in site.ada.ok("email", "set", "ada@example.org").out
    assert "No notices go out by e-mail" in site.ada.ok("email", "remove").out
    refused = site.ada("email", "set", "nobody")
    assert (refused.code, "address" in refused.err) == (ExitCode.USAGE, True)


def test_a_webhook_is_added_tested_rotated_and_removed(site: Site) -> None:
    secret = site.ada.ok("webhook", "add", site.receiver.url).out.splitlines()[-1]
    assert secret.startswith("whsec_")
    (hook,) = site.ada.ok("webhook", "list", "--json").json
    assert "whsec_" not in site.ada.ok("webhook", "list").out
    assert "on its way" in site.ada.ok("webhook", "test", hook["id"]).out
    wait_until(lambda: site.receiver.got)
    rotated = site.ada.ok("webhook", "rotate", hook["id"]).out.splitlines()[-1]
    assert rotated.startswith("whsec_")
    assert rotated != secret
    assert "is removed" in site.ada.ok("webhook", "remove", hook["id"]).out
    assert site.ada("webhook", "remove", hook["id"]).code == ExitCode.NOT_FOUND
    refused = site.ada("webhook", "add", "https://elsewhere.example.org/")
    assert (refused.code, "not allowed here" in refused.err) == (ExitCode.USAGE, True)


def test_what_was_given_up_is_listed_and_tried_again(site: Site) -> None:
    hook = site.ada.ok("webhook", "add", site.receiver.url, "--json").json["id"]
    notice = site.ada.ok("webhook", "test", hook, "--json").json["id"]
    wait_until(lambda: site.receiver.got)
    wait_until(lambda: site.ada.ok("notice", "list", "--json").json[0]["state"] == "SENT")
    give_up(site.database)
    (dead,) = site.ada.ok("notice", "list", "--json").json
    assert (dead["state"], dead["problem"]) == ("DEAD", "timeout")
    assert "DEAD: timeout" in " ".join(site.ada.ok("notice", "list").out.split())
    assert "timeout" in site.olga.ok("notice", "list", "--everybody").out
    site.ada.ok("notice", "retry", notice)
    wait_until(lambda: site.ada.ok("notice", "list", "--json").json[0]["state"] == "SENT")
    give_up(site.database)
    assert site.olga.ok("notice", "retry", "--everybody", "--channel", "email", "--json").json == {
        "retried": 0
    }
    assert site.olga.ok("notice", "retry", "--everybody", "--problem", "timeout").out.startswith("1 ")
    wait_until(lambda: len(site.receiver.got) == 3)
    assert site.ada("notice", "retry", "--everybody").code == ExitCode.NOT_ALLOWED
    assert site.ada("notice", "retry").code == ExitCode.USAGE


def test_kinds_are_switched_off_and_on(site: Site) -> None:
    assert site.ada.ok("notice", "mute", "comment", "budget_low", "--json").json == ["budget_low", "comment"]
    assert "budget_low" in site.ada.ok("notice", "unmute", "comment").out
    assert "told of all" in " ".join(site.ada.ok("notice", "unmute", "budget_low").out.split())
    assert site.ada("notice", "mute", "nothing").code == ExitCode.USAGE


def give_up(database: Database) -> None:
    """As after all attempts."""
    gone = {"state": NoticeState.DEAD, "problem": SendProblem.TIMEOUT, "ended_at": current()}
    with database.transaction() as connection:
        connection.execute(notices.update().values(**gone))
