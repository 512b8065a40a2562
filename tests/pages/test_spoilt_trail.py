"""One event that somebody wrote past the platform keeps nobody from reading the others."""

from __future__ import annotations

import csv
import io

import sqlalchemy as sa
from serving import Console, words

from gateway.pages.audit import ACTIONS
from store import history

SPOIL = (
    "DROP TRIGGER audit_events_no_update",
    "UPDATE audit_events SET details = '{broken', actor = CAST(X'FF41' AS TEXT) WHERE number = 3",
)


def test_the_trail_shows_the_others_and_names_the_spoilt_one(console: Console):
    with console.database.transaction() as connection:
        for statement in SPOIL:
            connection.execute(sa.text(statement))
    with console.visit("olga") as olga, console.visit("holder") as holder:
        everything = olga.get("/audit.csv")
        page = olga.get("/audit?before=5&verify=yes")
        hers = holder.get("/audit")
        workers = olga.get("/operation/workers")
    assert {each.status_code for each in (everything, page, hers, workers)} == {200}
    rows = {row["number"]: row for row in csv.DictReader(io.StringIO(everything.text))}
    assert rows["3"]["action"] == history.SPOILT
    assert all(rows[number]["hash"] for number in rows if number != "3")
    assert {"1", "2", "4"} < set(rows)
    assert ACTIONS[history.SPOILT] in words(page)
