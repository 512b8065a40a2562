"""Rows that no version of ours has written: somebody wrote past the platform, or a disk lost a part. Whoever
asks for one is told so, in one way for all nouns; a list goes past it and shows the rest."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from domain.errors import Spoilt
from store.database import Broken

log = logging.getLogger(__name__)
# what a reader raises on such a row
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
Made = TypeVar("Made")
More = ParamSpec("More")
Reader = Callable[Concatenate[sa.Row[Any], More], Made]


def reads(what: str, by: str = "id") -> Callable[[Reader[More, Made]], Reader[More, Made]]:
    """For what makes something of a row: one that cannot be read raises Spoilt, with its name or id."""

    def of(read: Reader[More, Made]) -> Reader[More, Made]:
        @functools.wraps(read)
        def checked(row: sa.Row[Any], /, *more: More.args, **named: More.kwargs) -> Made:
            try:
                if any(isinstance(value, Broken) for value in row):
                    raise ValueError(what)
                return read(row, *more, **named)
            except Spoilt:
                raise
            except UNREADABLE:
                raise Spoilt.of(what, str(row._mapping.get(by))) from None

        return checked

    return of


def readable(read: Callable[[sa.Row[Any]], Made], rows: Iterable[sa.Row[Any]]) -> list[Made]:
    """What was made of each row that can be read. Of the others the log says which they are."""
    return all_but_spoilt(functools.partial(read, row) for row in rows)


def all_but_spoilt(reads: Iterable[Callable[[], Made]]) -> list[Made]:
    """The same of what takes several rows."""
    found = []
    for read in reads:
        try:
            found.append(read())
        except Spoilt as error:
            log.error("%s", error.sentence)
    return found
