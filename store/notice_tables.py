"""Notices and their channels: their tables."""

from __future__ import annotations

import sqlalchemy as sa

from domain.notice import Channel, NoticeKind, NoticeState, SendProblem
from store.tables import Moment, metadata, one_of

# the outbox: one row for each channel of each addressee
notices = sa.Table(
    "notices",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("subject", sa.String(80), nullable=False),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("channel", sa.String(10), nullable=False),
    # a webhook may be removed while its notices stay on record
    sa.Column("webhook_id", sa.String(16)),
    sa.Column("facts", sa.JSON, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_at", Moment, nullable=False),
    # whose turn it is to send, until when
    sa.Column("claim", sa.String(36)),
    sa.Column("claimed_until", Moment),
    sa.Column("problem", sa.String(20)),
    sa.Column("ended_at", Moment),
    one_of("kind", NoticeKind),
    one_of("channel", Channel),
    one_of("state", NoticeState),
    one_of("problem", SendProblem),
)
sa.Index("ix_notices_state_next_at", notices.c.state, notices.c.next_at)
sa.Index("ix_notices_name", notices.c.name)

email_addresses = sa.Table(
    "email_addresses",
    metadata,
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("address", sa.String(254), nullable=False),
    sa.Column("set_at", Moment, nullable=False),
    # until then nothing but the code is sent there
    sa.Column("confirmed_at", Moment),
    sa.Column("code_hash", sa.String(64)),
    sa.Column("code_until", Moment),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("url", sa.String(500), nullable=False),
    # signing needs the secret itself; whoever reads it can forge notices, which carry public facts
    sa.Column("secret", sa.String(80), nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("old_secret", sa.String(80)),
    sa.Column("old_until", Moment),
)
sa.Index("ix_webhooks_name", webhooks.c.name)

# what somebody does not want to be told
muted_notices = sa.Table(
    "muted_notices",
    metadata,
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("kind", sa.String(20), primary_key=True),
    one_of("kind", NoticeKind),
)

# accounts of which people were told that little is left: once, whatever comes back later
low_accounts = sa.Table(
    "low_accounts",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("at", Moment, nullable=False),
)
