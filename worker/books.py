"""The worker zone's own books: a job is charged, sees data and is drawn only as they say.

The platform's database may have been restored, or written by an intruder. Where it and the zone's ledger do
not agree, nothing happens, the job says so, and the refusal stays in the ledger. The zone's entry comes
first, within the platform's transaction: a worker that dies in between leaves an entry that the next one
finds, and neither a charge that is lost nor one that counts twice.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.errors import NotReady, PlatformError
from domain.job import Job, Reason
from domain.model import canonical
from domain.release import Release
from domain.states import LedgerAction
from privacy.cost import Cost
from store import agreement, audit, pac_states
from store.zone_ledger import Head, Kind, Page
from worker import mandates
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
PAC = "pac"


class OffTheBooks(PlatformError):
    """What the platform's rows ask for does not go with the zone's ledger."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def job_digest(job: Job, dataset: Dataset) -> str:
    """Of everything that decides what a job computes, on which data, and at what cost."""
    asked = [
        job.id,
        job.author,
        job.image_digest,
        job.request.model_dump(mode="json"),
        dataset.id,
        dataset.version,
        dataset.cohort,
        dataset.snapshot,
        dataset.declaration.model_dump(mode="json"),
    ]
    return hashlib.sha256(canonical(asked)).hexdigest()


def why_not_charged(zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset) -> Reason | None:
    """Before the job is claimed: what it has to wait for, if anything. It does not look for a charge that
    fits no more: `enter_charge` does."""
    try:
        mandates.take_in(zone, dataset.name)
        with zone.ledger.reading() as page:
            return (
                _behind(page, connection, job, dataset)
                or _disputed(page, job, job_digest(job, dataset))
                or _allowed(zone, page, job, dataset, page.spent(dataset.cohort))
            )
    except NotReady:
        return Reason.LEDGER_MISSING


def enter_charge(zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset) -> None:
    """In the platform's transaction, before its own charge. Raises OffTheBooks."""
    digest = job_digest(job, dataset)
    with _written(zone) as page:
        if (reason := _behind(page, connection, job, dataset) or _disputed(page, job, digest)) is not None:
            raise OffTheBooks(reason)
        spent = _settled(page, connection, dataset.cohort)
        if page.find(Kind.CHARGE, job.id) is not None:
            return  # by a worker that died before the platform knew
        if (reason := _allowed(zone, page, job, dataset, spent)) is not None:
            raise OffTheBooks(reason)
        cost = _units(job.request.cost(dataset.declaration))
        page.add(
            Kind.CHARGE,
            job.id,
            {"job": digest, "cost": cost, "spent": _sum(spent, cost)},
            cohort=dataset.cohort,
            head=audit.head(connection),
        )


def why_no_data(zone: WorkerZone, job: Job, dataset: Dataset) -> Reason | None:
    """Before a chunk's runs: why they see nothing, unless this very job was charged here. From the first
    chunk on, its charge stands whatever becomes of it."""
    try:
        digest = job_digest(job, dataset)
        with zone.ledger.reading() as page:
            reason, touched = _not_charged(page, job, digest), page.find(Kind.TOUCHED, job.id)
        if reason is None and touched is None:
            with zone.ledger.writing() as page:
                # once more: another charge may have found it void meanwhile
                if (reason := _not_charged(page, job, digest)) is None:
                    page.add(Kind.TOUCHED, job.id, {})
    except NotReady:
        reason = Reason.LEDGER_MISSING
    if reason is not None:
        note_refusal(zone, job, reason, what="a chunk")
    return reason


def why_not_drawn(zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset) -> Reason | None:
    """Before a draw: whether it was charged as it is now, and not drawn already, and the database is not one
    of an earlier day. In a transaction that sees what others commit meanwhile: the zone's entry of a release
    that comes out at this moment is there before the platform's row."""
    if job.request.mechanism_name == PAC:
        pac_states.take_turn(connection, cohort=dataset.cohort)
    try:
        return _why_not_drawn(zone, connection, job, dataset)
    except NotReady:
        return Reason.LEDGER_MISSING


def _why_not_drawn(zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset) -> Reason | None:
    mandates.take_in(zone, dataset.name)
    with zone.ledger.reading() as page:
        if page.drawn(job.id) is not None and _behind(page, connection, job, dataset) is None:
            return None  # drawn by a worker that died before the platform knew: that release is handed out
        return (
            _behind(page, connection, job, dataset)
            or _not_charged(page, job, job_digest(job, dataset))
            or _state_of_another_day(page, connection, job, dataset)
            or mandates.why_not_released(zone, page, dataset)
        )


def drawn_once(
    zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset, draw: Callable[[Head], Release]
) -> Release:
    """The job's only release: the one that a worker drew before it died, or a new one. It is in the zone's
    ledger before the platform has it. `draw` is told the newest event of the trail. Raises OffTheBooks."""
    if (reason := why_not_drawn(zone, connection, job, dataset)) is not None:
        raise OffTheBooks(reason)
    with _read(zone) as page:
        kept = page.drawn(job.id)
    if kept is not None:
        return _again(zone, connection, job, dataset, kept)
    release = draw(head := audit.head(connection))
    content: dict[str, Any] = {"release": release.model_dump(mode="json")}
    state = agreement.state_digest(connection, dataset.cohort) if job.request.mechanism_name == PAC else None
    if state is not None:
        content["state"] = pac_states.kept(connection, cohort=dataset.cohort).hex()
    with _written(zone) as page:
        digest = hashlib.sha256(canonical(content["release"])).hexdigest()
        if page.add(Kind.DRAW, job.id, {"release": digest}, cohort=dataset.cohort, head=head):
            if state is not None:
                page.add(Kind.STATE, job.id, {"digest": state}, cohort=dataset.cohort)
                page.keep_state(dataset.cohort, bytes.fromhex(content["state"]))
            page.keep_drawn(job.id, zone.ledger.seal(content, job_id=job.id))
            return release
        # another worker drew at this moment; nobody sees what was drawn here
        if (kept := page.drawn(job.id)) is None:
            raise OffTheBooks(Reason.NOT_IN_LEDGER)
    return _again(zone, connection, job, dataset, kept)


def forget_drawn(zone: WorkerZone, job_id: str) -> None:
    """Once the platform has the release: whoever asks for another draw gets none."""
    with zone.ledger.writing() as page:
        page.forget_drawn(job_id)


def forget_old_draws(zone: WorkerZone) -> None:
    """Of workers that died when the platform had the release, and before this; or whose job was cancelled."""
    with zone.ledger.reading() as page:
        kept = page.all_drawn()
    with zone.database.reading() as connection:
        came_out = [job_id for job_id in kept if agreement.is_over(connection, job_id)]
    for job_id in came_out:
        forget_drawn(zone, job_id)


def hold(zone: WorkerZone, job: Job, reason: Reason, *, what: str) -> None:
    """The job stays where it is and says why."""
    note_refusal(zone, job, reason, what=what)
    if job.reason is not reason:
        with zone.database.transaction() as connection:
            agreement.say_why(connection, job.id, reason.name)


def note_refusal(zone: WorkerZone, job: Job, reason: Reason, *, what: str) -> None:
    """In the log each time, in the ledger once for each job and reason."""
    log.error("job %s: the zone's ledger refuses %s: %s", job.id, what, reason.name)
    if reason is Reason.LEDGER_MISSING:
        return  # there is nothing to write in
    with zone.ledger.writing() as page:
        page.add(Kind.REFUSED, f"{job.id} {reason.name}", {"what": what})


@contextmanager
def _written(zone: WorkerZone) -> Iterator[Page]:
    """Raises OffTheBooks where the ledger is not there, or full: the job waits."""
    try:
        with zone.ledger.writing() as page:
            yield page
    except NotReady:
        raise OffTheBooks(Reason.LEDGER_MISSING) from None


@contextmanager
def _read(zone: WorkerZone) -> Iterator[Page]:
    try:
        with zone.ledger.reading() as page:
            yield page
    except NotReady:
        raise OffTheBooks(Reason.LEDGER_MISSING) from None


def _behind(page: Page, connection: sa.Connection, job: Job, dataset: Dataset) -> Reason | None:
    # what only reads sees a moment that is over, of which the ledger may know more
    if connection.get_execution_options().get("dpgate_reading"):
        raise PlatformError("both ledgers are compared in a transaction that sees what others commit")
    if page.restored() is not None or agreement.ledger(connection) not in (None, page.identity()):
        return Reason.LEDGER_BEHIND
    holds = (head := page.newest_head()) is None or agreement.trail_holds(connection, *head)
    are_read = agreement.accounts_read(connection, job.id, dataset.cohort)
    return None if holds and are_read else Reason.LEDGER_BEHIND


def _disputed(page: Page, job: Job, digest: str) -> Reason | None:
    """Whether the ledger knows the job as one that cannot be charged any more."""
    found = page.find(Kind.CHARGE, job.id)
    is_over = page.find(Kind.DRAW, job.id) or page.find(Kind.VOID, job.id)
    is_another = found is not None and found.body["job"] != digest
    return Reason.NOT_IN_LEDGER if is_over or is_another else None


def _not_charged(page: Page, job: Job, digest: str) -> Reason | None:
    return Reason.NOT_IN_LEDGER if page.find(Kind.CHARGE, job.id) is None else _disputed(page, job, digest)


def _allowed(
    zone: WorkerZone, page: Page, job: Job, dataset: Dataset, spent: Mapping[str, int]
) -> Reason | None:
    """By the mandate in force, if the job's cost came on top; a charge that is entered counts already."""
    entered = page.find(Kind.CHARGE, job.id) is not None
    cost = {} if entered else _units(job.request.cost(dataset.declaration))
    return mandates.why_not_allowed(zone, page, job, dataset, spent=_sum(spent, cost))


def _state_of_another_day(page: Page, connection: sa.Connection, job: Job, dataset: Dataset) -> Reason | None:
    """A secret half-sample that was put back has forgotten what was told about it."""
    if job.request.mechanism_name != PAC or (known := page.state_of(dataset.cohort)) is None:
        return None
    return None if agreement.state_digest(connection, dataset.cohort) == known else Reason.LEDGER_BEHIND


def _settled(page: Page, connection: sa.Connection, cohort: str) -> dict[str, int]:
    """What is spent of a cohort: the larger of both accounts. Raises OffTheBooks unless they differ by jobs
    alone that a worker entered here and died before the platform knew; of those that gave their budget back
    and saw no data, it counts no more."""
    here, there = page.spent(cohort), agreement.spent(connection, cohort)
    if all(there.get(currency, 0) >= amount for currency, amount in here.items()):
        return {**here, **there}
    entered = {entry.subject: entry for entry in page.charges(cohort)}
    known, reserved = agreement.settled(connection, entered), agreement.reserved(connection, entered)
    for job_id in reserved:
        entry = entered[job_id]
        # what was drawn is spent there: it was charged, or somebody has caught up with it after a restore
        if known.get(job_id) is LedgerAction.CHARGE or page.find(Kind.DRAW, job_id) is not None:
            continue
        there = _sum(there, entry.body["cost"])
        if known.get(job_id) is LedgerAction.REFUND and page.find(Kind.TOUCHED, job_id) is None:
            minus = {currency: -amount for currency, amount in entry.body["cost"].items()}
            here, there = _sum(here, minus), _sum(there, minus)
            page.add(Kind.VOID, job_id, {"spent": here}, cohort=cohort)
    if any(there.get(currency, 0) < amount for currency, amount in here.items()):
        raise OffTheBooks(Reason.LEDGER_BEHIND)
    return {currency: max(here.get(currency, 0), there.get(currency, 0)) for currency in here | there}


def _again(zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset, sealed: bytes) -> Release:
    found = zone.ledger.open(sealed, job_id=job.id)
    if "state" in found:
        state = bytes.fromhex(found["state"])
        with zone.ledger.reading() as page:
            # an older one has forgotten what was told since
            if page.state_of(dataset.cohort) == hashlib.sha256(state).hexdigest():
                pac_states.replace(connection, cohort=dataset.cohort, sealed=state)
    return Release.model_validate(found["release"])


def _units(cost: Cost) -> dict[str, int]:
    return {currency.value: amount for currency, amount in cost}


def _sum(these: Mapping[str, int], those: Mapping[str, int]) -> dict[str, int]:
    return {name: these.get(name, 0) + those.get(name, 0) for name in {**these, **those}}
