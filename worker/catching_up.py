"""After a restore: an operator has the zone's ledger and the database agree again."""

from __future__ import annotations

from datetime import datetime

from store import agreement
from store.database import Database
from store.write_off import go_on, write_off
from store.zone_ledger import Kind, ZoneLedger

WrittenOff = dict[str, dict[str, int]]


def catch_up(ledger: ZoneLedger, database: Database, *, now: datetime) -> WrittenOff:
    """Whatever the zone counts as spent and the database does not is spent there as well, by cohort and
    currency, in units. Jobs that the zone has drawn already stay drawn. Raises InvalidRequest where
    reservations leave too little of a budget."""
    with database.transaction() as connection, ledger.writing() as page:
        there = agreement.cohorts_spent(connection)
        name = f"catch-up-{page.size() + 1}"
        found: WrittenOff = {}
        for cohort in page.cohorts():
            here, known = page.spent(cohort), there.get(cohort, {})
            missing = {
                currency: units - known.get(currency, 0)
                for currency, units in here.items()
                if units > known.get(currency, 0)
            }
            if missing and cohort in there:
                write_off(connection, cohort=cohort, missing=missing, name=name, now=now)
                found[cohort] = missing
        head = go_on(connection, written_off=found, now=now)
        page.add(Kind.CAUGHT_UP, str(head[0]), {"written off": found}, head=head)
    return found
