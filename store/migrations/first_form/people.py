"""Tables of who they are, how they come in, what reaches them."""

from __future__ import annotations

import sqlalchemy as sa

from store.migrations.first_form.kinds import MOMENT, metadata, one_of

sa.Table(
    "users",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("role", sa.String(20), nullable=False),
    sa.Column("token_id", sa.String(32), nullable=False, unique=True),
    sa.Column("token_hash", sa.String(64), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("disabled_at", MOMENT),
    one_of("role", "data_user rights_holder operator"),
)

sa.Table(
    "api_tokens",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("label", sa.String(63), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("scopes", sa.JSON(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("expires_at", MOMENT, nullable=False),
    sa.Column("last_used_on", sa.Date()),
    sa.Column("revoked_at", MOMENT),
    sa.Column("login", sa.String(64)),
    sa.Index("ix_api_tokens_name", "name"),
)

sa.Table(
    "sessions",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("opened_at", MOMENT, nullable=False),
    sa.Column("seen_at", MOMENT, nullable=False),
    sa.Column("login", sa.String(64)),
    sa.Column("acr", sa.String(255)),
    sa.Column("shown_at", MOMENT),
    sa.Index("ix_sessions_login", "login"),
    sa.Index("ix_sessions_name", "name"),
)

sa.Table(
    "passwords",
    metadata,
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("hash", sa.String(200), nullable=False),
    sa.Column("initial_until", MOMENT),
    sa.Column("set_at", MOMENT, nullable=False),
)

sa.Table(
    "identities",
    metadata,
    sa.Column("issuer", sa.String(255), primary_key=True),
    sa.Column("subject", sa.String(255), primary_key=True),
    sa.Column("kind", sa.String(10), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False, unique=True),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("heard_at", MOMENT, nullable=False),
    sa.Column("counts_until", MOMENT, nullable=False),
    sa.Column("ended_before", MOMENT),
    sa.Column("display_name", sa.String(200)),
    sa.Column("affiliation", sa.String(200)),
    sa.Column("email", sa.String(220)),
    one_of("kind", "person service"),
)

sa.Table(
    "ended_logins",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("until", MOMENT, nullable=False),
)

sa.Table(
    "login_failures",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("failures", sa.Integer(), nullable=False),
    sa.Column("last_at", MOMENT, nullable=False),
    sa.Column("wait_until", MOMENT),
)

sa.Table(
    "email_addresses",
    metadata,
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("address", sa.String(254), nullable=False),
    sa.Column("set_at", MOMENT, nullable=False),
    sa.Column("confirmed_at", MOMENT),
    sa.Column("code_hash", sa.String(64)),
    sa.Column("code_until", MOMENT),
)

sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("url", sa.String(500), nullable=False),
    sa.Column("secret", sa.String(80), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("old_secret", sa.String(80)),
    sa.Column("old_until", MOMENT),
    sa.Index("ix_webhooks_name", "name"),
)

sa.Table(
    "muted_notices",
    metadata,
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("kind", sa.String(20), primary_key=True),
    one_of(
        "kind",
        "job_waits job_decided job_failed release_waits release_ready twin_waits twin_decided "
        "dataset_withdrawn dataset_erased grant_asked grant_decided budget_low comment test "
        "confirmation",
    ),
)

sa.Table(
    "notices",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("subject", sa.String(80), nullable=False),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("channel", sa.String(10), nullable=False),
    sa.Column("webhook_id", sa.String(16)),
    sa.Column("facts", sa.JSON(), nullable=False),
    sa.Column("at", MOMENT, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer(), nullable=False),
    sa.Column("next_at", MOMENT, nullable=False),
    sa.Column("claim", sa.String(36)),
    sa.Column("claimed_until", MOMENT),
    sa.Column("problem", sa.String(20)),
    sa.Column("ended_at", MOMENT),
    one_of("channel", "email webhook"),
    one_of(
        "kind",
        "job_waits job_decided job_failed release_waits release_ready twin_waits twin_decided "
        "dataset_withdrawn dataset_erased grant_asked grant_decided budget_low comment test "
        "confirmation",
    ),
    one_of(
        "problem",
        "unreachable timeout unknown_host forbidden_address insecure refused redirect switched_off "
        "no_channel interrupted fault",
    ),
    one_of("state", "WAITING SENT DEAD"),
    sa.Index("ix_notices_name", "name"),
    sa.Index("ix_notices_state_next_at", "state", "next_at"),
)
