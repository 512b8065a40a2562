"""What the platform's rows say, for the worker zone to hold against its own ledger."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable

import sqlalchemy as sa

from domain.errors import NotReady, Spoilt
from domain.states import JobState, LedgerAction, is_terminal
from store.database import Database, insert_once
from store.ledger import account_of
from store.tables import (
    accounts,
    audit_events,
    jobs,
    ledger_entries,
    pac_states,
    platform_facts,
    releases,
)
from store.zone_ledger import ZoneLedger

log = logging.getLogger(__name__)
LEDGER = "zone ledger "
ANOTHER_LEDGER = (
    "this platform charges by another ledger of its worker zone. All its workers share one zone folder: name "
    "that one in DPGATE_ZONE_FOLDER, or put its ledger.sqlite back"
)
NAME_IT = "name the one that the platform was started with, in DPGATE_DATABASE_URL or with --database-url"
_CHARGED = sa.select(accounts).where(
    sa.or_(
        (accounts.c.cohort == sa.bindparam("cohort", type_=sa.String)) & (accounts.c.kind == "cohort"),
        accounts.c.id.in_(
            sa.select(ledger_entries.c.account_id).where(
                ledger_entries.c.job_id == sa.bindparam("job", type_=sa.String)
            )
        ),
    )
)
_UNDER_WAY = (JobState.RUNNING, JobState.AGGREGATING)


def accounts_read(connection: sa.Connection, job_id: str, cohort: str) -> bool:
    """Whether the accounts that the job is charged to can be read, all of them."""
    try:
        for row in connection.execute(_CHARGED, {"job": job_id, "cohort": cohort}):
            account_of(row)
    except Spoilt as error:
        log.error("%s", error.sentence)
        return False
    return True


def ledger(connection: sa.Connection) -> str | None:
    """The identity of the ledger by which this platform charges; None before a worker has started."""
    known = platform_facts.c.name.startswith(LEDGER)
    query = sa.select(platform_facts.c.value).where(known).order_by(platform_facts.c.name.desc()).limit(1)
    found: str | None = connection.execute(query).scalar()
    return found


def enrol(ledger: ZoneLedger, database: Database, *, anew: bool = False) -> None:
    """The platform charges by this ledger and by no other. Raises NotReady where it has another."""
    with ledger.reading() as page:
        identity = page.identity()
    with database.transaction() as connection:
        if not _enrol(connection, identity, anew=anew):
            raise NotReady(f"{ledger.path}: {ANOTHER_LEDGER}")


def check_is_of(ledger_: ZoneLedger, database: Database) -> None:
    """Raises NotReady for a database that the zone cannot have charged by: another platform's, or a new one.
    One that was restored from an earlier day can be."""
    with ledger_.reading() as page:
        identity, head = page.identity(), page.newest_head()
    with database.reading() as connection:
        known = ledger(connection)
        is_new = known is None and head is not None and not trail_holds(connection, *head)
    if is_new or known not in (None, identity):
        raise NotReady(f"this database is not the one that {ledger_.path} charges by: {NAME_IT}")


def trail_holds(connection: sa.Connection, number: int, digest: str) -> bool:
    """Whether the audit trail has this event: one that was restored from an earlier day, or rewritten, has
    not."""
    if number == 0:
        return True  # of a trail without events
    query = sa.select(audit_events.c.hash).where(audit_events.c.number == number)
    return bool(connection.execute(query).scalar() == digest)


def spent(connection: sa.Connection, cohort: str) -> dict[str, int]:
    """Units of each currency that the cohort's own accounts count as spent."""
    own = sa.select(accounts).where(accounts.c.cohort == cohort, accounts.c.kind == "cohort")
    return {str(found.currency): found.spent for found in map(account_of, connection.execute(own))}


def cohorts_spent(connection: sa.Connection) -> dict[str, dict[str, int]]:
    """The same of all cohorts."""
    query = sa.select(accounts.c.cohort).where(accounts.c.kind == "cohort").distinct()
    return {cohort: spent(connection, cohort) for cohort in connection.execute(query).scalars().all()}


def settled(connection: sa.Connection, job_ids: Iterable[str]) -> dict[str, LedgerAction]:
    """Which of these jobs an account charged or refunded."""
    query = sa.select(ledger_entries.c.job_id, ledger_entries.c.action).where(
        ledger_entries.c.job_id.in_(list(job_ids)), ledger_entries.c.action != LedgerAction.RESERVE
    )
    return {row.job_id: LedgerAction(row.action) for row in connection.execute(query)}


def reserved(connection: sa.Connection, job_ids: Iterable[str]) -> list[str]:
    """Which of these jobs have ever reserved budget."""
    query = sa.select(ledger_entries.c.job_id).where(
        ledger_entries.c.job_id.in_(list(job_ids)), ledger_entries.c.action == LedgerAction.RESERVE
    )
    return list(connection.execute(query.distinct()).scalars())


def under_way(connection: sa.Connection) -> list[str]:
    """Ids of the jobs that are charged and not drawn."""
    query = sa.select(jobs.c.id).where(jobs.c.state.in_(_UNDER_WAY)).order_by(jobs.c.id)
    return list(connection.execute(query).scalars())


def state_digest(connection: sa.Connection, cohort: str) -> str | None:
    """Of the cohort's sealed PAC state; None where there is none."""
    query = sa.select(pac_states.c.sealed).where(pac_states.c.cohort == cohort)
    sealed: bytes | None = connection.execute(query).scalar()
    return None if sealed is None else hashlib.sha256(sealed).hexdigest()


def has_release(connection: sa.Connection, job_id: str) -> bool:
    """Whether the platform has the job's release."""
    query = sa.select(releases.c.job_id).where(releases.c.job_id == job_id)
    return connection.execute(query).scalar() is not None


def is_over(connection: sa.Connection, job_id: str) -> bool:
    """Whether the platform has the job's release, or will have none."""
    state = connection.execute(sa.select(jobs.c.state).where(jobs.c.id == job_id)).scalar()
    return has_release(connection, job_id) or (state is not None and is_terminal(JobState(state)))


def say_why(connection: sa.Connection, job_id: str, reason: str | None) -> None:
    """On a job that waits where it is: why. One that has ended meanwhile keeps what it ended with."""
    waits = sa.update(jobs).where(jobs.c.id == job_id, jobs.c.state.not_in(filter(is_terminal, JobState)))
    connection.execute(waits.values(reason=reason))


def _enrol(connection: sa.Connection, identity: str, *, anew: bool = False) -> bool:
    """Whether this is the platform's ledger from now on, or was before. `anew`: in place of one that is lost.
    Rows of facts are never changed, so the newest counts."""
    known = ledger(connection)
    if known is None or (anew and known != identity):
        count = sa.select(sa.func.count()).where(platform_facts.c.name.startswith(LEDGER))
        number = connection.execute(count).scalar_one() + 1
        insert_once(connection, platform_facts, {"name": f"{LEDGER}{number:06d}", "value": identity})
    return ledger(connection) == identity
