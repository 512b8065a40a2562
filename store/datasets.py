"""Data sets, their versions, and the cohorts whose budget they share."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

import sqlalchemy as sa

from domain.dataset import HAS_BEEN_READY, Dataset, DatasetState, Declaration, ImportProblem
from domain.errors import Conflict, InvalidRequest, NotFound, Spoilt
from domain.job import Job
from domain.permissions import User, may_see_dataset
from domain.policy import on_record
from domain.refusals import admission
from store import audit, cohorts, grants, policies, reviewers
from store.clock import is_over
from store.database import insert_once
from store.policies import policies as policy_rows
from store.spoilt import readable, reads
from store.tables import datasets

# every data set with all its policies: `_IN_EFFECT` is the newest
_WITH_POLICY = sa.select(datasets, policy_rows.c.number, policy_rows.c.body).join(
    policy_rows, policy_rows.c.name == datasets.c.name
)
_IN_EFFECT = _WITH_POLICY.where(policy_rows.c.number == policies.newest_number(datasets.c.name))
# who may see the newest version that is ready, or else was, or else the newest. Not the declaration: a wide
# one takes long to read, and how long a refusal takes would tell that there is a data set of this name
_SEEN = (
    sa.select(datasets.c.id, datasets.c.name, datasets.c.owner, datasets.c.state)
    .add_columns(policy_rows.c.body)
    .join(policy_rows, policy_rows.c.name == datasets.c.name)
    .where(policy_rows.c.number == policies.newest_number(datasets.c.name))
    .order_by(datasets.c.name, (datasets.c.state == DatasetState.READY).desc())
    .order_by(datasets.c.state.in_(HAS_BEEN_READY).desc(), datasets.c.version.desc())
)
_SEEN_BY = _SEEN.where(datasets.c.name == sa.bindparam("name", type_=sa.String)).limit(1)


def register(
    connection: sa.Connection, *, declaration: Declaration, owner: str, delivery: str, now: datetime
) -> Dataset:
    """A new data set or a new version of one. Versions of a name share its cohort, so its budget goes on, and
    its policy: one that differs from the policy in effect comes into effect with the registration. What a
    profile flagged is kept nowhere: data users read the declaration, and twins are drawn from it.

    Raises Conflict when the name belongs to somebody else, InvalidRequest when the cohort or its cap differ,
    or the policy names as reviewer who cannot be one.
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
    cohorts.join(connection, cohort=cohort, owner=owner, now=now)
    cohorts.open_accounts(connection, cohort, declaration)
    version = latest.version + 1 if latest else 1
    values = {
        "id": str(uuid.uuid4()),
        "name": declaration.name,
        "version": version,
        "owner": owner,
        "cohort": cohort,
        "declaration": declaration.model_dump(mode="json", exclude={"profile"}),
        "delivery": delivery,
        "state": DatasetState.IMPORTING,
        "created_at": now,
    }
    if not insert_once(connection, datasets, values):
        raise Conflict("name", "another version came at the same moment.", "Look at it, then register again.")
    policy_number = policies.declare(
        connection,
        declaration=declaration,
        dataset_id=str(values["id"]),
        version=version,
        owner=owner,
        now=now,
    )
    audit.append(
        connection,
        at=now,
        actor=owner,
        action="dataset.register",
        subject=str(values["id"]),
        name=declaration.name,
        version=version,
        cohort=cohort,
        new_people=declaration.new_people,
        policy=policy_number,
        profile=declaration.profile and declaration.profile.id,
    )
    return get(connection, str(values["id"]))


def finish_import(
    connection: sa.Connection,
    *,
    dataset_id: str,
    snapshot: str | None,
    problem: ImportProblem | None,
    data_key: str | None = None,
    now: datetime,
) -> bool:
    """READY with a snapshot or REFUSED with a problem; compare-and-set. False when it was finished before."""
    if (snapshot is None) == (problem is None):
        raise ValueError("an import ends with either a snapshot or a problem")
    state = DatasetState.READY if snapshot else DatasetState.REFUSED
    changed = connection.execute(
        sa.update(datasets)
        .where(datasets.c.id == dataset_id, datasets.c.state == DatasetState.IMPORTING)
        .values(state=state, snapshot=snapshot, data_key=data_key, problem=problem and problem.name)
    )
    if changed.rowcount != 1:
        return False
    audit.append(connection, at=now, actor="worker", action="dataset.import", subject=dataset_id, state=state)
    return True


def get(connection: sa.Connection, dataset_id: str) -> Dataset:
    """With the policy in effect now."""
    row = connection.execute(_IN_EFFECT.where(datasets.c.id == dataset_id)).one_or_none()
    if row is None:
        raise NotFound("dataset", "there is no such data set.", "See `dpgate datasets`.")
    return _dataset(row)


def of_job(connection: sa.Connection, job: Job) -> Dataset:
    """The data set of a job, with the policy under which the job was submitted: what was promised then about
    its time and its review holds, whatever changed since."""
    found = connection.execute(_pinned([job])).one()
    return _dataset(found)


def of_jobs(connection: sa.Connection, found: Sequence[Job]) -> list[tuple[Job, Dataset]]:
    """The same of each job whose data set can be read, beside the job, with one question to the database and
    each declaration read once."""
    rows = readable(_dataset, connection.execute(_pinned(found))) if found else []
    known = {(each.id, each.policy_number): each for each in rows}
    beside = [(job, known.get((job.dataset_id, job.policy_number))) for job in found]
    return [(job, dataset) for job, dataset in beside if dataset is not None]


def _pinned(found: Sequence[Job]) -> sa.Select[Any]:
    pinned = {(job.dataset_id, job.policy_number) for job in found}
    return _WITH_POLICY.where(sa.tuple_(datasets.c.id, policy_rows.c.number).in_(sorted(pinned)))


def delivery_of(connection: sa.Connection, dataset_id: str) -> str:
    """The name under which the rights holder delivered the files to the worker zone."""
    query = sa.select(datasets.c.delivery).where(datasets.c.id == dataset_id)
    return str(connection.execute(query).scalar_one())


def settled_deliveries(connection: sa.Connection, names: Iterable[str]) -> set[str]:
    """Those of the deliveries that some registration was for and that no import needs any more."""
    query = sa.select(datasets.c.delivery, datasets.c.state).where(datasets.c.delivery.in_(list(names)))
    found = [(row.delivery, row.state) for row in connection.execute(query)]
    needed = {delivery for delivery, state in found if state == DatasetState.IMPORTING}
    return {delivery for delivery, _ in found} - needed


def newest(connection: sa.Connection, name: str, user: User) -> Dataset:
    """The newest version that is ready, or else the newest; NotFound unless this user may see it."""
    dataset_id = _visible_id(connection, name, user, _opened_to(connection, user))
    if dataset_id is None:
        # the same words for absent and forbidden: a name is not confirmed to those who may not see it
        near = get_close_matches(name, [row.name for row in _seen_by(connection, user)], n=1)
        if near:
            raise admission.NEAR_DATASET(dataset=name, near=near[0])
        raise admission.NO_DATASET(dataset=name)
    return get(connection, dataset_id)


def owned(connection: sa.Connection, name: str, user: User) -> Dataset:
    """The same for what only the owner may do: reviewers see a data set, and change nothing of it."""
    found = newest(connection, name, user)
    if found.owner != user.name:
        raise NotFound("dataset", f"there is no data set {name} of yours.", "See `dpgate datasets`.")
    return found


def newest_registration(connection: sa.Connection, name: str, user: User) -> Dataset:
    """The newest version in whatever state, for its rights holder."""
    latest = _latest(connection, name) if grants.owner_of(connection, name) == user.name else None
    if latest is None:
        raise NotFound("dataset", f"there is no data set {name} of yours.", "See `dpgate datasets`.")
    return latest


def visible_to(connection: sa.Connection, user: User) -> list[Dataset]:
    """The newest version of every data set that this user may see, by name."""
    ids = [row.id for row in _seen_by(connection, user)]
    found = connection.execute(_IN_EFFECT.where(datasets.c.id.in_(ids)).order_by(datasets.c.name))
    return readable(_dataset, found)


def _seen_by(connection: sa.Connection, user: User) -> list[sa.Row[Any]]:
    opened = _opened_to(connection, user)
    first_by_name = dict[str, sa.Row[Any]]()
    for row in connection.execute(_SEEN):
        first_by_name.setdefault(row.name, row)
    return [row for row in first_by_name.values() if _may_see(row, user, opened)]


def reviewed_by(connection: sa.Connection, user: User) -> list[Dataset]:
    """Those of them that this user reviews. Who reviews nothing is answered without reading any."""
    mine = reviewers.reviewed_by(connection, user)
    return [dataset for dataset in visible_to(connection, user) if dataset.name in mine] if mine else []


def unreadable(connection: sa.Connection, *, owner: str | None = None) -> list[Spoilt]:
    """Data sets of which a version, or the policy in effect, or an account cannot be read: this owner's, or
    all."""
    query = _IN_EFFECT if owner is None else _IN_EFFECT.where(datasets.c.owner == owner)
    found, cohorts_of = dict[str, Spoilt](), set[str]()
    for row in connection.execute(query.order_by(datasets.c.name)):
        cohorts_of.add(row.cohort)
        try:
            _dataset(row)
        except Spoilt as error:
            found.setdefault(row.name, error)
    return [*found.values(), *cohorts.unreadable(connection, among=cohorts_of if owner else None)]


def importing(connection: sa.Connection, *, older_than_s: float, now: datetime) -> list[str]:
    """Ids of the data sets whose import was asked for so long ago and has not ended."""
    query = sa.select(datasets.c.id).where(
        datasets.c.state == DatasetState.IMPORTING,
        is_over(datasets.c.created_at, now=now, for_s=older_than_s),
    )
    return list(connection.execute(query).scalars())


def living_cohorts(connection: sa.Connection) -> dict[str, str]:
    """Cohorts that hold at least one data set that is imported or is being imported, each with its owner."""
    living = datasets.c.state != DatasetState.REFUSED
    query = sa.select(datasets.c.cohort, datasets.c.owner).where(living).distinct()
    return {row.cohort: row.owner for row in connection.execute(query.order_by(datasets.c.cohort))}


def _latest(connection: sa.Connection, name: str, *, but_not: DatasetState | None = None) -> Dataset | None:
    query = _IN_EFFECT.where(datasets.c.name == name).order_by(datasets.c.version.desc()).limit(1)
    if but_not is not None:
        query = query.where(datasets.c.state != but_not)
    row = connection.execute(query).one_or_none()
    return None if row is None else _dataset(row)


def _opened_to(connection: sa.Connection, user: User) -> frozenset[str]:
    """Names of data sets granted to a data user's projects, or that a rights holder reviews."""
    granted = grants.granted_to(connection, user, datetime.now(UTC))
    return granted | reviewers.reviewed_by(connection, user)


def _visible_id(connection: sa.Connection, name: str, user: User, opened: frozenset[str]) -> str | None:
    """Of the version that this user may see; None for an absent name and a forbidden one alike."""
    row = connection.execute(_SEEN_BY, {"name": name}).one_or_none()
    return None if row is None or not _may_see(row, user, opened) else str(row.id)


def _may_see(row: sa.Row[Any], user: User, opened: frozenset[str]) -> bool:
    # of a policy that cannot be read, nobody is sure to be named
    policy = row.body if isinstance(row.body, dict) else {}
    named, is_open = tuple(policy.get("data_users", ())), row.name in opened
    # what others than the owner decide about is there for them to see
    may = may_see_dataset(user, owner=row.owner, data_users=named, is_granted=is_open, reviews=is_open)
    is_there = DatasetState(row.state).has_been_ready or row.owner == user.name
    return may and is_there


@reads("data set", by="name")
def _dataset(row: sa.Row[Any]) -> Dataset:
    fields = row._mapping
    return Dataset(
        id=fields["id"],
        version=fields["version"],
        owner=fields["owner"],
        cohort=fields["cohort"],
        declaration=Declaration.model_validate(
            {**fields["declaration"], "policy": on_record(fields["body"])}
        ),
        policy_number=fields["number"],
        state=DatasetState(fields["state"]),
        problem=ImportProblem[fields["problem"]] if fields["problem"] else None,
        snapshot=fields["snapshot"],
        data_key=fields["data_key"],
    )
