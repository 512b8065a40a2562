"""Releases: written once, in the transaction that draws the noise, and never changed.

Whoever reads one gets what the worker zone has signed, or a refusal: `_get` is the only way to a body.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, NotFound, NotReady
from domain.job import Job
from domain.model import canonical
from domain.refusals import jobs as refusals
from domain.release import Release, opened, signs
from domain.states import JobState
from store.database import PINNED, insert_once
from store.envelopes import is_signed, key_id, raw
from store.tables import platform_facts, releases

SIGNING_KEY = "certificate public key"
_MALFORMED = (AttributeError, KeyError, TypeError, ValueError, RecursionError, ArithmeticError)


def insert(connection: sa.Connection, release: Release) -> None:
    """Keep a release. The database refuses a second one for the same job."""
    values = {
        "id": release.id,
        "job_id": release.job_id,
        "body": release.model_dump(mode="json"),
        "created_at": release.created_at,
    }
    connection.execute(sa.insert(releases).values(values))


def read(connection: sa.Connection, job: Job) -> Release:
    """The release that answers a job. Raises Conflict until the job is RELEASED."""
    # the state decides, not the row: a release is on record while reviewers look at it, and if withheld
    _check_released(job)
    return _get(connection, job)


def id_of(connection: sa.Connection, job: Job) -> str:
    """The id of that release, without reading it. Raises as `read`."""
    _check_released(job)
    query = sa.select(releases.c.id).where(releases.c.job_id == (job.answered_by or job.id))
    found: str | None = connection.execute(query).scalar()
    if found is None:
        raise _no_release()
    return found


def read_for_review(connection: sa.Connection, job: Job) -> Release:
    """The release of a job in review, for the reviewer."""
    if job.state not in (JobState.IN_REVIEW, JobState.RELEASED):
        raise Conflict("job", f"the job is {job.state}; there is nothing to review.")
    return _get(connection, job)


def digests(connection: sa.Connection) -> dict[str, str]:
    """Of every release as it stands there now, by its job; nothing, of one that is no document."""
    return {job_id: _digest(body) for job_id, body in _bodies(connection)}


def ids(connection: sa.Connection) -> dict[str, str]:
    """Of every release, by its job: what is in the digest, not the row's own, which anybody may write."""
    return {job_id: str(body.get("id")) for job_id, body in _bodies(connection) if isinstance(body, dict)}


def _bodies(connection: sa.Connection) -> Iterator[tuple[str, Any]]:
    """None for one that is no document."""
    for job_id, text in connection.execute(sa.select(releases.c.job_id, sa.cast(releases.c.body, sa.Text))):
        try:
            yield job_id, json.loads(text)
        except (ValueError, RecursionError):
            yield job_id, None


def _digest(body: Any) -> str:
    try:
        return "" if body is None else hashlib.sha256(canonical(body)).hexdigest()
    except (ValueError, RecursionError):
        return ""


def publish_key(connection: sa.Connection, public_key: str) -> None:
    """Let everyone read the key that certificates are signed with: once for good. Raises NotReady for a zone
    with another one, whose certificates nobody could check beside those that are out."""
    if insert_once(connection, platform_facts, {"name": SIGNING_KEY, "value": public_key}):
        return
    if _published(connection) != public_key:
        raise NotReady(
            "this worker's master key is not that of the worker zone this platform has: put its master.key "
            "back, or name the right DPGATE_ZONE_FOLDER. A new zone needs a new database"
        )


def public_key(connection: sa.Connection) -> str | None:
    """That key; None where there is none, or not the one that this process was told to believe."""
    found = _published(connection)
    pinned = connection.get_execution_options().get(PINNED)
    return found if found is None or pinned in (None, _id(found)) else None


def _id(public_pem: str) -> str:
    try:
        return key_id(raw(public_pem))
    except ValueError:
        return ""


def _published(connection: sa.Connection) -> str | None:
    query = sa.select(platform_facts.c.value).where(platform_facts.c.name == SIGNING_KEY)
    found = connection.execute(query).scalar()
    return found if isinstance(found, str) else None


def _get(connection: sa.Connection, job: Job) -> Release:
    job_id = job.answered_by or job.id
    body = connection.execute(sa.select(releases.c.body).where(releases.c.job_id == job_id)).scalar()
    if body is None:
        raise _no_release()
    release = _signed(body, public_key(connection), question=job.question)
    if release is None or release.job_id != job_id:
        raise refusals.REWRITTEN()
    return release


def _signed(body: Any, public_key: str | None, *, question: str) -> Release | None:
    """The release, if all of it is as the zone's key has signed it, for this question."""
    try:
        release = Release.model_validate(body)
        public, certificate = raw(public_key or ""), release.certificate
        (signature,) = certificate["signatures"]
        statement = opened(certificate)
        is_whole = (
            is_signed(certificate, by=public)
            # what no signature covers, and whoever reads it takes for signed
            and set(certificate) == {"payloadType", "payload", "signatures"}
            and signature.get("keyid", key_id(public)) == key_id(public)
            and statement["predicate"].get("question", question) == question
            and signs(statement, release)
        )
    except _MALFORMED:
        return None
    return release if is_whole else None


def _check_released(job: Job) -> None:
    if job.state is not JobState.RELEASED:
        raise refusals.NO_RELEASE(state=job.state)


def _no_release() -> NotFound:
    return NotFound("job", "there is no release of this job.")
