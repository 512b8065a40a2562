"""A platform that is as new at the beginning of each page, without another start."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dpgate.embedded.stack import Stack
from store.clock import database_time
from store.database import Database
from store.operation_tables import workers


@dataclass(frozen=True)
class Rewound:
    """A running platform on SQLite, and its database as it was when it had started."""

    stack: Stack
    begun: Path

    def rewind(self) -> Stack:
        """People, data sets and jobs are forgotten, in the very file that gateway and worker hold open.

        The worker keeps files of such data sets, under ids that nobody knows any more. It says every half
        minute that it is there: until it does again it is as if it had just been heard, and not lost since.
        """
        copy(self.begun, self.stack.home.database)
        database = Database(self.stack.home.database_url)
        with closing(database), database.transaction() as connection:
            connection.execute(workers.update().values(seen_at=database_time(connection)))
        return self.stack


def copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        read.backup(written)
