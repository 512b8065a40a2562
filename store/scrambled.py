"""Scrambled folders on record: who offered one, who signed for it, and where it stands.

An offer holds digests and words that a person typed; signatures confirm that somebody read the leak report,
which never comes here. Files may come when as many reviewers have signed as the policy in effect asks for.
"""

from __future__ import annotations

from datetime import date, datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.errors import Conflict, InvalidRequest, NotFound
from domain.notice import NoticeKind
from domain.permissions import User
from domain.review import check_reason
from domain.scrambled import OPEN, Offer, Scramble, ScrambleState, Signature, missing_signatures
from store import audit, reviewers
from store.database import insert_once
from store.scrambled_tables import scramble_parts, scramble_signatures, scramble_takers, scrambles
from store.spoilt import readable, reads
from store.tables import datasets as versions
from store.twin_reviews import tell_reviewers

S = ScrambleState


def offer(
    connection: sa.Connection, *, scramble_id: str, dataset: Dataset, offer: Offer, by: str, now: datetime
) -> tuple[Scramble, bool]:
    """A new one, or the one that this very request made before: (scramble, is it new?).

    Raises Conflict for an id that stands for another one, a policy that does not allow it, and while another
    one of this version is open; as `Offer.check` does for one that cannot be taken.
    """
    present = _find(connection, scrambles.c.id == scramble_id)
    if present is not None:
        if (present.offered_by, present.dataset_id, present.offer) != (by, dataset.id, offer):
            raise Conflict("scramble_id", "this id stands for another one.", "Choose a new id.")
        return present, False
    check_policy(dataset)
    dataset.check_ready()
    offer.check(now.date())
    values = {
        "id": scramble_id,
        "dataset_id": dataset.id,
        "offered_by": by,
        "offered_at": now,
        "offer": offer.model_dump(mode="json"),
        "expires": offer.agreement.expires,
        "state": S.WAITING,
        "moved_at": now,
    }
    if not insert_once(connection, scrambles, values):
        raise Conflict(
            "scramble", f"another one of version {dataset.version} is open.", "Withdraw that one first."
        )
    note(connection, dataset.id, scramble_id, "scramble.offer", actor=by, now=now, **_said(offer))
    tell_reviewers(connection, dataset, NoticeKind.TWIN_WAITS, now=now)
    return _get(connection, scrambles.c.id == scramble_id), True


def get(connection: sa.Connection, dataset: Dataset, scramble_id: str) -> Scramble:
    """Of any version of this data set. Raises NotFound."""
    return _get(connection, scrambles.c.id == scramble_id, _of_name(dataset.name))


def by_id(connection: sa.Connection, scramble_id: str) -> Scramble:
    """Of any data set, for the platform itself. Raises NotFound."""
    return _get(connection, scrambles.c.id == scramble_id)


def visible_to(connection: sa.Connection, dataset: Dataset, user: User) -> list[Scramble]:
    """Newest first: all of them for reviewers; for others the one that is handed out, and what they took."""
    query = sa.select(scrambles).where(_of_name(dataset.name)).order_by(scrambles.c.offered_at.desc())
    found = readable(partial(_scramble, connection=connection), connection.execute(query))
    if reviewers.is_reviewer(connection, user, dataset.name):
        return found
    mine = sa.select(scramble_takers.c.scramble_id).where(scramble_takers.c.taker == user.name)
    taken = set(connection.execute(mine).scalars())
    return [one for one in found if one.id in taken or _is_out(one, dataset)]


def waiting(connection: sa.Connection, dataset: Dataset) -> Scramble | None:
    """The one of this version that waits for signatures, if any."""
    return _find(connection, scrambles.c.dataset_id == dataset.id, scrambles.c.state == S.WAITING)


def all_waiting(connection: sa.Connection) -> list[Scramble]:
    """Those of all data sets that wait for signatures."""
    query = sa.select(scrambles).where(scrambles.c.state == S.WAITING)
    return readable(partial(_scramble, connection=connection), connection.execute(query))


def sign(
    connection: sa.Connection,
    *,
    dataset: Dataset,
    scramble_id: str,
    user: User,
    leak_report: str,
    record: str | None,
    has_read: bool,
    now: datetime,
) -> Scramble:
    """Sign for it. The one signature that is still needed lets the files come.

    Raises NotFound for somebody who does not review the data set, InvalidRequest for a digest that is of
    another report or folder, Conflict when it is over, was ended, or the user has signed.
    """
    found = _open_to(connection, dataset, scramble_id, user)
    check_policy(dataset)
    check_day(found, now.date())
    if not has_read:
        raise InvalidRequest("has_read", "must be true.", "Read the leak report, then confirm that you did.")
    if leak_report != found.offer.leak_report:
        raise InvalidRequest(
            "leak_report", "is the digest of another report.", "Read the report that came with this folder."
        )
    if record is not None and record != found.offer.record:
        raise InvalidRequest(
            "record", "is the digest of another folder.", "Look at the folder that was offered."
        )
    _keep(connection, found, Signature(user.name, True, "", now))
    details = {"decision": "sign", "leak_report": leak_report}
    note(connection, found.dataset_id, found.id, "scramble.sign", actor=user.name, now=now, **details)
    signed = get(connection, dataset, scramble_id)
    if signed.state is S.WAITING and not missing(signed, dataset):
        move(connection, signed, S.SIGNED, now=now)
        tell_reviewers(connection, dataset, NoticeKind.TWIN_DECIDED, now=now, by=user.name, decision="signed")
    return get(connection, dataset, scramble_id)


def refuse(
    connection: sa.Connection, *, dataset: Dataset, scramble_id: str, user: User, reason: str, now: datetime
) -> Scramble:
    """Refuse to sign: it never comes. One refusal refuses. Raises as `sign`, and InvalidRequest without a
    reason."""
    found = _open_to(connection, dataset, scramble_id, user)
    if found.state is S.ATTACHED:
        raise Conflict("scramble", "it is handed out already.", "Withdraw it.")
    plain = check_reason(reason, needed=True)
    _keep(connection, found, Signature(user.name, False, plain, now))
    details = {"decision": "refuse", "reason": plain}
    note(connection, found.dataset_id, found.id, "scramble.sign", actor=user.name, now=now, **details)
    move(connection, found, S.REFUSED, now=now)
    tell_reviewers(connection, dataset, NoticeKind.TWIN_DECIDED, now=now, by=user.name, decision="refused")
    return get(connection, dataset, scramble_id)


def missing(found: Scramble, dataset: Dataset) -> int:
    """How many reviewers still have to sign, by the policy in effect."""
    return missing_signatures(found.signers, needed=dataset.declaration.policy.votes)


def check_policy(dataset: Dataset) -> None:
    """Raises Conflict where the policy in effect does not allow scrambled twins."""
    if not dataset.declaration.policy.scrambled_twin:
        raise Conflict(
            "policy",
            f"the policy of {dataset.name} does not allow a scrambled twin.",
            "Its rights holder can set scrambled_twin: true.",
        )


def check_day(found: Scramble, today: date) -> None:
    """Raises Conflict for one whose last day is over, or that was ended."""
    if found.is_over(today) or found.state is S.EXPIRED:
        raise Conflict("scramble", f"it expired on {found.expires}.", "Delete every copy of it.")
    if found.state is S.WITHDRAWN:
        raise Conflict("scramble", "it was withdrawn.", "Delete every copy of it.")
    if found.state is S.REFUSED:
        raise Conflict("scramble", "a reviewer refused to sign for it.", "Offer another one.")


def move(
    connection: sa.Connection, found: Scramble, after: ScrambleState, *, now: datetime, **more: Any
) -> None:
    """By compare-and-set; whatever ends takes its files along. Raises Conflict when it has just moved on."""
    change = sa.update(scrambles).where(scrambles.c.id == found.id, scrambles.c.state == found.state)
    if connection.execute(change.values(state=after, moved_at=now, **more)).rowcount != 1:
        raise Conflict("scramble", "it has just moved on.", "Look at it again.")
    if not after.is_open:
        connection.execute(sa.delete(scramble_parts).where(scramble_parts.c.scramble_id == found.id))


def note(
    connection: sa.Connection, dataset_id: str, scramble_id: str, action: str, *, actor: str, now: datetime,
    **details: Any,
) -> None:  # fmt: skip
    """One event of the audit trail, about the version of the data set."""
    audit.append(
        connection, at=now, actor=actor, action=action, subject=dataset_id, scramble=scramble_id, **details
    )


def _open_to(connection: sa.Connection, dataset: Dataset, scramble_id: str, user: User) -> Scramble:
    """For a reviewer who has not yet said anything about it; two last signatures wait for each other."""
    if not reviewers.is_reviewer(connection, user, dataset.name):
        raise NotFound("dataset", f"there is no data set {dataset.name} that you review.")
    locked = sa.select(scrambles.c.id).where(scrambles.c.id == scramble_id).with_for_update()
    connection.execute(locked)
    found = get(connection, dataset, scramble_id)
    if found.state not in OPEN:
        raise Conflict("scramble", f"it was {found.state} before.", "Nothing is left to decide.")
    return found


def _keep(connection: sa.Connection, found: Scramble, one: Signature) -> None:
    values = {
        "scramble_id": found.id, "signer": one.signer, "signs": one.signs, "reason": one.reason, "at": one.at,
    }  # fmt: skip
    if not insert_once(connection, scramble_signatures, values):
        raise Conflict("signature", "you have signed it; that cannot be changed.", "Withdraw it instead.")


def _is_out(one: Scramble, dataset: Dataset) -> bool:
    allowed = dataset.declaration.policy.scrambled_twin and not missing(one, dataset)
    return allowed and one.state is S.ATTACHED and one.dataset_id == dataset.id


def _said(offer: Offer) -> dict[str, Any]:
    agreement = offer.agreement.model_dump(mode="json")
    return {"record": offer.record, "leak_report": offer.leak_report, "method": offer.method, **agreement}


def _of_name(name: str) -> sa.ColumnElement[bool]:
    return scrambles.c.dataset_id.in_(sa.select(versions.c.id).where(versions.c.name == name))


def _get(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> Scramble:
    found = _find(connection, *where)
    if found is None:
        raise NotFound(
            "scramble", "there is no such scrambled twin that you may see.", "Look at the data set's page."
        )
    return found


def _find(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> Scramble | None:
    row = connection.execute(sa.select(scrambles).where(*where)).one_or_none()
    return None if row is None else _scramble(row, connection)


@reads("scrambled twin")
def _scramble(row: sa.Row[Any], connection: sa.Connection) -> Scramble:
    query = sa.select(scramble_signatures).where(scramble_signatures.c.scramble_id == row.id)
    signatures = tuple(
        Signature(each.signer, each.signs, each.reason, each.at)
        for each in connection.execute(query.order_by(scramble_signatures.c.at, scramble_signatures.c.signer))
    )
    return Scramble(
        id=row.id,
        dataset_id=row.dataset_id,
        offered_by=row.offered_by,
        offered_at=row.offered_at,
        offer=Offer.model_validate(row.offer),
        state=ScrambleState(row.state),
        moved_at=row.moved_at,
        signatures=signatures,
        size=row.size,
    )
