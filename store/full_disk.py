"""A disk without room, and what may be said of it: texts of a database hold values, its codes do not."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.errors import NotReady

# of SQLite, whose memory beside a database needs room as well, and of PostgreSQL
_CODES = frozenset({"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "53100"})


def is_full_for_database(error: BaseException) -> bool:
    """Whether a database, by the code of its driver, had no room."""
    given = getattr(error, "orig", error)  # SQLAlchemy keeps what the driver raised
    return not _CODES.isdisjoint((getattr(given, "sqlite_errorname", None), getattr(given, "sqlstate", None)))


def is_full_for_file(error: BaseException) -> bool:
    if isinstance(error, shutil.Error):  # of a tree: texts of all its files, and no code
        return os.strerror(errno.ENOSPC) in str(error)
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_for(place: object) -> str:
    return f"there is no room left on the disk of {place}: make room there"


def full_words(place: object, *, then: str = "run the same command again") -> str:
    """For whoever ran a command."""
    return f"{full_for(place)}, and {then}"


@contextmanager
def names_full_disk(place: Path, *, then: str = "run the same command again") -> Iterator[None]:
    """Raises NotReady with the place where what is written below it finds no room."""
    try:
        yield
    except Exception as error:  # whichever driver it is of: what is no full disk goes on as it came
        if not (is_full_for_file(error) or is_full_for_database(error)):
            raise
        raise NotReady(full_words(place, then=then)) from None
