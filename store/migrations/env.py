"""Alembic's entry: runs on the connection that `Database.migrate` hands over."""

from __future__ import annotations

from alembic import context

from store import (
    account_tables,
    draft_tables,
    entitlement_tables,
    erasures,
    notice_tables,
    operation_tables,
    policies,
    profiles,
    project_tables,
    rehearsal_tables,
    review_tables,
    scrambled_tables,
    twin_tables,
)
from store.tables import metadata

# importing them is what makes them part of the metadata
OTHER_TABLES = (
    account_tables,
    draft_tables,
    entitlement_tables,
    erasures,
    notice_tables,
    operation_tables,
    policies,
    profiles,
    project_tables,
    rehearsal_tables,
    review_tables,
    scrambled_tables,
    twin_tables,
)

with context.config.attributes["connection"] as connection:
    # Alembic takes SQLite for a database that commits each change of a table by itself, and would let go of
    # the write lock after every migration: of two who migrate together, both would do the same one
    context.configure(
        connection=connection, target_metadata=metadata, render_as_batch=True, transactional_ddl=True
    )
    with context.begin_transaction():
        if connection.dialect.name == "postgresql":
            # gateway and worker may start at the same moment; SQLite's transaction has the only write lock
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(110433933554790)")
        context.run_migrations()
