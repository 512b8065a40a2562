"""Channels: where one's own notices go, and which of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, StringConstraints

from domain.errors import Conflict
from domain.model import Model
from domain.notice import Channel, NoticeKind
from gateway.access import TheDatabase
from gateway.api.notices import NoticeView, Owner, Reader
from gateway.config import GatewaySettings, MailAddress
from gateway.notices.addresses import check_url
from gateway.notices.sender import rules_of
from gateway.problems import RESPONSES, responses
from gateway.routes import PREFIX, OurId
from store import audit, channels, notices

router = APIRouter(prefix=f"{PREFIX}/channels", tags=["notices"], responses=RESPONSES)
LIMITED = responses(429)


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


@router.get("", summary="Where your notices go")
def get_channels(user: Reader, request: Request, database: TheDatabase) -> ChannelsView:
    settings: GatewaySettings = request.app.state.settings
    with database.reading() as connection:
        found = channels.find_address(connection, user.name)
        hooks = channels.list_webhooks(connection, user.name)
        off = channels.muted(connection, user.name)
    email = EmailView(address=found.address, confirmed=found.confirmed_at is not None) if found else None
    return ChannelsView(
        email=email,
        webhooks=[WebhookView(**vars(hook)) for hook in hooks],
        off=sorted(off),
        sends_email=settings.smtp_url is not None,
        webhook_hosts=list(settings.webhook_hosts),
    )


@router.put("/email", summary="Set your e-mail address", responses=LIMITED)
def set_email(new: NewAddress, user: Owner, request: Request, database: TheDatabase) -> ChannelsView:
    """A code goes to the address; nothing else does before you confirm it."""
    settings: GatewaySettings = request.app.state.settings
    if settings.smtp_url is None:
        raise Conflict("address", "this platform sends no e-mail.", "Ask the operator for a mail server.")
    now = datetime.now(UTC)
    with database.transaction() as connection:
        if channels.set_address(connection, user.name, new.address, now):
            notices.tell_channel(
                connection, kind=NoticeKind.CONFIRMATION, name=user.name, channel=Channel.EMAIL, now=now
            )
            audit.append(connection, at=now, actor=user.name, action="email.set", subject=user.name)
    return get_channels(user, request, database)


@router.post("/email/confirmation", summary="Confirm your e-mail address")
def confirm_email(
    confirmation: Confirmation, user: Owner, request: Request, database: TheDatabase
) -> ChannelsView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        channels.confirm(connection, user.name, confirmation.code, now)
        audit.append(connection, at=now, actor=user.name, action="email.confirm", subject=user.name)
    return get_channels(user, request, database)


@router.delete("/email", summary="Remove your e-mail address")
def remove_email(user: Owner, request: Request, database: TheDatabase) -> ChannelsView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        channels.remove_address(connection, user.name)
        audit.append(connection, at=now, actor=user.name, action="email.remove", subject=user.name)
    return get_channels(user, request, database)


@router.post("/webhooks", status_code=201, summary="Add a webhook")
def add_webhook(new: NewWebhook, user: Owner, request: Request, database: TheDatabase) -> WebhookOnce:
    check_url(new.url, rules_of(request.app.state.settings))
    now = datetime.now(UTC)
    with database.transaction() as connection:
        made, secret = channels.add_webhook(connection, user.name, new.url, now)
        audit.append(connection, at=now, actor=user.name, action="webhook.add", subject=made.id)
    return WebhookOnce(**vars(made), secret=secret)


@router.delete("/webhooks/{webhook_id}", summary="Remove a webhook")
def remove_webhook(webhook_id: OurId, user: Owner, request: Request, database: TheDatabase) -> ChannelsView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        channels.remove_webhook(connection, user.name, webhook_id)
        audit.append(connection, at=now, actor=user.name, action="webhook.remove", subject=webhook_id)
    return get_channels(user, request, database)


@router.post("/webhooks/{webhook_id}/rotation", summary="Replace the secret of a webhook")
def rotate_webhook(webhook_id: OurId, user: Owner, database: TheDatabase) -> Secret:
    """The one so far signs as well for a day: messages carry both signatures."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        secret = channels.rotate_secret(connection, user.name, webhook_id, now)
        audit.append(connection, at=now, actor=user.name, action="webhook.rotate", subject=webhook_id)
    return Secret(secret=secret)


@router.post("/webhooks/{webhook_id}/test", summary="Post a test to a webhook", responses=LIMITED)
def try_webhook(webhook_id: OurId, user: Owner, database: TheDatabase) -> NoticeView:
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


@router.put("/off", summary="Choose what you are not told")
def set_muted(muted: Muted, user: Owner, request: Request, database: TheDatabase) -> ChannelsView:
    with database.transaction() as connection:
        channels.set_muted(connection, user.name, muted.off)
    return get_channels(user, request, database)
