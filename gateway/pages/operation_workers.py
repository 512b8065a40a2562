"""Workers: which are there, what they take part in, what they lack; drain, resume, forget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeGuard

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from desk.operation import Drain, drain_worker, forget_worker, resume_worker
from domain.errors import InvalidRequest
from domain.operation import WorkerState, WorkKind
from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.pages.audit import SPOILT_SAYS
from gateway.pages.health import DROPPED
from gateway.pages.layout import counted, instant, page
from gateway.pages.session import CheckedForm, page_requires
from gateway.routes import WorkerName
from store import history, workers
from store.clock import ahead_s, database_time
from store.history import Event, Wanted
from store.workers import Worker

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.OPERATION_READ))]
Operator = Annotated[User, Depends(page_requires(Permission.OPERATION_CHANGE))]
HERE = "/operation/workers"
MAX_REPORTS = 10
LOOKS = {
    WorkerState.LIVE: ("good", "check"),
    WorkerState.DRAINING: ("warn", "clock"),
    WorkerState.DRAINED: ("plain", "clock"),
    WorkerState.ENDED: ("plain", "cross"),
    WorkerState.LOST: ("bad", "warning"),
}
KINDS = {
    WorkKind.JOBS: "jobs that run",
    WorkKind.IMPORTS: "imports",
    WorkKind.REHEARSALS: "rehearsals on twins",
    WorkKind.PROFILES: "profiles of deliveries",
}


@router.get(HERE)
def show_workers(request: Request, user: Reader, database: TheDatabase) -> Response:
    with database.reading() as connection:
        now = database_time(connection)
        skew_s = ahead_s(connection, datetime.now(UTC))
        found = workers.listed(connection, now=now)
        reports = history.events(connection, Wanted(action="doctor.report"), limit=MAX_REPORTS)
        starts = history.events(connection, Wanted(action="worker.start"), limit=MAX_REPORTS)
    return page(
        request,
        "operation_workers.html",
        user=user,
        workers=[
            (worker, LOOKS[worker.state], sentence(worker, now), f"{_long(now - worker.seen_at)} ago")
            for worker in found
        ],
        apart={one.name: [other.name for other in found if one.takes_turns_apart(other)] for one in found},
        kinds=KINDS,
        dropped=DROPPED,
        gateway_skew_s=skew_s,
        gone={WorkerState.LOST, WorkerState.ENDED},
        reports=[
            _report(event)
            # one that cannot be read is in both
            for event in sorted({one.number: one for one in reports + starts}.values(), key=_newest_first)
        ],
    )


@router.post(f"{HERE}/{{worker}}")
def decide_worker(worker: WorkerName, form: CheckedForm, user: Operator, database: TheDatabase) -> Response:
    """Drain, resume or forget one of them."""
    decision = str(form.get("decision", ""))
    if decision == "drain":
        drain_worker(database, user, worker, Drain(ends=form.get("ends") == "yes"))
    elif decision == "resume":
        resume_worker(database, user, worker)
    elif decision == "forget":
        forget_worker(database, user, worker)
    else:
        raise InvalidRequest("decision", "is missing.", "Drain it, resume it or forget it.")
    return RedirectResponse(HERE, status_code=303)


def sentence(worker: Worker, now: datetime) -> str:
    """What the state of this worker means, and what to do."""
    unseen = now - worker.seen_at
    if worker.state is WorkerState.LOST and unseen < timedelta():
        return (
            f"Last seen {_long(-unseen)} after now: the database's clock went back since, and it has not been"
            " seen again. What it had in hand is taken up by others."
        )
    if worker.state is WorkerState.LOST:
        return (
            f"Not seen for {_long(unseen)}. Its process ended, or it does not reach the database or Redis."
            " What it had in hand is taken up by others."
        )
    if worker.state is WorkerState.ENDED:
        return f"It ended in order at {instant(worker.ended_at)}."
    if worker.state is WorkerState.DRAINED:
        return "It takes nothing and has nothing in hand. Stop its process, or let it take jobs again."
    if worker.state is WorkerState.DRAINING:
        then = " Its process ends then." if worker.drain_ends else ""
        return f"It takes no new job; what it takes part in is finished.{then}"
    if worker.kinds:
        return f"It takes part in {' and '.join(KINDS[kind] for kind in worker.kinds)}."
    return "It is idle."


def _long(unseen: timedelta) -> str:
    minutes = int(unseen.total_seconds() // 60)
    if minutes < 2:
        return counted(max(0, int(unseen.total_seconds())), "second")
    if minutes < 120:
        return counted(minutes, "minute")
    return counted(minutes // 60, "hour") if minutes < 2880 else counted(minutes // 1440, "day")


def _newest_first(event: Event) -> int:
    return -event.number


def _are_names(absent: list[Any] | None) -> TypeGuard[list[str]]:
    return isinstance(absent, list) and all(isinstance(name, str) for name in absent)


def _report(event: Event) -> tuple[Event, str, str, str]:
    """What a worker or the doctor said of a host: the event, who, a sentence and a tone."""
    details, is_start = event.details, event.action == "worker.start"
    profile, found = details.get("profile"), details.get("isolation", {})
    if is_start:
        absent = [name for name, there in found.items() if not there] if isinstance(found, dict) else None
    else:
        profile, absent = found, details.get("missing", [])
    if event.action == history.SPOILT or not isinstance(profile, str | None) or not _are_names(absent):
        return event, "event", f"{event.number} {SPOILT_SAYS}.", "bad"
    return (
        event,
        "worker" if is_start else "host",
        f"{'started' if is_start else 'was looked at'} with profile {profile}; "
        f"{'missing: ' + ', '.join(absent) if absent else 'every feature is there'}.",
        ("warn" if absent else "good"),
    )
