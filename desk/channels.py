"""Channels: where one's own notices go, and which of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from desk.notices import NoticeView
from desk.rights import needs
from domain.errors import Conflict
from domain.model import Model
from domain.notice import Channel, MailAddress, NoticeKind
from domain.permissions import Permission, User
from store import audit, channels, notices
from store.database import Database


@dataclass(frozen=True)
class Ways:
    """What this platform sends, and its check of where a webhook may lead, which raises RequestError."""

    sends_email: bool
    webhook_hosts: tuple[str, ...]
    check_url: Callable[[str], object]


class NewAddress(Model):
    """Where e-mail is to go; a code is sent there first."""

    address: MailAddress


class Confirmation(Model):
    """The code of the mail."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class NewWebhook(Model):
    """An https address of a host that the operator allows."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Muted(Model):
    """All that you do not want to be told."""

    off: tuple[NoticeKind, ...] = Field(max_length=len(NoticeKind))


class EmailView(BaseModel):
    address: str
    confirmed: bool


class WebhookView(BaseModel):
    id: str
    url: str
    created_at: datetime


class WebhookOnce(WebhookView):
    """The secret is shown this once."""

    secret: str


class Secret(BaseModel):
    """Shown this once. The one before signs as well for a day."""

    secret: str


class ChannelsView(BaseModel):
    """Where your notices go, and what this platform can send."""

    email: EmailView | None
    webhooks: list[WebhookView]
    off: list[NoticeKind]
    sends_email: bool
    webhook_hosts: list[str] = Field(description="The hosts that the operator allows; none: no webhooks")


@needs(Permission.NOTICES_READ)
def get_channels(database: Database, user: User, ways: Ways) -> ChannelsView:
    with database.reading() as connection:
        found = channels.find_address(connection, user.name)
        hooks = channels.list_webhooks(connection, user.name)
        off = channels.muted(connection, user.name)
    email = EmailView(address=found.address, confirmed=found.confirmed_at is not None) if found else None
    return ChannelsView(
        email=email,
        webhooks=[WebhookView(**vars(hook)) for hook in hooks],
        off=sorted(off),
        sends_email=ways.sends_email,
        webhook_hosts=list(ways.webhook_hosts),
    )


@needs(Permission.CHANNELS_OWN)
def set_email(database: Database, user: User, new: NewAddress, ways: Ways) -> ChannelsView:
    """A code goes to the address; nothing else does before you confirm it."""
    if not ways.sends_email:
        raise Conflict("address", "this platform sends no e-mail.", "Ask the operator for a mail server.")
    now = datetime.now(UTC)
    with database.transaction() as connection:
        if channels.set_address(connection, user.name, new.address, now):
            notices.tell_channel(
                connection, kind=NoticeKind.CONFIRMATION, name=user.name, channel=Channel.EMAIL, now=now
            )
            audit.append(connection, at=now, actor=user.name, action="email.set", subject=user.name)
    return get_channels(database, user, ways)


@needs(Permission.CHANNELS_OWN)
def confirm_email(database: Database, user: User, confirmation: Confirmation, ways: Ways) -> ChannelsView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        channels.confirm(connection, user.name, confirmation.code, now)
        audit.append(connection, at=now, actor=user.name, action="email.confirm", subject=user.name)
    return get_channels(database, user, ways)


@needs(Permission.CHANNELS_OWN)
def remove_email(database: Database, user: User, ways: Ways) -> ChannelsView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        channels.remove_address(connection, user.name)
        audit.append(connection, at=now, actor=user.name, action="email.remove", subject=user.name)
    return get_channels(database, user, ways)


@needs(Permission.CHANNELS_OWN)
def add_webhook(database: Database, user: User, new: NewWebhook, ways: Ways) -> WebhookOnce:
    ways.check_url(new.url)
    now = datetime.now(UTC)
    with database.transaction() as connection:
        made, secret = channels.add_webhook(connection, user.name, new.url, now)
        audit.append(connection, at=now, actor=user.name, action="webhook.add", subject=made.id)
    return WebhookOnce(**vars(made), secret=secret)


@needs(Permission.CHANNELS_OWN)
def remove_webhook(database: Database, user: User, webhook_id: str, ways: Ways) -> ChannelsView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        channels.remove_webhook(connection, user.name, webhook_id)
        audit.append(connection, at=now, actor=user.name, action="webhook.remove", subject=webhook_id)
    return get_channels(database, user, ways)


@needs(Permission.CHANNELS_OWN)
def rotate_webhook(database: Database, user: User, webhook_id: str) -> Secret:
    """The one so far signs as well for a day: messages carry both signatures."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        secret = channels.rotate_secret(connection, user.name, webhook_id, now)
        audit.append(connection, at=now, actor=user.name, action="webhook.rotate", subject=webhook_id)
    return Secret(secret=secret)


@needs(Permission.CHANNELS_OWN)
def try_webhook(database: Database, user: User, webhook_id: str) -> NoticeView:
    with database.transaction() as connection:
        hook = channels.get_webhook(connection, user.name, webhook_id)
        notice_id = notices.tell_channel(
            connection,
            kind=NoticeKind.TEST,
            name=user.name,
            channel=Channel.WEBHOOK,
            webhook_id=hook.id,
            now=datetime.now(UTC),
        )
        return NoticeView.of(notices.get(connection, user.name, notice_id))


@needs(Permission.CHANNELS_OWN)
def set_muted(database: Database, user: User, muted: Muted, ways: Ways) -> ChannelsView:
    with database.transaction() as connection:
        channels.set_muted(connection, user.name, muted.off)
    return get_channels(database, user, ways)
