"""The policies of a data set: numbered, never changed, the newest one in effect for all its versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset, Declaration
from domain.dataset.person_size import check_becomes_padded
from domain.errors import Conflict, InvalidRequest
from domain.permissions import Role
from domain.policy import Policy, changes, on_record
from store import audit, users
from store.database import insert_once
from store.spoilt import readable, reads
from store.tables import Moment, metadata


@dataclass(frozen=True)
class Edition:
    """One policy of a data set: who brought it into effect, when and why. Numbers count from 1."""

    name: str
    number: int
    policy: Policy
    changed_by: str
    at: datetime
    reason: str


def newest_number(name: sa.ColumnElement[str]) -> sa.ScalarSelect[int]:
    """The number of the policy in effect, as part of another statement."""
    own = policies.alias("newest_policies")
    return sa.select(sa.func.max(own.c.number)).where(own.c.name == name).scalar_subquery()


def in_effect(connection: sa.Connection, name: str) -> Edition | None:
    """The newest; None for a name that nobody registered."""
    row = connection.execute(_newest_first(name).limit(1)).one_or_none()
    return None if row is None else _edition(row)


def history(connection: sa.Connection, name: str, *, limit: int = 200) -> list[Edition]:
    """All of them, the newest first."""
    return readable(_edition, connection.execute(_newest_first(name).limit(limit)))


def _newest_first(name: str) -> sa.Select[Any]:
    return sa.select(policies).where(policies.c.name == name).order_by(policies.c.number.desc())


def declare(
    connection: sa.Connection,
    *,
    declaration: Declaration,
    dataset_id: str,
    version: int,
    owner: str,
    now: datetime,
) -> int:
    """The policy that came with a registration: the number of the one in effect from now on."""
    present = in_effect(connection, declaration.name)
    if present is not None and present.policy == declaration.policy:
        return present.number
    check_reviewers(connection, declaration.policy, owner=owner, within="policy.")
    edition = Edition(
        name=declaration.name,
        number=present.number + 1 if present else 1,
        policy=declaration.policy,
        changed_by=owner,
        at=now,
        reason=f"declared with version {version}",
    )
    _add(connection, edition, dataset_id=dataset_id, before=present)
    return edition.number


def change(
    connection: sa.Connection,
    *,
    dataset: Dataset,
    policy: Policy,
    expected: int,
    by: str,
    reason: str,
    now: datetime,
) -> Edition:
    """Bring another policy into effect. `expected` is the number that the change was made from.

    Raises Conflict when another one is in effect by now, InvalidRequest when it does not fit the data set,
    names as reviewer who cannot be one, or changes nothing.
    """
    present = in_effect(connection, dataset.name)
    if present is None or present.number != expected:
        raise changed_meanwhile(present.number if present else 0)
    check_fits(connection, dataset, policy)
    if policy == present.policy:
        raise InvalidRequest("policy", f"is the same as number {expected}, which is in effect.")
    edition = Edition(
        name=dataset.name, number=expected + 1, policy=policy, changed_by=by, at=now, reason=reason
    )
    _add(connection, edition, dataset_id=dataset.id, before=present)
    return edition


def check_fits(connection: sa.Connection, dataset: Dataset, policy: Policy) -> None:
    """Raises InvalidRequest when this policy cannot be in effect for the data set."""
    if problem := dataset.declaration.problem_of(policy):
        raise InvalidRequest("max_epsilon_per_project", f"{problem}.")
    check_becomes_padded(dataset.declaration, policy)
    check_reviewers(connection, policy, owner=dataset.owner)


def check_reviewers(connection: sa.Connection, policy: Policy, *, owner: str, within: str = "") -> None:
    """Raises InvalidRequest unless every reviewer is another rights holder who can log in."""
    if not policy.reviewers:
        return
    holders = {user.name for user in users.listed(connection) if user.role is Role.RIGHTS_HOLDER}
    holders -= users.disabled(connection)
    for name in policy.reviewers:
        if name == owner:
            raise InvalidRequest(
                f"{within}reviewers", f"{name} owns the data set and may review anyway.", "Leave it out."
            )
        if name not in holders:
            raise InvalidRequest(
                f"{within}reviewers", f"{name} is no rights holder here.", "Ask the operator for their name."
            )


def _add(connection: sa.Connection, edition: Edition, *, dataset_id: str, before: Edition | None) -> None:
    values = {
        "name": edition.name,
        "number": edition.number,
        "body": edition.policy.model_dump(mode="json"),
        "changed_by": edition.changed_by,
        "at": edition.at,
        "reason": edition.reason,
    }
    if not insert_once(connection, policies, values):
        raise changed_meanwhile(edition.number)
    if before is None:
        return  # the registration itself is the event
    audit.append(
        connection,
        at=edition.at,
        actor=edition.changed_by,
        action="policy.change",
        subject=dataset_id,
        name=edition.name,
        number=edition.number,
        fields=sorted(changes(before.policy, edition.policy)),
        reason=edition.reason,
    )


def changed_meanwhile(number: int) -> Conflict:
    """What a change is told that was made from another policy than the one in effect."""
    return Conflict(
        "number",
        f"somebody changed the policy meanwhile: number {number} is in effect.",
        "Look at it, then make your change to that one.",
    )


@reads("the policy of data set", by="name")
def _edition(row: sa.Row[Any]) -> Edition:
    fields = dict(row._mapping)
    return Edition(
        name=fields["name"],
        number=fields["number"],
        policy=on_record(fields["body"]),
        changed_by=fields["changed_by"],
        at=fields["at"],
        reason=fields["reason"],
    )


# Policies as versions: their table. Triggers in the migration make it append-only.

policies = sa.Table(
    "policies",
    metadata,
    # of the data set, whatever its version
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.JSON, nullable=False),
    sa.Column("changed_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("reason", sa.String(1000), nullable=False),
    sa.CheckConstraint("number >= 1", name="counted"),
)
