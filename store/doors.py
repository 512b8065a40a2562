"""By which doors the workers of one host take turns, for whoever looks from outside of the platform."""

from __future__ import annotations

from contextlib import closing

import sqlalchemy as sa

from store import workers
from store.clock import database_time
from store.database import Database


def doors_of_host(database_url: str, *, host: str) -> dict[str, str] | None:
    """Names of the workers that are there, with their doors; None where the database does not say."""
    with closing(Database(database_url)) as database:
        try:
            with database.reading() as connection:
                listed = workers.listed(connection, now=database_time(connection))
        except sa.exc.SQLAlchemyError:  # not there, not made, or of another version
            return None
    here = [each for each in listed if each.host == host and each.is_there]
    return {each.name: each.door or "" for each in here}
