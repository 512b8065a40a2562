"""Where people want to be told: an e-mail address that they confirmed, webhooks, and what not to tell."""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, InvalidRequest, NotFound
from domain.notice import CHOOSABLE, Channel, NoticeKind, NoticeState
from store.notice_tables import email_addresses, muted_notices, notices, webhooks
from store.spoilt import readable, reads
from store.tables import users
from store.users import hash_of

CODE_LASTS = timedelta(days=1)
OLD_SECRET_LASTS = timedelta(days=1)
MOST_WEBHOOKS = 5
# as the Standard Webhooks specification marks one
SECRET_PREFIX = "whsec_"  # noqa: S105
_SECRET_BYTES = 32


@dataclass(frozen=True)
class Address:
    """Somebody's e-mail address; nothing but a code is sent to it before it is confirmed."""

    address: str
    set_at: datetime
    confirmed_at: datetime | None


@dataclass(frozen=True)
class Webhook:
    """An address that notices are posted to."""

    id: str
    url: str
    created_at: datetime


@dataclass(frozen=True, repr=False)
class SigningSecrets:
    """What a webhook's notices are signed with: the secret, and for a day the one before."""

    now: str
    before: str | None


def find_address(connection: sa.Connection, name: str) -> Address | None:
    """None also of one that cannot be read: they may set another."""
    query = sa.select(email_addresses).where(email_addresses.c.name == name, _works(email_addresses.c.name))
    return next(iter(readable(_address, connection.execute(query))), None)


@reads("the e-mail address of", by="name")
def _address(row: sa.Row[Any]) -> Address:
    return Address(row.address, row.set_at, row.confirmed_at)


def set_address(connection: sa.Connection, name: str, address: str, now: datetime) -> bool:
    """Put this address in the place of an earlier one. False when it is confirmed already."""
    present = find_address(connection, name)
    if present is not None and present.address == address and present.confirmed_at is not None:
        return False
    remove_address(connection, name)
    connection.execute(sa.insert(email_addresses).values(name=name, address=address, set_at=now))
    return True


def remove_address(connection: sa.Connection, name: str) -> None:
    """Nothing more goes there, nor what waits to be sent."""
    connection.execute(sa.delete(email_addresses).where(email_addresses.c.name == name))
    _forget_waiting(connection, notices.c.name == name, notices.c.channel == Channel.EMAIL)


def new_code(connection: sa.Connection, name: str, now: datetime) -> str:
    """A code that confirms the address. Made when it is sent: only its hash is ever kept."""
    code = secrets.token_urlsafe(16)
    connection.execute(
        sa.update(email_addresses)
        .where(email_addresses.c.name == name)
        .values(code_hash=hash_of(code), code_until=now + CODE_LASTS)
    )
    return code


def confirm(connection: sa.Connection, name: str, code: str, now: datetime) -> None:
    """The address is theirs: they know what was sent to it.

    Raises InvalidRequest for another code, NotFound where no address waits for one.
    """
    row = connection.execute(sa.select(email_addresses).where(email_addresses.c.name == name)).one_or_none()
    if row is None or row.confirmed_at is not None:
        raise NotFound("code", "you have no address that waits for a code.", "Set one first.")
    expected = row.code_hash if row.code_until and now < row.code_until else None
    if not hmac.compare_digest(str(expected or "").encode(), hash_of(code).encode()):
        raise InvalidRequest(
            "code", "is not the one that was sent last, or is older than a day.", "Ask for another mail."
        )
    connection.execute(
        sa.update(email_addresses)
        .where(email_addresses.c.name == name)
        .values(confirmed_at=now, code_hash=None, code_until=None)
    )


def list_webhooks(connection: sa.Connection, name: str) -> list[Webhook]:
    query = sa.select(webhooks).where(webhooks.c.name == name, _works(webhooks.c.name))
    rows = connection.execute(query.order_by(webhooks.c.created_at, webhooks.c.id))
    return readable(_webhook, rows)


@reads("webhook")
def _webhook(row: sa.Row[Any]) -> Webhook:
    return Webhook(row.id, row.url, row.created_at)


def get_webhook(connection: sa.Connection, name: str, webhook_id: str) -> Webhook:
    """One of this user's own. Raises NotFound."""
    for webhook in list_webhooks(connection, name):
        if webhook.id == webhook_id:
            return webhook
    raise _no_webhook()


def add_webhook(connection: sa.Connection, name: str, url: str, now: datetime) -> tuple[Webhook, str]:
    """A webhook and its secret, which is not shown again. Raises Conflict for one too many or the same."""
    # one at a time for each user: the number is a limit
    connection.execute(sa.select(users.c.name).where(users.c.name == name).with_for_update())
    present = list_webhooks(connection, name)
    if len(present) >= MOST_WEBHOOKS:
        raise Conflict("url", f"you have {len(present)} webhooks.", "Remove one first.")
    if url in {webhook.url for webhook in present}:
        raise Conflict("url", "is the address of one of your webhooks.", "Rotate its secret if it is lost.")
    made, secret = Webhook(secrets.token_hex(8), url, now), _new_secret()
    connection.execute(sa.insert(webhooks).values(name=name, secret=secret, **vars(made)))
    return made, secret


def remove_webhook(connection: sa.Connection, name: str, webhook_id: str) -> None:
    """Nothing more goes there, nor what waits to be sent. Raises NotFound."""
    _change_one(connection.execute(sa.delete(webhooks).where(_own(name, webhook_id))))
    _forget_waiting(connection, notices.c.webhook_id == webhook_id)


def rotate_secret(connection: sa.Connection, name: str, webhook_id: str, now: datetime) -> str:
    """Another secret; the one so far signs as well for a day. Raises NotFound."""
    secret = _new_secret()
    _change_one(
        connection.execute(
            sa.update(webhooks)
            .where(_own(name, webhook_id))
            .values(secret=secret, old_secret=webhooks.c.secret, old_until=now + OLD_SECRET_LASTS)
        )
    )
    return secret


def signing_secrets(
    connection: sa.Connection, name: str, webhook_id: str, now: datetime
) -> tuple[str, SigningSecrets] | None:
    """Address and secrets of a webhook; None when it was removed or its user may not log in any more."""
    query = sa.select(webhooks).where(_own(name, webhook_id), _works(webhooks.c.name))
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    is_good = row.old_until is not None and now < row.old_until
    return row.url, SigningSecrets(row.secret, row.old_secret if is_good else None)


def muted(connection: sa.Connection, name: str) -> set[NoticeKind]:
    """What this user does not want to be told."""
    query = sa.select(muted_notices.c.kind).where(muted_notices.c.name == name)
    return {NoticeKind(kind) for kind in connection.execute(query).scalars()}


def set_muted(connection: sa.Connection, name: str, kinds: Iterable[NoticeKind]) -> None:
    """Exactly these from now on. Raises InvalidRequest for one that cannot be switched off."""
    wanted = sorted(set(kinds))
    for kind in wanted:
        if kind not in CHOOSABLE:
            raise InvalidRequest("off", f"{kind} cannot be switched off.", "Remove the channel instead.")
    connection.execute(sa.delete(muted_notices).where(muted_notices.c.name == name))
    if wanted:
        connection.execute(sa.insert(muted_notices), [{"name": name, "kind": kind} for kind in wanted])


def reach(
    connection: sa.Connection, names: Iterable[str], kind: NoticeKind
) -> list[tuple[str, Channel, str | None]]:
    """Name, channel and webhook of everywhere that these people want to be told this."""
    asked = sorted(set(names))
    off = sa.select(muted_notices.c.name).where(muted_notices.c.kind == kind)
    by_mail = sa.select(email_addresses.c.name).where(
        email_addresses.c.name.in_(asked),
        email_addresses.c.confirmed_at.is_not(None),
        email_addresses.c.name.not_in(off),
        _works(email_addresses.c.name),
    )
    by_hook = sa.select(webhooks.c.name, webhooks.c.id).where(
        webhooks.c.name.in_(asked), webhooks.c.name.not_in(off), _works(webhooks.c.name)
    )
    mails = [(name, Channel.EMAIL, None) for name in connection.execute(by_mail).scalars()]
    return [*mails, *((row.name, Channel.WEBHOOK, row.id) for row in connection.execute(by_hook))]


def _works(name: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    return name.in_(sa.select(users.c.name).where(users.c.disabled_at.is_(None)))


def _own(name: str, webhook_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(webhooks.c.name == name, webhooks.c.id == webhook_id)


def _forget_waiting(connection: sa.Connection, *which: sa.ColumnElement[bool]) -> None:
    """Not what is being sent right now: it counts towards the limit of a day, and finds no channel later."""
    is_idle = (notices.c.state == NoticeState.WAITING, notices.c.claim.is_(None))
    connection.execute(sa.delete(notices).where(*is_idle, *which))


def _change_one(changed: sa.CursorResult[tuple[object, ...]]) -> None:
    if changed.rowcount != 1:
        raise _no_webhook()


def _no_webhook() -> NotFound:
    return NotFound("webhook", "you have no such webhook.", "See `dpgate webhook list`.")


def _new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
