"""A platform that is as new at the beginning of each page, without another start."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dpgate.backup.making import LEDGER
from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack
from store.clock import database_time
from store.database import Database
from store.operation_tables import workers


@dataclass(frozen=True)
class Rewound:
    """A running platform on SQLite, and a folder with its database and its zone's ledger as they were when it
    had started."""

    stack: Stack
    begun: Path

    def rewind(self) -> Stack:
        """People, data sets and jobs are forgotten, in the very files that gateway and worker hold open. A
        ledger that knows of more than the database would charge nothing for data of the same name.

        The worker keeps files of such data sets, under ids that nobody knows any more. It says every half
        minute that it is there: until it does again it is as if it had just been heard, and not lost since.
        """
        for file in _written(self.stack.home):
            _copy(self.begun / file.name, file)
        database = Database(self.stack.home.database_url)
        with closing(database), database.transaction() as connection:
            connection.execute(workers.update().values(seen_at=database_time(connection)))
        return self.stack


def begun(stack: Stack, folder: Path) -> Rewound:
    """A platform that has just started, with the copies that it is rewound to in a new folder."""
    folder.mkdir()
    for file in _written(stack.home):
        _copy(file, folder / file.name)
    return Rewound(stack, folder)


def _written(home: Home) -> tuple[Path, Path]:
    return home.database, home.worker_zone / LEDGER


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        read.backup(written)
