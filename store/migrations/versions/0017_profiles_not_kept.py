"""Declarations without what a profile found: its digest answered guesses, what it flagged was found in cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    _rewrite("datasets", "declaration", _without_profile)
    _rewrite("registration_drafts", "content", _without_digest)


def _rewrite(table: str, column: str, changed: Callable[[Any], Any]) -> None:
    rows = sa.table(table, sa.column("id"), sa.column(column, sa.JSON))
    connection = op.get_bind()
    for row in connection.execute(sa.select(rows)).all():
        before = row._mapping[column]
        if (after := changed(before)) != before:
            connection.execute(sa.update(rows).where(rows.c.id == row.id).values({column: after}))


def _without_profile(declaration: Any) -> Any:
    """Of a registered version nothing is left of it: the check that it was for is done."""
    return {name: value for name, value in declaration.items() if name != "profile"}


def _without_digest(content: Any) -> Any:
    """Of a draft its owner keeps what was flagged: the check is still to come."""
    declaration = content.get("declaration")
    profile = declaration.get("profile") if isinstance(declaration, dict) else None
    if not isinstance(profile, dict):
        return content
    kept = {name: value for name, value in profile.items() if name != "digest"}
    return content | {"declaration": declaration | {"profile": kept}}
