"""Passwords, for a platform without an identity provider. Slow hashes (Argon2id), and patience for guessers.

An attempt is counted before the password is looked at, in a transaction of its own: a hundred guesses sent at
the same moment are a hundred attempts. A name that nobody has costs the same hash and the same waiting.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from datetime import datetime, timedelta

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from domain.errors import InvalidRequest, NotFound, TooMany, Unauthenticated
from domain.model import SLUG
from domain.permissions import Role, User
from store import audit
from store.account_tables import login_failures, passwords
from store.database import Database, insert_once
from store.tables import users

SHORTEST, LONGEST = 12, 200
FREE_FAILURES = 5
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(days=1)
INITIAL_LASTS = timedelta(days=7)
# RFC 9106's second choice, in one lane: 64 MiB and some 0.1 s for each guess
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=1)
# so many at once: a flood of guesses waits in line instead of filling the memory
_AT_ONCE = threading.BoundedSemaphore(2)
_PATIENCE_S = 10
# and the line is short: whoever waits keeps a thread of the gateway from everybody else
MOST_IN_LINE = 16
_LINE = threading.BoundedSemaphore(MOST_IN_LINE)
_UNKNOWN = "unknown"
_CROWD = ("login", "many people log in right now.", "Try again soon.")
_WRONG = ("password", "name and password do not belong together.", "Check both, then try again.")
# what is verified for a name without a password, at the same cost; whatever comes out is not looked at
_NOBODY = f"$argon2id$v=19$m=65536,t=3,p=1${'A' * 22}${'A' * 43}"
# without letters and digits that look alike
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def check_password(database: Database, name: str, password: str, now: datetime, *, origin: str = "") -> User:
    """The user, if this is their password. Raises Unauthenticated, or TooMany after a few failures and where
    too many log in at once; the latter is no attempt. Failures of each `origin` are counted apart."""
    if not _LINE.acquire(blocking=False):
        raise TooMany(*_CROWD, retry_after_s=30)
    try:
        return _checked(database, name, password, now, origin)
    finally:
        _LINE.release()


def _checked(database: Database, name: str, password: str, now: datetime, origin: str) -> User:
    whose = f"{name}\0{origin}" if origin else name
    key = hashlib.sha256(whose.encode(errors="replace")).hexdigest()
    with database.transaction() as connection:
        _count_attempt(connection, key, now)
    with database.reading() as connection:
        row = connection.execute(_account(name)).one_or_none()
    usable = row is not None and row.disabled_at is None and not _has_ended(row.initial_until, now)
    right = _is_right(row.hash if row is not None else _NOBODY, password)
    if row is None or not usable or not right:
        _note_failure(database, row.name if row is not None else _UNKNOWN, now)
        raise Unauthenticated(*_WRONG)
    with database.transaction() as connection:
        connection.execute(sa.delete(login_failures).where(login_failures.c.key == key))
    return User(name=row.name, role=Role(row.role))


def word_for_browser(database: Database, name: str) -> str:
    """What a browser keeps in which this person has just shown their password. It is signed with what the
    platform keeps of that one: another password ends it, and nothing of it has to be kept here."""
    place = secrets.token_hex(16)
    return f"{place}.{_signature(database, name, place)}"


def place_of_browser(database: Database, name: str, word: str) -> str:
    """By which a browser is told from others that brings such a word for this person; nothing, else."""
    found = re.fullmatch(r"([0-9a-f]{32})\.([0-9a-f]{64})", word)
    if found is None:
        return ""
    is_right = hmac.compare_digest(found[2], _signature(database, name, found[1]))
    return found[1] if is_right else ""


def _signature(database: Database, name: str, place: str) -> str:
    with database.reading() as connection:
        row = connection.execute(_account(name)).one_or_none()
    # of a name without an account a random one, which nobody has
    key = row.hash if row is not None else secrets.token_hex(32)
    return hmac.new(f"dpgate browser {key}".encode(), f"{place} {name}".encode(), hashlib.sha256).hexdigest()


def set_password(connection: sa.Connection, name: str, password: str, now: datetime) -> None:
    """The user's own choice. Raises InvalidRequest for a weak one, NotFound without such a user."""
    check_strength(name, password)
    _keep(connection, name, password, now, initial_until=None)


def set_initial_password(connection: sa.Connection, name: str, now: datetime) -> str:
    """A random password to hand over, for a week and only to choose another one. Raises NotFound."""
    password = "-".join("".join(secrets.choice(_LETTERS) for _ in range(5)) for _ in range(4))
    _keep(connection, name, password, now, initial_until=now + INITIAL_LASTS)
    return password


def has_initial_password(connection: sa.Connection, name: str) -> bool:
    query = sa.select(passwords.c.initial_until).where(passwords.c.name == name)
    return connection.execute(query).scalar_one_or_none() is not None


def has_password(connection: sa.Connection, name: str) -> bool:
    query = sa.select(passwords.c.name).where(passwords.c.name == name)
    return connection.execute(query).one_or_none() is not None


def check_strength(name: str, password: str) -> None:
    """Length is what counts. Raises InvalidRequest with the fix."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidRequest(
            "password",
            f"has {len(password)} characters.",
            f"Use {SHORTEST} to {LONGEST}; four words that do not belong together are good.",
        )
    if len(set(password)) < 5 or name in password.lower():
        raise InvalidRequest("password", "is easy to guess.", "Use more than your name or a few letters.")


def _count_attempt(connection: sa.Connection, key: str, now: datetime) -> None:
    connection.execute(sa.delete(login_failures).where(login_failures.c.last_at < now - FORGOTTEN_AFTER))
    insert_once(connection, login_failures, {"key": key, "failures": 0, "last_at": now})
    mine = login_failures.c.key == key
    row = connection.execute(sa.select(login_failures).where(mine).with_for_update()).one()
    if row.wait_until is not None and row.wait_until > now:
        wait_s = int((row.wait_until - now).total_seconds()) + 1
        raise TooMany(
            "name", "too many failed logins.", f"Try again in {wait_s} seconds.", retry_after_s=wait_s
        )
    failures = row.failures + 1
    values = {"failures": failures, "last_at": now, "wait_until": now + _wait(failures)}
    connection.execute(sa.update(login_failures).where(mine).values(values))


def _wait(failures: int) -> timedelta:
    """Nothing for the first few, then twice as long each time."""
    beyond = failures - FREE_FAILURES
    return timedelta() if beyond < 0 else min(FIRST_WAIT * 2 ** min(beyond, 10), LONGEST_WAIT)


def _account(name: str) -> sa.Select[tuple[str, str, datetime | None, str, datetime | None]]:
    # what is no name at all (PostgreSQL takes no NUL) is looked up as the empty one
    known = name if re.fullmatch(SLUG, name) else ""
    return (
        sa.select(users.c.name, users.c.role, users.c.disabled_at)
        .add_columns(passwords.c.hash, passwords.c.initial_until)
        .join(passwords, passwords.c.name == users.c.name)
        .where(users.c.name == known)
    )


def _has_ended(initial_until: datetime | None, now: datetime) -> bool:
    return initial_until is not None and initial_until <= now


def _is_right(expected: str, password: str) -> bool:
    if not _AT_ONCE.acquire(timeout=_PATIENCE_S):
        raise TooMany(*_CROWD, retry_after_s=30)
    try:
        # cut before hashing: a guess of megabytes costs no more than another
        return _HASHER.verify(expected, password[: LONGEST + 1].encode(errors="replace"))
    except (Argon2Error, InvalidHashError):
        return False
    finally:
        _AT_ONCE.release()


def _note_failure(database: Database, name: str, now: datetime) -> None:
    with database.transaction() as connection:
        if name != _UNKNOWN or _is_worth_noting(connection, now):
            audit.append(connection, at=now, actor="gateway", action="login.refused", subject=name)


def _is_worth_noting(connection: sa.Connection, now: datetime) -> bool:
    """Names that nobody has are counted together, and noted at 1, 2, 4, 8...: a flood stays a few lines."""
    insert_once(connection, login_failures, {"key": _UNKNOWN, "failures": 0, "last_at": now})
    mine = login_failures.c.key == _UNKNOWN
    query = sa.update(login_failures).where(mine)
    counted = query.values(failures=login_failures.c.failures + 1, last_at=now)
    failures = connection.execute(counted.returning(login_failures.c.failures)).scalar_one()
    return bool(failures & (failures - 1) == 0)


def _keep(
    connection: sa.Connection, name: str, password: str, now: datetime, *, initial_until: datetime | None
) -> None:
    if connection.execute(sa.select(users.c.name).where(users.c.name == name)).one_or_none() is None:
        raise NotFound("name", f"there is no user {name}.")
    values = {"hash": _HASHER.hash(password), "initial_until": initial_until, "set_at": now}
    if not insert_once(connection, passwords, {"name": name, **values}):
        connection.execute(sa.update(passwords).where(passwords.c.name == name).values(values))
