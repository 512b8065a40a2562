"""The files of scrambled folders: in parts, handed out only while somebody answers for them.

They come after the signatures, and are gone in the transaction that ends their scramble. SQLite overwrites
what is deleted when it next writes its log back; PostgreSQL keeps it until it next tidies up. Copies of
either that somebody made keep it for good.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa

from domain.dataset import Dataset, DatasetState
from domain.errors import Conflict, InvalidRequest, NotFound
from domain.notice import NoticeKind
from domain.permissions import User
from domain.review import check_reason
from domain.scrambled import OPEN, PART_BYTES, Scramble, ScrambleState
from domain.states import Actor
from store import reviewers, scrambled
from store.database import insert_once
from store.scrambled_tables import scramble_parts, scramble_takers, scrambles
from store.tables import datasets as versions
from store.twin_reviews import tell_reviewers

S = ScrambleState


@dataclass(frozen=True)
class Seen:
    """A scramble as somebody may see it. `missing`: signatures, by the policy in effect."""

    scramble: Scramble
    is_of_newest_version: bool
    missing: int
    is_reviewer: bool
    takers: tuple[tuple[str, datetime], ...]


def put_part(
    connection: sa.Connection,
    *,
    dataset: Dataset,
    scramble_id: str,
    number: int,
    content: bytes,
    now: datetime,
) -> bool:
    """Keep one part of the archive, counted from 1; whether all are here and nobody has checked them.

    Raises Conflict before it is signed for, and once it is handed out or ended; InvalidRequest for a number
    or size that no part has.
    """
    found = scrambled.get(connection, dataset, scramble_id)
    _check_signed(found, dataset, now.date())
    parts = found.offer.parts
    if not 1 <= number <= parts:
        raise InvalidRequest("number", f"there are parts 1 to {parts}.", "Send these.")
    if not content or len(content) > PART_BYTES or (len(content) < PART_BYTES and number < parts):
        raise InvalidRequest("content", "has not the size of a part.", "Every part but the last has 1 MiB.")
    digest = hashlib.sha256(content).hexdigest()
    own = (scramble_parts.c.scramble_id == scramble_id, scramble_parts.c.number == number)
    if found.state is S.ATTACHED:
        same = sa.select(scramble_parts.c.number).where(*own, scramble_parts.c.sha256 == digest)
        if connection.execute(same).first() is None:
            raise Conflict("scramble", "it is handed out already, with other files.", "Withdraw it first.")
        return False
    connection.execute(sa.delete(scramble_parts).where(*own))
    values = {"scramble_id": scramble_id, "number": number, "sha256": digest, "content": content}
    connection.execute(sa.insert(scramble_parts).values(values))
    return len(part_digests(connection, scramble_id)) == parts


def part_digests(connection: sa.Connection, scramble_id: str) -> tuple[str, ...]:
    """Of the parts that are here, in order."""
    query = sa.select(scramble_parts.c.sha256).where(scramble_parts.c.scramble_id == scramble_id)
    return tuple(connection.execute(query.order_by(scramble_parts.c.number)).scalars())


def archive(connection: sa.Connection, scramble_id: str) -> bytes:
    """All parts that are here, for the check before they are handed out."""
    query = sa.select(scramble_parts.c.content).where(scramble_parts.c.scramble_id == scramble_id)
    return b"".join(connection.execute(query.order_by(scramble_parts.c.number)).scalars())


def drop(connection: sa.Connection, scramble_id: str) -> None:
    """Forget parts that are not what was signed for; those of one that is handed out stay."""
    signed = sa.select(scrambles.c.id).where(scrambles.c.id == scramble_id, scrambles.c.state == S.SIGNED)
    connection.execute(sa.delete(scramble_parts).where(scramble_parts.c.scramble_id.in_(signed)))


def attach(
    connection: sa.Connection,
    *,
    dataset: Dataset,
    scramble_id: str,
    digests: Sequence[str],
    size: int,
    by: str,
    now: datetime,
) -> Scramble:
    """Hand it out from now on. `digests` are of the parts that were checked: another one since then raises
    Conflict, and so does everything that keeps it from being handed out."""
    found = scrambled.get(connection, dataset, scramble_id)
    _check_signed(found, dataset, now.date())
    if tuple(digests) != part_digests(connection, scramble_id):
        raise Conflict("scramble", "other parts came meanwhile.", "Send all of them again.")
    if found.state is S.SIGNED:
        scrambled.move(connection, found, S.ATTACHED, now=now, size=size)
        scrambled.note(
            connection, found.dataset_id, found.id, "scramble.attach", actor=by, now=now,
            signers=list(found.signers), expires=found.expires.isoformat(), bytes=size,
        )  # fmt: skip
    return scrambled.get(connection, dataset, scramble_id)


def take(
    connection: sa.Connection, *, dataset: Dataset, scramble_id: str, user: User, terms: str, now: datetime
) -> Scramble:
    """Record that somebody takes its terms and downloads it: each time, before the first byte leaves.

    Raises NotFound for one that this user may not see, Conflict when it is not handed out, and for terms that
    are not its own.
    """
    seen = {one.id for one in scrambled.visible_to(connection, dataset, user)}
    found = scrambled.get(connection, dataset, scramble_id)
    if found.id not in seen:
        raise NotFound("scramble", "there is no such scrambled twin that you may see.", "Look again.")
    _check_signed(found, dataset, now.date())
    if found.state is not S.ATTACHED:
        raise Conflict("scramble", "its files are not here yet.", "Ask the rights holder to send them.")
    if terms != found.terms_digest:
        raise Conflict("terms", "these are not its terms as they are now.", "Read them again, and agree.")
    values = {"scramble_id": found.id, "taker": user.name, "terms": terms, "first_at": now}
    insert_once(connection, scramble_takers, values)
    scrambled.note(
        connection, found.dataset_id, found.id, "scramble.take", actor=user.name, now=now, terms=terms
    )
    return found


def part(connection: sa.Connection, scramble_id: str, number: int) -> bytes | None:
    """One part, as long as it is handed out."""
    query = (
        sa.select(scramble_parts.c.content)
        .join(scrambles, scrambles.c.id == scramble_parts.c.scramble_id)
        .where(scrambles.c.id == scramble_id, scrambles.c.state == S.ATTACHED)
        .where(scramble_parts.c.number == number)
    )
    content: bytes | None = connection.execute(query).scalar()
    return content


def seen(connection: sa.Connection, found: Scramble, dataset: Dataset, user: User) -> Seen:
    """What this user may know of it beside itself; who has taken it is for reviewers."""
    is_reviewer = reviewers.is_reviewer(connection, user, dataset.name)
    takers: list[tuple[str, datetime]] = []
    if is_reviewer:
        query = sa.select(scramble_takers.c.taker, scramble_takers.c.first_at)
        own = query.where(scramble_takers.c.scramble_id == found.id).order_by(scramble_takers.c.first_at)
        takers = [(row.taker, row.first_at) for row in connection.execute(own)]
    lacking = scrambled.missing(found, dataset)
    return Seen(found, found.dataset_id == dataset.id, lacking, is_reviewer, tuple(takers))


def withdraw(
    connection: sa.Connection, *, dataset: Dataset, scramble_id: str, user: User, reason: str, now: datetime
) -> Scramble:
    """No longer handed out, from this moment; its files are gone. Any one reviewer may, whatever the policy
    or the platform's settings are now. Withdrawing twice is harmless."""
    if not reviewers.is_reviewer(connection, user, dataset.name):
        raise NotFound("dataset", f"there is no data set {dataset.name} that you review.")
    found = scrambled.get(connection, dataset, scramble_id)
    plain = check_reason(reason, needed=False)
    if found.state is S.WITHDRAWN:
        return found
    if not found.state.is_open:
        raise Conflict("scramble", f"it was {found.state} before.", "Its files are gone already.")
    scrambled.move(connection, found, S.WITHDRAWN, now=now)
    scrambled.note(
        connection, found.dataset_id, found.id, "scramble.withdraw", actor=user.name, now=now, reason=plain
    )
    tell_reviewers(connection, dataset, NoticeKind.TWIN_DECIDED, now=now, by=user.name, decision="withdrawn")
    return scrambled.get(connection, dataset, scramble_id)


def old(connection: sa.Connection, *, now: datetime) -> list[tuple[str, bool]]:
    """Those that have to end, by id: what is over (True), and what belongs to a version after which another
    one is ready (False)."""
    later = versions.alias()
    newer = sa.exists().where(
        later.c.name == versions.c.name,
        later.c.version > versions.c.version,
        later.c.state == DatasetState.READY,
    )
    is_over = scrambles.c.expires < now.date()
    query = (
        sa.select(scrambles.c.id, is_over.label("is_over"))
        .join(versions, versions.c.id == scrambles.c.dataset_id)
        .where(scrambles.c.state.in_(OPEN), sa.or_(is_over, newer))
    )
    return [(row.id, bool(row.is_over)) for row in connection.execute(query)]


def end(connection: sa.Connection, scramble_id: str, *, is_over: bool, now: datetime) -> None:
    """End one of these, by the sweep; its files are gone. Raises Conflict when it has just ended."""
    found = scrambled.by_id(connection, scramble_id)
    if not found.state.is_open:
        raise Conflict("scramble", f"it was {found.state} before.", "Nothing is left to do.")
    scrambled.move(connection, found, S.EXPIRED if is_over else S.WITHDRAWN, now=now)
    action = "scramble.expire" if is_over else "scramble.withdraw"
    scrambled.note(connection, found.dataset_id, scramble_id, action, actor=Actor.SWEEP, now=now)


def _check_signed(found: Scramble, dataset: Dataset, today: date) -> None:
    """Raises Conflict unless its files may be here now: allowed, of this version, signed for, not over."""
    scrambled.check_policy(dataset)
    scrambled.check_day(found, today)
    if found.dataset_id != dataset.id:
        raise Conflict("scramble", "it belongs to an older version.", "Offer one of this version.")
    if lacking := scrambled.missing(found, dataset):
        raise Conflict(
            "scramble",
            f"{lacking} more of the reviewers of {dataset.name} must sign for it.",
            f"They read the leak report and sign: `dpgate twin scramble sign {dataset.name} FOLDER`.",
        )
