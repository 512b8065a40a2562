"""What operators do to the zone's ledger as a whole: begin it, and have a restored database agree."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from domain.errors import InvalidRequest, NotReady
from domain.job import Reason
from privacy.cost import Currency
from store import agreement, audit, datasets, jobs, pac_states, runs, turn
from store.database import Database
from store.keys import load_keys
from store.write_off import end, go_on, left, under_way, write_off
from store.zone_ledger import Kind, Page, ZoneLedger
from worker.books import job_digest

WrittenOff = dict[str, dict[str, int]]
NATS = Currency.NATS.value


def zone_ledger(zone_folder: Path) -> ZoneLedger:
    """Of a zone that is no worker's at this moment."""
    keys = load_keys(zone_folder / "master.key")
    return ZoneLedger(zone_folder / "ledger.sqlite", key=keys.ledger, sealing=keys.drawn)


def begin_ledger(ledger: ZoneLedger, database: Database, *, anew: bool = False) -> None:
    """Once in a zone's life, when somebody sets it up: its first entries say what is spent so far, and which
    jobs are under way, as the platform has them. Raises NotReady where there is a ledger, or where the
    platform has another one; `anew` takes the place of that."""
    with database.reading() as connection:
        if not anew and agreement.ledger(connection) is not None:
            fix = "Where that file is lost for good: dpgate ledger begin --anew"
            raise NotReady(f"{agreement.ANOTHER_LEDGER}. {fix}")
        head, spent = audit.head(connection), agreement.cohorts_spent(connection)
        charged = [jobs.get(connection, job_id) for job_id in agreement.under_way(connection)]
        found = [(job, datasets.of_job(connection, job)) for job in charged]

    def begin(page: Page) -> None:
        # two that are begun at one moment, under one key, are two
        body = {"written off": {}, "ledger": str(uuid.uuid4())}
        page.add(Kind.CAUGHT_UP, f"{head[0]}", body, head=head)
        for cohort, amounts in spent.items():
            page.add(Kind.OPENING, cohort, {"spent": amounts}, cohort=cohort, head=head)
        for job, dataset in found:
            body = {"job": job_digest(job, dataset), "cost": {}, "spent": spent.get(dataset.cohort, {})}
            page.add(Kind.CHARGE, job.id, body, cohort=dataset.cohort, head=head)

    ledger.create(begin)
    agreement.enrol(ledger, database, anew=anew)


def take_up(zone_folder: Path, database: Database, *, is_new: bool) -> None:
    """At each start: the first makes the zone's ledger, a later one sees that the database is the same. A
    ledger that is missing beside an older key was lost, and is not made. Raises NotReady."""
    ledger = zone_ledger(zone_folder)
    if is_new:
        begin_ledger(ledger, database)
    elif ledger.path.exists():
        agreement.check_is_of(ledger, database)


class Since(StrEnum):
    """What somebody knows of the time after a backup whose ledger is the newest that is left."""

    NOTHING = "nothing"  # no worker has run since, by the word of whoever says so
    UNKNOWN = "unknown"


def catch_up(
    ledger: ZoneLedger, database: Database, *, now: datetime, since: Since | None = None
) -> WrittenOff:
    """Whatever the zone counts as spent and the database does not is spent there as well, by cohort and
    currency, in units. Jobs that the zone has drawn already end: no second release comes of them.

    After a restore without the newest ledger, `since` says what happened meanwhile: where it is unknown, all
    that was left is spent, and what was under way ends. Raises InvalidRequest where nobody says, or where
    reservations leave too little of a budget.
    """
    with database.transaction() as connection:
        turn.take(connection)  # before the ledger, as a charge does: none is in between then
        with ledger.writing() as page:
            restored = page.restored()
            if restored is not None and not restored.body["complete"]:
                if since is None:
                    raise _nobody_says()
                if since is Since.UNKNOWN:
                    end(connection, under_way(connection), now=now)
                    return _catch_up(page, connection, now=now, all_is_spent=True)
            return _catch_up(page, connection, now=now)


def _nobody_says() -> InvalidRequest:
    return InvalidRequest(
        "since",
        "the zone's ledger came out of a backup: what was spent after it is not on record here.",
        "Restore with the newest ledger, if any is left; or say --since nothing where no worker has run "
        "since the backup, or --since unknown, which spends all that was left.",
    )


def _catch_up(page: Page, connection: Any, *, now: datetime, all_is_spent: bool = False) -> WrittenOff:
    over = {job: state for job, state in under_way(connection).items() if _is_over(page, connection, job)}
    end(connection, over, now=now, reason=Reason.NOT_IN_LEDGER.name)
    there = agreement.cohorts_spent(connection)
    name = f"catch-up-{page.size() + 1}"
    found: WrittenOff = {}
    for cohort in page.cohorts():
        here, known = page.spent(cohort), _with_pending(page, connection, cohort, there.get(cohort, {}))
        missing = {
            currency: units - known.get(currency, 0)
            for currency, units in here.items()
            if units > known.get(currency, 0)
        }
        if cohort in there and not _has_pac_state(page, connection, cohort):
            # what was told of its secret is lost: nothing more may be told
            missing |= {NATS: left(connection, cohort).get(NATS, 0)}
        missing = {currency: units for currency, units in missing.items() if units}
        if missing and cohort in there and not all_is_spent:
            write_off(connection, cohort=cohort, missing=missing, name=name, now=now)
            found[cohort] = missing
    for cohort in there if all_is_spent else ():
        if missing := {currency: units for currency, units in left(connection, cohort).items() if units}:
            write_off(connection, cohort=cohort, missing=missing, name=name, now=now)
            found[cohort] = missing
    head = go_on(connection, written_off=found, now=now)
    # by its hash too: where the one who wrote this died, the next event has the same number
    page.add(Kind.CAUGHT_UP, f"{head[0]} {head[1]}", {"written off": found}, head=head)
    return found


def _is_over(page: Page, connection: Any, job_id: str) -> bool:
    """Whether the zone lets nothing more come of a job: it has drawn its release, which came out, or found
    its charge void. One that it still keeps, as a worker died, is handed out where all runs are done."""
    if page.find(Kind.VOID, job_id) is not None:
        return True
    if page.find(Kind.DRAW, job_id) is None:
        return False
    is_charged = job_id in agreement.under_way(connection)
    return not (page.drawn(job_id) and is_charged and runs.all_done(connection, job_id))


def _has_pac_state(page: Page, connection: Any, cohort: str) -> bool:
    """Whether the database knows all that was told of a cohort's PAC secret; the zone's copy mends it."""
    known = page.state_of(cohort)
    if known is None or agreement.state_digest(connection, cohort) == known:
        return True
    kept = page.kept_state(cohort)
    if kept is None or hashlib.sha256(kept).hexdigest() != known:
        return False
    pac_states.replace(connection, cohort=cohort, sealed=kept)
    return True


def _with_pending(page: Page, connection: Any, cohort: str, known: Mapping[str, int]) -> dict[str, int]:
    """With what jobs have reserved that were charged here alone, as their worker died: it is charged there
    when they go on, and would be spent twice. What is drawn is charged no more."""
    entered = {entry.subject: entry.body["cost"] for entry in page.charges(cohort)}
    settled = agreement.settled(connection, entered)
    counted = Counter(known)
    for job_id in agreement.reserved(connection, entered):
        if job_id not in settled and page.find(Kind.DRAW, job_id) is None:
            counted.update(entered[job_id])
    return dict(counted)
