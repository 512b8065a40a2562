"""Scrambled twins: offered, signed for by named people, then sent, handed out, and taken under terms.

This is the one place where original values pass the gateway without noise. Not a byte of them comes before
the signatures: until then the platform knows digests, dates and what people typed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Base64Bytes, Field

from desk.rights import needs
from desk.scramble_views import ScrambleView
from domain.dataset import Dataset
from domain.errors import Conflict, InvalidRequest
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.scrambled import PART_BYTES, Offer, Scramble, Sha256
from domain.scrambled_archive import check_archive
from store import datasets, scrambled, scrambled_files
from store.database import Database

_MOST_ENCODED = 4 * (PART_BYTES // 3 + 2)


class NewSignature(Model):
    """`sign` needs the digest of the leak report, and the word that it was read; `refuse` a reason."""

    decision: Literal["sign", "refuse"]
    leak_report: Annotated[Sha256 | None, Field(description="SHA-256 of the leak report that you read")] = (
        None
    )
    has_read: bool = False
    record: Annotated[
        Sha256 | None, Field(description="SHA-256 of the scramble.json of the folder that you looked at")
    ] = None
    reason: str = ""


class Part(Model):
    """A piece of the archive, in base64."""

    content: Annotated[Base64Bytes, Field(max_length=_MOST_ENCODED)]


class ScrambleWithdrawal(Model):
    """Why it is withdrawn; reviewers alone read it."""

    reason: str = ""


class Acceptance(Model):
    """Which terms somebody agrees to: the digest that came with them."""

    terms: Sha256


@needs(Permission.DATASET_READ)
def list_scrambles(database: Database, user: User, name: Slug) -> list[ScrambleView]:
    """Reviewers see all of them; others the one that is handed out, and those that they have taken."""
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        found = scrambled.visible_to(connection, dataset, user)
        return [ScrambleView.of(scrambled_files.seen(connection, one, dataset, user)) for one in found]


@needs(Permission.TWIN_MAKE)
def offer_scramble(
    database: Database, user: User, name: Slug, scramble_id: str, offer: Offer, is_on: bool
) -> tuple[ScrambleView, bool]:
    """Of a version whose policy says `scrambled_twin: true`, on a platform that allows it. Tells the
    reviewers, who get folder and leak report from you, not from here."""
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        _check_switched_on(is_on)
        found, is_new = scrambled.offer(
            connection,
            scramble_id=scramble_id,
            dataset=dataset,
            offer=offer,
            by=user.name,
            now=datetime.now(UTC),
        )
        view = ScrambleView.of(scrambled_files.seen(connection, found, dataset, user))
    return view, is_new


@needs(Permission.TWIN_DECIDE)
def sign_scramble(
    database: Database, user: User, name: Slug, scramble_id: str, body: NewSignature, is_on: bool
) -> ScrambleView:
    """As many reviewers sign as the policy asks for votes. A signature cannot be changed."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        dataset = datasets.newest(connection, name, user)
        if body.decision == "refuse":
            found = scrambled.refuse(
                connection, dataset=dataset, scramble_id=scramble_id, user=user, reason=body.reason, now=now
            )
            return ScrambleView.of(scrambled_files.seen(connection, found, dataset, user))
        _check_switched_on(is_on)
        if body.leak_report is None:
            raise InvalidRequest("leak_report", "is missing.", "Give the SHA-256 of the report you read.")
        found = scrambled.sign(
            connection,
            dataset=dataset,
            scramble_id=scramble_id,
            user=user,
            leak_report=body.leak_report,
            record=body.record,
            has_read=body.has_read,
            now=now,
        )
        return ScrambleView.of(scrambled_files.seen(connection, found, dataset, user))


@needs(Permission.TWIN_MAKE)
def send_part(
    database: Database, user: User, name: Slug, scramble_id: str, number: int, body: Part, is_on: bool
) -> ScrambleView:
    """The last one that was missing has all of them checked against the record that people signed. What does
    not agree with it is forgotten; what does is handed out from then on."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        _check_switched_on(is_on)
        is_whole = scrambled_files.put_part(
            connection,
            dataset=dataset,
            scramble_id=scramble_id,
            number=number,
            content=body.content,
            now=now,
        )
    if is_whole:
        _attach(database, dataset, scramble_id, user, now)
    with database.reading() as connection:
        found = scrambled.get(connection, dataset, scramble_id)
        return ScrambleView.of(scrambled_files.seen(connection, found, dataset, user))


@needs(Permission.TWIN_WITHDRAW)
def withdraw_scramble(
    database: Database, user: User, name: Slug, scramble_id: str, body: ScrambleWithdrawal
) -> ScrambleView:
    """Its files are gone from here. The answer names those who have taken it and must delete it."""
    with database.transaction() as connection:
        dataset = datasets.newest(connection, name, user)
        found = scrambled_files.withdraw(
            connection,
            dataset=dataset,
            scramble_id=scramble_id,
            user=user,
            reason=body.reason,
            now=datetime.now(UTC),
        )
        return ScrambleView.of(scrambled_files.seen(connection, found, dataset, user))


@needs(Permission.TWIN_TAKE)
def download_scramble(
    database: Database, user: User, name: Slug, scramble_id: str, body: Acceptance, is_on: bool
) -> tuple[int, Iterator[bytes]]:
    """Each download is recorded with the terms, before its first byte. One that is withdrawn meanwhile breaks
    off."""
    with database.transaction() as connection:
        dataset = datasets.newest(connection, name, user)
        _check_switched_on(is_on)
        found = scrambled_files.take(
            connection,
            dataset=dataset,
            scramble_id=scramble_id,
            user=user,
            terms=body.terms,
            now=datetime.now(UTC),
        )
    assert found.size is not None  # its files are here, or nobody could take it
    return found.size, _parts(database, found)


def _check_switched_on(is_on: bool) -> None:
    """Raises Conflict where the operator has not allowed it."""
    if not is_on:
        raise Conflict(
            "platform",
            "scrambled twins are switched off on this platform.",
            "Its operator can set DPGATE_SCRAMBLED_TWINS=true.",
        )


def _attach(database: Database, dataset: Dataset, scramble_id: str, user: User, now: datetime) -> None:
    """Check outside the transaction, for it takes a while; what came meanwhile is noticed."""
    with database.reading() as connection:
        offer = scrambled.get(connection, dataset, scramble_id).offer
        digests = scrambled_files.part_digests(connection, scramble_id)
        content = scrambled_files.archive(connection, scramble_id)
    try:
        check_archive(content, offer)
    except (InvalidRequest, Conflict):
        with database.transaction() as connection:
            scrambled_files.drop(connection, scramble_id)
        raise
    with database.transaction() as connection:
        scrambled_files.attach(
            connection,
            dataset=dataset,
            scramble_id=scramble_id,
            digests=digests,
            size=len(content),
            by=user.name,
            now=now,
        )


def _parts(database: Database, found: Scramble) -> Iterator[bytes]:
    """One at a time: a slow reader holds no connection, and a withdrawal ends what is under way."""
    for number in range(1, found.offer.parts + 1):
        with database.reading() as connection:
            content = scrambled_files.part(connection, found.id, number)
        if content is None:
            return
        yield content
