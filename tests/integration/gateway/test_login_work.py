"""A login costs the same work whoever is named: who has an account cannot be read off what a refusal takes.

Verifications are counted, with the parameters of the hash that each one was given; no clock is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from argon2 import PasswordHasher
from asking import Gateway, running_gateway

from store import accounts, users

PASSWORD = "four words that differ"
WRONG = "four words that do not"
NAMES = ("ada", "nobody-here", "olga", "ada\x00")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, sqlite_template) -> Iterator[Gateway]:
    path = tmp_path_factory.mktemp("logins") / "dpgate.db"
    path.write_bytes(sqlite_template.read_bytes())
    now = datetime.now(UTC)
    with running_gateway(f"sqlite:///{path}", "redis+socket:///none") as running:
        with running.database.transaction() as connection:
            # olga has no password; bob cannot log in any more
            accounts.set_password(connection, "ada", PASSWORD, now)
            accounts.set_password(connection, "bob", PASSWORD, now)
            users.disable(connection, name="bob", now=now)
        yield running


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is verified: the parameters of the hash, and how many letters were given."""
    done: list[tuple[str, int]] = []
    verify: Callable[..., bool] = PasswordHasher.verify

    def counted(self: PasswordHasher, expected: str, password: Any) -> bool:
        parameters = re.match(r"\$argon2id\$v=19\$(m=\d+,t=\d+,p=\d+)\$", expected)
        assert parameters is not None
        done.append((parameters[1], len(password)))
        return verify(self, expected, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    return done


def attempt(gateway: Gateway, name: str, password: str = WRONG) -> tuple[int, Any]:
    answer = gateway.ask("POST", "/login", json={"name": name, "password": password})
    return answer.status_code, {key: answer.json().get(key) for key in ("type", "title", "problems")}


def test_every_name_costs_one_verification_of_the_same_size(gateway: Gateway, work: list[tuple[str, int]]):
    answers = [attempt(gateway, name) for name in (*NAMES, "bob")]
    assert work == [("m=65536,t=3,p=1", len(WRONG))] * len(answers)
    # and is answered in the same words
    assert answers == [answers[0]] * len(answers)
    assert answers[0][0] == 401


def test_the_attack_without_that_tells_who_has_an_account(
    gateway: Gateway, work: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
):
    """The same count with the stand-in's verification taken out: what a plainer login would do."""
    right = accounts._is_right
    monkeypatch.setattr(
        accounts, "_is_right", lambda expected, given: expected != accounts._NOBODY and right(expected, given)
    )
    counts = {}
    for name in ("ada", "nobody-anywhere"):
        work.clear()
        attempt(gateway, name)
        counts[name] = len(work)
    assert counts == {"ada": 1, "nobody-anywhere": 0}
