"""Servers that notices arrive at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from receivers import Mailbox, Receiver, mail_server, receiving

from store.database import Database


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with mail_server() as running:
        yield running


@pytest.fixture
def sqlite_database(sqlite_url: str) -> Iterator[Database]:
    """Where the database makes no difference."""
    with closing(Database(sqlite_url)) as opened:
        yield opened
