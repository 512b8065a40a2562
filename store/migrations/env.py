"""Alembic's entry: runs on the connection that `Database.migrate` hands over."""

from __future__ import annotations

from alembic import context

from store.tables import metadata

with context.config.attributes["connection"] as connection:
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
