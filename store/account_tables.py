"""The tables of how people come in. Users themselves are in `tables`."""

from __future__ import annotations

import sqlalchemy as sa

from store.tables import Moment, metadata

passwords = sa.Table(
    "passwords",
    metadata,
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    # Argon2id, with its salt and parameters
    sa.Column("hash", sa.String(200), nullable=False),
    # somebody else has seen it; it ends by itself
    sa.Column("initial_until", Moment),
    sa.Column("set_at", Moment, nullable=False),
)

login_failures = sa.Table(
    "login_failures",
    metadata,
    # a digest of the name that was tried: people type passwords into the wrong field
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("last_at", Moment, nullable=False),
    sa.Column("wait_until", Moment),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("opened_at", Moment, nullable=False),
    sa.Column("seen_at", Moment, nullable=False),
    # a digest of the provider and its name for the login; null with a password
    sa.Column("login", sa.String(64)),
    # how, and when, the provider says that this person showed who they are
    sa.Column("acr", sa.String(255)),
    sa.Column("shown_at", Moment),
)
sa.Index("ix_sessions_name", sessions.c.name)
sa.Index("ix_sessions_login", sessions.c.login)

api_tokens = sa.Table(
    "api_tokens",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("label", sa.String(63), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("scopes", sa.JSON, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    # a day, not an instant: enough to find what nobody needs any more
    sa.Column("last_used_on", sa.Date),
    sa.Column("revoked_at", Moment),
    # of the login at the provider in which it was made
    sa.Column("login", sa.String(64)),
)
sa.Index("ix_api_tokens_name", api_tokens.c.name)

identities = sa.Table(
    "identities",
    metadata,
    # a person or service at an OIDC provider; an e-mail address is no identity
    sa.Column("issuer", sa.String(255), primary_key=True),
    sa.Column("subject", sa.String(255), primary_key=True),
    # person or service: a person who is called like a service is somebody else
    sa.Column("kind", sa.String(10), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    # when the provider last said what they are entitled to, and until when that word counts: past it no
    # session and no token of theirs works before the provider was asked again
    sa.Column("heard_at", Moment, nullable=False),
    sa.Column("counts_until", Moment, nullable=False),
    # whatever it said before has ended with the logins that it ended
    sa.Column("ended_before", Moment),
    # as the provider said it last, for people to read; nothing is decided by them
    sa.Column("display_name", sa.String(200)),
    sa.Column("affiliation", sa.String(200)),
    sa.Column("email", sa.String(220)),
    sa.CheckConstraint("kind IN ('person', 'service')", name="kind_known"),
)

ended_logins = sa.Table(
    "ended_logins",
    metadata,
    # digests of logins that a provider ended, and of the tokens that said so: until no token of theirs counts
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("until", Moment, nullable=False),
)
