"""One event that somebody wrote past the platform keeps nobody from reading the others."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import sqlalchemy as sa
from serving import Console, words

from gateway.pages.audit import ACTIONS, SPOILT_SAYS
from store import audit, history
from store.tables import audit_events as events

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


FORGED = (
    {"profile": "standard", "isolation": "every wish"},
    {"profile": ["standard"], "isolation": {}},
    {"profile": 7, "isolation": {"seccomp": False}},
    {"profile": "standard", "isolation": [["seccomp"]]},
    {"isolation": {"a": 1}, "missing": 3},
    {"isolation": "standard", "missing": [1, None, {}]},
    {"isolation": "standard", "missing": {"seccomp": True}},
    {"isolation": None, "missing": None},
)


def test_the_page_of_workers_names_a_report_that_nobody_of_ours_left(console: Console):
    """Readable, of a right action, and of another form than any worker or doctor writes."""
    with console.visit("olga") as olga:
        before = words(olga.get("/operation/workers"))
        with console.database.transaction() as connection:
            head = audit.head(connection)[0]
            for number, details in enumerate(FORGED):
                for action in ("worker.start", "doctor.report"):
                    audit.append(
                        connection, at=datetime.now(UTC), actor="worker", action=action,
                        subject=f"{number}", **details,
                    )  # fmt: skip
            start = sa.select(sa.func.max(events.c.number)).where(events.c.action == "worker.start")
            spoilt = connection.execute(start).scalar_one()
            for statement in SPOIL:
                connection.execute(sa.text(statement.replace("number = 3", f"number = {spoilt}")))
        page = olga.get("/operation/workers")
        assert page.status_code == 200
        shown = words(page)
        assert olga.get("/operation").status_code == 200
    assert "was looked at with profile standard; every feature is there." in before
    assert "was looked at with profile standard; every feature is there." in shown
    assert f"event {spoilt} {SPOILT_SAYS}." in shown
    named = [f"event {number} {SPOILT_SAYS}." in shown for number in range(head + 1, head + 17)]
    # the other two say something odd, and can be read
    assert named.count(True) == 2 * len(FORGED) - 2
