"""Data sets, their versions, and the cohorts whose budget they share."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.dataset import Dataset, DatasetState, Declaration, ImportProblem
from domain.errors import Conflict, InvalidRequest, NotFound
from domain.permissions import User, may_see_dataset
from privacy.loss import format_epsilon
from store import audit, ledger
from store.database import insert_once
from store.tables import cohorts, datasets


def register(
    connection: sa.Connection, *, declaration: Declaration, owner: str, delivery: str, now: datetime
) -> Dataset:
    """A new data set or a new version of one. Versions of a name share its cohort, so its budget goes on.

    Raises Conflict when the name belongs to somebody else, InvalidRequest when the cohort or its cap differ.
    """
    latest = _latest(connection, declaration.name)
    if latest is not None and latest.owner != owner:
        raise Conflict("name", f"the name {declaration.name} is taken.", "Choose another name.")
    # versions that were refused spent nothing and bind nothing: their cohort may have been the mistake
    binding = _latest(connection, declaration.name, but_not=DatasetState.REFUSED)
    cohort = declaration.cohort or (binding.cohort if binding else declaration.name)
    if binding is not None and cohort != binding.cohort:
        raise InvalidRequest(
            "cohort", f"version {binding.version} is in cohort {binding.cohort}.", "Keep it there."
        )
    _join_cohort(connection, cohort=cohort, owner=owner, cap=declaration.budget_micro_epsilon, now=now)
    values = {
        "id": str(uuid.uuid4()),
        "name": declaration.name,
        "version": latest.version + 1 if latest else 1,
        "owner": owner,
        "cohort": cohort,
        "declaration": declaration.model_dump(mode="json"),
        "delivery": delivery,
        "state": DatasetState.IMPORTING,
        "created_at": now,
    }
    if not insert_once(connection, datasets, values):
        raise Conflict("name", "another version came at the same moment.", "Look at it, then register again.")
    audit.append(
        connection,
        at=now,
        actor=owner,
        action="dataset.register",
        subject=str(values["id"]),
        name=declaration.name,
        version=values["version"],
        cohort=cohort,
        new_people=declaration.new_people,
    )
    return get(connection, str(values["id"]))


def finish_import(
    connection: sa.Connection,
    *,
    dataset_id: str,
    snapshot: str | None,
    problem: ImportProblem | None,
    now: datetime,
) -> bool:
    """READY with a snapshot or REFUSED with a problem; compare-and-set. False when it was finished before."""
    if (snapshot is None) == (problem is None):
        raise ValueError("an import ends with either a snapshot or a problem")
    state = DatasetState.READY if snapshot else DatasetState.REFUSED
    changed = connection.execute(
        sa.update(datasets)
        .where(datasets.c.id == dataset_id, datasets.c.state == DatasetState.IMPORTING)
        .values(state=state, snapshot=snapshot, problem=problem.name if problem else None)
    )
    if changed.rowcount == 1:
        audit.append(
            connection, at=now, actor="worker", action="dataset.import", subject=dataset_id, state=state
        )
    return changed.rowcount == 1


def get(connection: sa.Connection, dataset_id: str) -> Dataset:
    row = connection.execute(sa.select(datasets).where(datasets.c.id == dataset_id)).one_or_none()
    if row is None:
        raise NotFound("dataset", "there is no such data set.", "See `dpgate datasets`.")
    return _dataset(row)


def delivery_of(connection: sa.Connection, dataset_id: str) -> str:
    """The name under which the rights holder delivered the files to the worker zone."""
    found: str = connection.execute(
        sa.select(datasets.c.delivery).where(datasets.c.id == dataset_id)
    ).scalar_one()
    return found


def settled_deliveries(connection: sa.Connection, names: Iterable[str]) -> set[str]:
    """Those of the deliveries that some registration was for and that no import needs any more."""
    query = sa.select(datasets.c.delivery, datasets.c.state).where(datasets.c.delivery.in_(list(names)))
    found = [(row.delivery, row.state) for row in connection.execute(query)]
    needed = {delivery for delivery, state in found if state == DatasetState.IMPORTING}
    return {delivery for delivery, _ in found} - needed


def newest(connection: sa.Connection, name: str, user: User) -> Dataset:
    """The newest version that is ready, or else the newest; NotFound unless this user may see it."""
    ready = _latest(connection, name, state=DatasetState.READY) or _latest(connection, name)
    if ready is None or not _visible(ready, user):
        # the same words for absent and forbidden: a name is not confirmed to those who may not see it
        raise NotFound("dataset", f"there is no data set {name} that you may use.", "See `dpgate datasets`.")
    return ready


def newest_registration(connection: sa.Connection, name: str, user: User) -> Dataset:
    """The newest version in whatever state, for its rights holder."""
    latest = _latest(connection, name)
    if latest is None or latest.owner != user.name:
        raise NotFound("dataset", f"there is no data set {name} of yours.", "See `dpgate datasets`.")
    return latest


def visible_to(connection: sa.Connection, user: User) -> list[Dataset]:
    """The newest version of every data set that this user may see, by name."""
    names = connection.execute(sa.select(datasets.c.name).distinct().order_by(datasets.c.name)).scalars()
    found = [
        _latest(connection, name, state=DatasetState.READY) or _latest(connection, name) for name in names
    ]
    return [dataset for dataset in found if dataset is not None and _visible(dataset, user)]


def importing(connection: sa.Connection, *, older_than_s: float, now: datetime) -> list[str]:
    """Ids of the data sets whose import was asked for so long ago and has not ended."""
    query = sa.select(datasets.c.id).where(
        datasets.c.state == DatasetState.IMPORTING,
        datasets.c.created_at <= now - timedelta(seconds=older_than_s),
    )
    return list(connection.execute(query).scalars())


def living_cohorts(connection: sa.Connection) -> list[str]:
    """Cohorts that hold at least one data set that is imported or is being imported."""
    query = sa.select(datasets.c.cohort).where(datasets.c.state != DatasetState.REFUSED).distinct()
    return sorted(connection.execute(query).scalars())


def _join_cohort(connection: sa.Connection, *, cohort: str, owner: str, cap: int, now: datetime) -> None:
    if insert_once(connection, cohorts, {"id": cohort, "owner": owner, "created_at": now}):
        ledger.open_account(connection, cohort=cohort, kind="cohort", holder=cohort, cap=cap)
        return
    present = connection.execute(sa.select(cohorts).where(cohorts.c.id == cohort)).one()
    if present.owner != owner:
        raise Conflict("cohort", f"the cohort {cohort} belongs to somebody else.", "Choose another name.")
    account = ledger.find_account(connection, cohort=cohort, kind="cohort", holder=cohort)
    assert account is not None
    if account.cap != cap:
        raise InvalidRequest(
            "budget_epsilon",
            f"the cohort {cohort} has a budget of {format_epsilon(account.cap)} for all its versions.",
            "Declare the same: registering again neither resets nor raises it.",
        )


def _latest(
    connection: sa.Connection,
    name: str,
    *,
    state: DatasetState | None = None,
    but_not: DatasetState | None = None,
) -> Dataset | None:
    query = sa.select(datasets).where(datasets.c.name == name).order_by(datasets.c.version.desc()).limit(1)
    if state is not None:
        query = query.where(datasets.c.state == state)
    if but_not is not None:
        query = query.where(datasets.c.state != but_not)
    row = connection.execute(query).one_or_none()
    return None if row is None else _dataset(row)


def _visible(dataset: Dataset, user: User) -> bool:
    named = dataset.declaration.policy.data_users
    return may_see_dataset(user, owner=dataset.owner, data_users=named) and (
        dataset.state is DatasetState.READY or user.name == dataset.owner
    )


def _dataset(row: sa.Row[tuple[object, ...]]) -> Dataset:
    fields = row._mapping
    return Dataset(
        id=fields["id"],
        version=fields["version"],
        owner=fields["owner"],
        cohort=fields["cohort"],
        declaration=Declaration.model_validate(fields["declaration"]),
        state=DatasetState(fields["state"]),
        problem=ImportProblem[fields["problem"]] if fields["problem"] else None,
        snapshot=fields["snapshot"],
    )
