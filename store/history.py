"""What happened, in order, for people who look back: versions, entries of an account, events of the trail."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import sqlalchemy as sa

from domain.dataset import DatasetState
from domain.job import Reason
from domain.model import canonical
from domain.permissions import User
from domain.project import subject_of_grant, subject_of_project
from domain.states import JobState
from privacy.cost import Currency
from store import audit, reviewers
from store.ledger import account_of
from store.project_tables import grants, projects
from store.tables import accounts, audit_events, datasets, jobs


@dataclass(frozen=True)
class Version:
    """One registration of a data set."""

    version: int
    state: DatasetState
    created_at: datetime


@dataclass(frozen=True)
class Event:
    """One event of the audit trail."""

    number: int
    at: datetime
    actor: str
    action: str
    subject: str
    details: dict[str, Any]
    hash: str


@dataclass(frozen=True)
class Wanted:
    """Which events: those that have all of it. `subject` is a beginning."""

    action: str = ""
    actor: str = ""
    subject: str = ""
    since: date | None = None
    before: int | None = None


SPOILT = "audit.spoilt"
"""In place of what happened, of an event that cannot be read: somebody wrote it past the platform. Nothing of
it is told but its number; `dpgate audit verify` says whether it is the first that does not fit."""
_OF_JOBS = ("job.", "review.vote", "twin.decide")
_OF_COHORTS = "budget."
# a profile may be gone long before its events are, and its id be somebody else's by then
_BY_HOLDERS = ("profile.request", "profile.fetch", "profile.remove")
_BY_WORKERS = "profile.end"


def versions(connection: sa.Connection, name: str) -> list[Version]:
    """Every version of a data set, newest first."""
    wanted = (datasets.c.version, datasets.c.state, datasets.c.created_at)
    query = sa.select(*wanted).where(datasets.c.name == name).order_by(datasets.c.version.desc())
    return [
        Version(row.version, DatasetState(row.state), row.created_at) for row in connection.execute(query)
    ]


def spent(connection: sa.Connection, *, cohort: str) -> dict[Currency, int]:
    """What everybody together has spent, in units of each currency."""
    query = sa.select(accounts).where(accounts.c.cohort == cohort, accounts.c.kind == "cohort")
    return {found.currency: found.spent for found in map(account_of, connection.execute(query))}


def events(
    connection: sa.Connection,
    wanted: Wanted,
    *,
    among: sa.ColumnElement[bool] | None = None,
    limit: int = 100,
) -> list[Event]:
    """The newest events that fit, newest first; only those among which they must be, where that is given."""
    query = sa.select(audit_events).order_by(audit_events.c.number.desc()).limit(limit)
    if among is not None:
        query = query.where(among)
    if wanted.action:
        query = query.where(audit_events.c.action == wanted.action)
    if wanted.actor:
        query = query.where(audit_events.c.actor == wanted.actor)
    if wanted.subject:
        query = query.where(audit_events.c.subject.startswith(wanted.subject, autoescape=True))
    if wanted.since is not None:
        midnight = datetime.combine(wanted.since, time.min, UTC)
        query = query.where(audit_events.c.at >= midnight)
    if wanted.before is not None:
        query = query.where(audit_events.c.number < wanted.before)
    return [_event(row) for row in connection.execute(query)]


def _event(row: sa.Row[Any]) -> Event:
    """What is on record; of one that no append of ours has left, its number."""
    try:
        return _readable(row)
    except audit.UNREADABLE:
        return Event(row.number, datetime.fromtimestamp(0, UTC), "", SPOILT, "", {}, "")


def _readable(row: sa.Row[Any]) -> Event:
    """Raises ValueError and its like for one that no append of ours has left."""
    event = Event(**{name: row._mapping[name] for name in Event.__dataclass_fields__})
    texts = (event.actor, event.action, event.subject, event.hash)
    known = (isinstance(event.at, datetime), isinstance(event.details, dict))
    if not all(isinstance(text, str) for text in texts) or not all(known):
        raise TypeError("an event has another form")
    canonical([*texts, event.details])
    return event


def actions(connection: sa.Connection) -> list[str]:
    """Every kind of event that the trail holds, as far as it can be read."""
    query = sa.select(audit_events.c.action).distinct().order_by(audit_events.c.action)
    return [each for each in connection.execute(query).scalars() if isinstance(each, str)]


def about(*subjects: str) -> sa.ColumnElement[bool]:
    """What holds of the events about one of these, which are few."""
    return audit_events.c.subject.in_(subjects)


def concerning(connection: sa.Connection, user: User) -> sa.ColumnElement[bool]:
    """What holds of a rights holder's events: those about their data sets, cohorts, the jobs on them, the
    projects that asked for them, and the profiles of their deliveries; of data sets that they review and do
    not own, about the data set and the jobs on it.

    Only ids and names that the platform itself keeps apart stand alone: a data user chooses a job's id, a
    rights holder a cohort's name and a profile's id, and each may be what something else is called. Of jobs
    and cohorts, only their own events count; of profiles, those that name this holder as who asked.

    There may be any number of jobs: the database looks for the one that an event is about.
    """
    subject, action = audit_events.c.subject, audit_events.c.action
    is_owned = datasets.c.owner == user.name
    is_seen = sa.or_(is_owned, datasets.c.name.in_(reviewers.reviewed_by(connection, user)))
    on_seen = jobs.join(datasets, jobs.c.dataset_id == datasets.c.id)
    return sa.or_(
        sa.exists().where(datasets.c.id == subject, is_seen),
        subject.in_(_projects_of(connection, user.name)),
        sa.and_(
            sa.or_(*(action.startswith(start) for start in _OF_JOBS)),
            sa.exists().select_from(on_seen).where(jobs.c.id == subject, is_seen),
        ),
        sa.and_(action.startswith(_OF_COHORTS), sa.exists().where(datasets.c.cohort == subject, is_owned)),
        sa.and_(audit_events.c.actor == user.name, action.in_(_BY_HOLDERS)),
        sa.and_(_of_owner(user.name), action == _BY_WORKERS),
    )


def _of_owner(name: str) -> sa.ColumnElement[bool]:
    """By the text of the details: a database that looks into a document gives up on all rows where one of
    them is none, or holds a letter that it does not take."""
    return sa.cast(audit_events.c.details, sa.Text).contains(f'"owner": {json.dumps(name)}', autoescape=True)


def _projects_of(connection: sa.Connection, owner: str) -> set[str]:
    """Subjects of the projects and grants that are about this rights holder's data, or kept by them."""
    owned = sa.select(datasets.c.name).where(datasets.c.owner == owner)
    asked = sa.select(grants.c.number, grants.c.project).where(grants.c.dataset.in_(owned))
    subjects = set()
    for row in connection.execute(asked):
        subjects |= {subject_of_grant(row.number), subject_of_project(row.project)}
    kept = sa.select(projects.c.name).where(projects.c.made_by == owner, projects.c.lead.is_(None))
    return subjects | set(map(subject_of_project, connection.execute(kept).scalars()))


def jobs_by_state(connection: sa.Connection) -> dict[JobState, int]:
    """How many jobs are in each state."""
    query = sa.select(jobs.c.state, sa.func.count()).group_by(jobs.c.state)
    found = {JobState(state): count for state, count in connection.execute(query)}
    return {state: found.get(state, 0) for state in JobState}


def waiting_since(connection: sa.Connection, states: tuple[JobState, ...], *, now: datetime) -> timedelta:
    """For how long the job has waited that has been in one of these states the longest."""
    query = sa.select(sa.func.min(jobs.c.moved_at)).where(jobs.c.state.in_(states))
    oldest: datetime | None = connection.execute(query).scalar()
    return timedelta(0) if oldest is None else max(timedelta(0), now - oldest)


def decisions(
    connection: sa.Connection, *, actor: str | None = None, job_id: str | None = None, limit: int = 1
) -> list[Event]:
    """What people decided about jobs, newest first: of one person, or about one job."""
    wanted = Wanted(action="job.decide", actor=actor or "")
    among = None if job_id is None else about(job_id)
    return events(connection, wanted, among=among, limit=limit)


def reasons(connection: sa.Connection) -> list[tuple[Reason, int]]:
    """Why jobs could not run, the most frequent first."""
    query = (
        sa.select(jobs.c.reason, sa.func.count()).where(jobs.c.reason.is_not(None)).group_by(jobs.c.reason)
    )
    found = [(Reason[name], count) for name, count in connection.execute(query)]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))
