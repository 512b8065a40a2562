"""Rows of a table on one database: what a row does is taken back, so that the next finds what it found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa


@contextmanager
def undone(connection: sa.Connection) -> Iterator[None]:
    # whose turn it is to write is noted beside the connection, with the newest event that the turn has seen
    noted = dict(connection.info)
    connection.info.clear()
    step = connection.begin_nested()
    try:
        yield
    finally:
        step.rollback()
        connection.info.clear()
        connection.info.update(noted)
