"""Whoever asks whether a job or a rehearsal may begin waits for whoever asked before."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from factories import NOW
from standing_in_line import wait_until_another_waits
from waiting import PATIENCE_S

from store import apart
from store.database import Database


def may_rehearse(connection: sa.Connection) -> bool:
    return apart.may_rehearse(connection, now=NOW)


@pytest.mark.parametrize(
    ("first", "second"), [(may_rehearse, apart.may_start_job), (apart.may_start_job, may_rehearse)]
)
def test_of_two_questions_the_second_waits_for_what_follows_from_the_first(
    database: Database, first: Callable[[sa.Connection], bool], second: Callable[[sa.Connection], bool]
) -> None:
    def ask() -> bool:
        with database.transaction() as connection:
            return second(connection)

    with ThreadPoolExecutor(1) as pool:
        with database.transaction() as connection:
            assert first(connection)
            asked = pool.submit(ask)
            wait_until_another_waits(database, unless=asked.done)
        assert asked.result(PATIENCE_S)
