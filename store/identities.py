"""People and services of an identity provider, who they are here, and what its last word gives them.

An identity is the provider and its name for somebody. User names and e-mail addresses change hands.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.entitlement import EntitlementRule, Right
from domain.errors import Conflict, Unauthenticated
from domain.identity import Kind, Profile
from domain.permissions import Role, User
from store import audit, entitlements, users, vouching
from store.account_tables import identities
from store.database import insert_once
from store.tables import users as users_table

# the roles whose rights reach further: of them the provider is asked more often
SHORT = frozenset({Role.RIGHTS_HOLDER, Role.OPERATOR})
# who acts in the audit trail without being a user; the operator of an embedded platform is one
RESERVED = {"gateway", "host", "operator", "policy", "sweep", "unknown", "worker"}
MOST_OF_A_NAME = 99_999
# how much of its time the word may lose before that is written down again: not with every request
UNWRITTEN = timedelta(hours=1)
# letters that Unicode does not take apart
_WITHOUT_MARKS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "ng"}
)
OLD_WORD = ("authorization", "the token is older than what the provider said since.", "Log in again.")
PAST_WORD = (
    "authorization",
    "the token was made too long ago for what its holder may do here.",
    "Get a new one from your provider, or log in again.",
)
ENDED = ("authorization", "the token is of a login that the identity provider has ended.", "Log in again.")
DISABLED = ("authorization", "this account is disabled.", "Ask the operator.")


@dataclass(frozen=True)
class Word:
    """What the provider says of somebody, when it said so, and for how long that counts.

    `role` is the one that the platform's settings give; rules on record may give one where they give none.
    """

    issuer: str
    subject: str
    kind: Kind
    called: str
    entitled: frozenset[str]
    role: Role | None
    heard_at: datetime
    counts_for: timedelta
    # for roles whose rights reach further
    counts_short: timedelta
    profile: Profile = field(default_factory=Profile)
    # whether it said anything of entitlements, be it that there are none
    said_any: bool = True
    # the provider's name for the login in which it was said
    login: str | None = None
    # the client of the service that acts for them
    through: str | None = None
    # when the token was made, where what it leaves out was said later
    made_at: datetime | None = None

    def counts_until(self, role: Role | None) -> datetime:
        return self.heard_at + (self.counts_short if role in SHORT else self.counts_for)


def standing(connection: sa.Connection, word: Word, now: datetime, *, fresh: bool) -> User | None:
    """The user, if what is on record is what the word gives; None where something has to be settled first.

    Raises Unauthenticated for somebody who was disabled, and for a word that counts no more.
    """
    _check_goes_on(connection, word)
    row = _row(connection, word)
    if row is None:
        return None
    _check_not_ended(row.ended_before, word)
    given = entitlements.matching(connection, word.entitled)
    role = _role(word, given)
    _check_counts(word, role, now)
    counts_until = word.counts_until(role)
    unwritten = min(UNWRITTEN, (counts_until - word.heard_at) / 4)
    counts = row.counts_until > (max(now, counts_until - unwritten) if fresh else now)
    same = role == row.role and given.keys() == entitlements.held_by(connection, row.name).keys()
    return User(name=row.name, role=role) if role is not None and same and counts else None


def admit(connection: sa.Connection, word: Word, now: datetime) -> User | None:
    """The user of an identity, made at its first login, with what the word gives now, and nothing more.

    None for somebody whom nothing entitles to a role: what they held has ended. Raises Unauthenticated for
    somebody who was disabled, and for a word that counts no more, or that is older than the one on record and
    says something else.
    """
    _check_goes_on(connection, word)
    # rows are locked in one order: rules, identity, projects, and the turn of the audit trail last
    given = entitlements.matching(connection, word.entitled, hold=True)
    role = _role(word, given)
    row = _row(connection, word, lock=True)
    entitlements.hold_projects(connection, given, name=row.name if row else None)
    if row is None:
        if role is None:
            return None
        if word.kind is Kind.PERSON:
            _check_not_ended(vouching.ended_before(connection, word.issuer, word.subject), word)
        _check_counts(word, role, now)
        user = _add(connection, word, role=role, now=now)
        entitlements.settle(connection, user.name, given, now=now)
        return user
    _check_not_ended(row.ended_before, word)
    if word.heard_at < row.heard_at - vouching.SAME_INSTANT:
        raise Unauthenticated(*OLD_WORD, reason="older_word")
    _check_counts(word, role, now)
    _hear(connection, word, counts_until=now if role is None else word.counts_until(role))
    if role is None:
        _end(connection, row.name, row.counts_until, now=now)
        return None
    if row.role != role:
        users.set_role(connection, name=row.name, role=role)
        audit.append(connection, at=now, actor="gateway", action="user.role", subject=row.name, role=role)
    entitlements.settle(connection, row.name, given, now=now)
    return User(name=row.name, role=role)


def would_have(connection: sa.Connection, word: Word, now: datetime) -> tuple[Role | None, str | None]:
    """The role that a word would give, and the name of the user if there is one. Raises Unauthenticated."""
    _check_goes_on(connection, word)
    row = _row(connection, word)
    if row is not None:
        _check_not_ended(row.ended_before, word)
    elif word.kind is Kind.PERSON:
        _check_not_ended(vouching.ended_before(connection, word.issuer, word.subject), word)
    role = _role(word, entitlements.matching(connection, word.entitled))
    _check_counts(word, role, now)
    return role, None if row is None else row.name


def has_one(connection: sa.Connection, name: str) -> bool:
    """Whether this user comes from an identity provider."""
    query = sa.select(identities.c.name).where(identities.c.name == name)
    return connection.execute(query).first() is not None


def slug(called: str) -> str:
    """A user name from what somebody is called elsewhere; not from the part behind an @."""
    plain = called.partition("@")[0].casefold().translate(_WITHOUT_MARKS)
    letters = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")[:40].strip("-")
    return name or "user"


def _row(connection: sa.Connection, word: Word, *, lock: bool = False) -> sa.Row[Any] | None:
    query = (
        sa.select(users_table.c.name, users_table.c.role, users_table.c.disabled_at)
        .add_columns(identities.c.heard_at, identities.c.counts_until, identities.c.ended_before)
        .join(identities, identities.c.name == users_table.c.name)
        .where(*_its(word))
    )
    row = connection.execute(query.with_for_update(of=identities) if lock else query).one_or_none()
    if row is not None and row.disabled_at is not None:
        raise Unauthenticated(*DISABLED, reason="disabled")
    return row


def _check_goes_on(connection: sa.Connection, word: Word) -> None:
    """Raises Unauthenticated for what was said in a login that the provider has ended since."""
    if vouching.has_ended(connection, word.issuer, word.login):
        raise Unauthenticated(*ENDED, reason="login_ended")


def _check_not_ended(ended: datetime | None, word: Word) -> None:
    """Raises Unauthenticated for what was said before the provider ended the person's logins. A later login
    brings it back no more than anything else: who took the token before would go on with it."""
    if ended is not None and (word.made_at or word.heard_at) < ended:
        raise Unauthenticated(*ENDED, reason="login_ended")


def _check_counts(word: Word, role: Role | None, now: datetime) -> None:
    """Raises Unauthenticated for what was said too long ago: a provider may let its tokens live for a day,
    and nobody says of them that their holder has left."""
    if role is not None and word.counts_until(role) <= now:
        raise Unauthenticated(*PAST_WORD, reason="past_word")


def _role(word: Word, given: dict[int, EntitlementRule]) -> Role | None:
    """The settings first, then the rules in the order in which they were made."""
    of_rules = (Role(rule.about) for rule in given.values() if rule.gives is Right.ROLE)
    return word.role or next(of_rules, None)


def _hear(connection: sa.Connection, word: Word, *, counts_until: datetime) -> None:
    """What it says of the person is written down with it; what it leaves out stays as it was said before."""
    said = {name: value for name, value in vars(word.profile).items() if value is not None}
    query = sa.update(identities).where(*_its(word))
    connection.execute(query.values(heard_at=word.heard_at, counts_until=counts_until, **said))


def _its(word: Word) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        identities.c.issuer == word.issuer,
        identities.c.subject == word.subject,
        identities.c.kind == word.kind,
    )


def _end(connection: sa.Connection, name: str, counted_until: datetime, *, now: datetime) -> None:
    entitlements.settle(connection, name, {}, now=now)
    vouching.ask_again(connection, (name,), now=now)
    # once, not with every try that follows
    if counted_until > now:
        audit.append(connection, at=now, actor="gateway", action="user.unentitled", subject=name)


def _add(connection: sa.Connection, word: Word, *, role: Role, now: datetime) -> User:
    user = _free_user(connection, called=word.called, role=role, now=now)
    values = {
        "issuer": word.issuer,
        "subject": word.subject,
        "kind": word.kind,
        "name": user.name,
        "created_at": now,
        "heard_at": word.heard_at,
        "counts_until": word.counts_until(role),
        **vars(word.profile),
    }
    if not insert_once(connection, identities, values):
        # the same person came through two doors at once; the transaction that is first counts
        raise Conflict("authorization", "this account is being made right now.", "Try again.")
    audit.append(
        connection, at=now, actor="gateway", action="user.add", subject=user.name, role=role,
        issuer=word.issuer, known_there_as=word.subject, kind=word.kind,
    )  # fmt: skip
    return user


def _free_user(connection: sa.Connection, *, called: str, role: Role, now: datetime) -> User:
    """Never somebody else's name: a number goes behind it."""
    wanted = slug(called)
    # a provider that says no name, or one in other letters, makes everybody a `user`: one look at all of them
    alike = users_table.c.name.like(f"{wanted}-%") | (users_table.c.name == wanted)
    taken = set(connection.execute(sa.select(users_table.c.name).where(alike)).scalars()) | RESERVED
    for number in range(1, MOST_OF_A_NAME + 1):
        name = wanted if number == 1 else f"{wanted}-{number}"
        if name in taken:
            continue
        try:
            user, token = users.add(connection, name=name, role=role, now=now)
        except Conflict:
            continue
        # the token that comes with it is shown to nobody
        users.end_full_token(connection, name=name, token_id=users.parts_of(token)[0])
        return user
    raise Conflict("authorization", f"too many users are called {wanted}.", "Ask the operator.")
