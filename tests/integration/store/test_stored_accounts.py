"""Passwords on record: what a guesser learns, and what guessing costs."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import timedelta

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from factories import NOW, given_user
from waiting import PATIENCE_S

from domain.errors import InvalidRequest, NotFound, TooMany, Unauthenticated
from store import accounts, users
from store.account_tables import login_failures, passwords
from store.tables import audit_events

PASSWORD = "four words that differ"
WRONG = "four other words here"


@pytest.fixture
def swift(monkeypatch):
    """Hashes that cost next to nothing, where a test is about counting; ask for it before `ada`."""
    monkeypatch.setattr(accounts, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    monkeypatch.setattr(accounts, "_NOBODY", accounts._NOBODY.replace("m=65536,t=3", "m=8,t=1"))


@pytest.fixture(scope="module")
def kept() -> dict[int, dict[str, object]]:
    """What PASSWORD became on record, by what it cost: to make it again takes as long as it should."""
    return {}


@pytest.fixture
def ada(database, kept):
    cost = accounts._HASHER.time_cost
    with database.transaction() as connection:
        given_user(connection, "ada")
        given_user(connection, "no-password")
        if cost in kept:
            connection.execute(passwords.insert().values(kept[cost]))
        else:
            accounts.set_password(connection, "ada", PASSWORD, NOW)
            kept[cost] = dict(connection.execute(sa.select(passwords)).one()._mapping)
    return database


def refusals(database) -> int:
    with database.reading() as connection:
        query = sa.select(sa.func.count()).select_from(audit_events)
        return connection.execute(query.where(audit_events.c.action == "login.refused")).scalar_one()


def test_the_right_password(ada):
    assert accounts.check_password(ada, "ada", PASSWORD, NOW).name == "ada"
    assert refusals(ada) == 0


def test_only_a_slow_hash_is_kept(ada):
    with ada.reading() as connection:
        kept = str(connection.execute(sa.text("SELECT * FROM passwords")).all())
    assert "$argon2id$v=19$m=65536,t=3,p=1$" in kept
    assert PASSWORD not in kept


def test_every_failure_costs_one_hash_and_has_the_same_words(ada, monkeypatch, subtests):
    hashes = []
    verify = PasswordHasher.verify

    def counting(self, expected, password):
        hashes.append(expected.split("$")[3])
        return verify(self, expected, password)

    monkeypatch.setattr(PasswordHasher, "verify", counting)
    names = [
        "ada",
        "nobody-here",
        "no-password",
        "",
        "\0",
        "\ud800",
        "ada\n",
        "ADA",
        "x" * 100_000,
        "' OR 1=1",
    ]
    for day, name in enumerate(names):  # by the next day failures are forgotten
        with subtests.test(msg=ascii(name[:20])):
            before = refusals(ada)
            hashes.clear()
            with pytest.raises(Unauthenticated) as refusal:
                accounts.check_password(ada, name, WRONG, NOW + timedelta(days=2 * day))
            assert hashes == ["m=65536,t=3,p=1"]
            assert str(refusal.value).startswith("password: name and password do not belong together.")
            assert refusals(ada) == before + 1


def test_waiting_grows_and_is_forgotten(swift, ada):
    moment = NOW
    waits = []
    for number in range(10):
        with pytest.raises(Unauthenticated):
            accounts.check_password(ada, "ada", WRONG, moment)
        if number >= 4:
            with pytest.raises(TooMany) as refusal:
                accounts.check_password(ada, "ada", PASSWORD, moment)
            waits.append(refusal.value.retry_after_s)
            moment += timedelta(seconds=refusal.value.retry_after_s)
    assert waits == [31, 61, 121, 241, 481, 901]
    assert accounts.check_password(ada, "ada", PASSWORD, moment).name == "ada"
    with pytest.raises(Unauthenticated):
        accounts.check_password(ada, "ada", WRONG, moment)


def test_a_day_without_a_try_forgets_the_failures(swift, ada):
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            accounts.check_password(ada, "ada", WRONG, NOW)
    later = NOW + timedelta(days=1, seconds=1)
    assert accounts.check_password(ada, "ada", PASSWORD, later).name == "ada"


def test_guesses_at_the_same_moment_are_all_counted(swift, ada):
    def guess(_: int) -> type[Exception]:
        with pytest.raises((Unauthenticated, TooMany)) as refusal:
            accounts.check_password(ada, "ada", WRONG, NOW)
        return refusal.type

    with ThreadPoolExecutor(12) as pool:
        kinds = list(pool.map(guess, range(12)))
    assert kinds.count(Unauthenticated) == 5
    assert kinds.count(TooMany) == 7


def test_the_name_that_was_tried_is_nowhere(swift, ada):
    typed = "my-secret-in-the-wrong-field"
    with pytest.raises(Unauthenticated):
        accounts.check_password(ada, typed, WRONG, NOW)
    with ada.reading() as connection:
        events = str(connection.execute(sa.select(audit_events)).all())
        counted = str(connection.execute(sa.select(login_failures)).all())
    assert typed not in events + counted
    assert "unknown" in events


def test_a_flood_of_made_up_names_is_a_few_lines_in_the_trail(swift, ada, monkeypatch):
    monkeypatch.setattr(accounts, "_is_right", lambda *_: False)
    for number in range(40):
        with pytest.raises(Unauthenticated):
            accounts.check_password(ada, f"made-up-{number}", WRONG, NOW)
    assert refusals(ada) == 6


def test_a_disabled_user_is_refused_in_the_same_words(swift, ada):
    with ada.transaction() as connection:
        users.disable(connection, name="ada", now=NOW)
    with pytest.raises(Unauthenticated, match="do not belong together"):
        accounts.check_password(ada, "ada", PASSWORD, NOW)


def test_a_first_password_lasts_a_week(swift, ada):
    with ada.transaction() as connection:
        first = accounts.set_initial_password(connection, "ada", NOW)
    week = timedelta(days=7)
    assert accounts.check_password(ada, "ada", first, NOW + week - timedelta(seconds=1)).name == "ada"
    with pytest.raises(Unauthenticated):
        accounts.check_password(ada, "ada", first, NOW + week)
    assert len(first.replace("-", "")) == 20


def test_a_weak_password(swift, ada, subtests):
    for weak in ("", "short", "x" * 201, "abababababababab", "my name is ada, hello"):
        refused = pytest.raises(InvalidRequest, match="password")
        with subtests.test(msg=weak[:30]), ada.transaction() as connection, refused:
            accounts.set_password(connection, "ada", weak, NOW)


def test_a_password_for_nobody(swift, ada):
    with ada.transaction() as connection, pytest.raises(NotFound, match="no user zoe"):
        accounts.set_password(connection, "zoe", PASSWORD, NOW)


def test_a_flood_of_guesses_leaves_threads_to_everybody_else(swift, ada, monkeypatch):
    """Each guess that waits for its hash keeps one of the gateway's threads; those over the line keep none,
    and are no attempts."""

    def guess(number: int) -> type[Exception]:
        with pytest.raises((TooMany, Unauthenticated)) as refused:
            accounts.check_password(ada, f"nobody-{number}", WRONG, NOW)
        return refused.type

    hashing = threading.BoundedSemaphore(2)
    monkeypatch.setattr(accounts, "_AT_ONCE", hashing)
    monkeypatch.setattr(accounts, "_PATIENCE_S", PATIENCE_S)
    monkeypatch.setattr(accounts, "_LINE", threading.BoundedSemaphore(4))
    with hashing, hashing, ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(guess, number) for number in range(8)]
        over = list(itertools.islice(as_completed(asked), 4))
        assert [each.result() for each in over] == [TooMany] * 4
        with ada.reading() as connection:
            kept = connection.execute(sa.select(sa.func.count()).select_from(login_failures)).scalar_one()
        hashing.release()
        assert [each.result() for each in asked if each not in over] == [Unauthenticated] * 4
        hashing.acquire()
    assert kept <= 4
