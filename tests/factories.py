"""One `make_x(**overrides)` per noun, valid and small, and `given_x` that puts real rows through the store.

Overrides replace whole top-level fields; what comes back has passed the same parsing as a request.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from certified import certified, given_release

from domain.dataset import Column, Dataset, DatasetState, Declaration, Table
from domain.errors import NotFound
from domain.job import Job, JobRequest
from domain.model import parse
from domain.permissions import Role, User
from domain.pipeline import Manifest, OutputFile, Pipeline, Source
from domain.policy import Policy
from domain.release import Release, ReleasedValue
from domain.shape import FileShape, Shape, TextShape
from domain.states import Actor, JobState
from privacy.cost import Currency
from privacy.loss import GuaranteeClass
from store import datasets, images, jobs, ledger, users

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
IMAGE = "sha256:" + "1a" * 32
_numbers = itertools.count(1)

# The shortest way from new to each state, as (to, actor).
WAY: dict[JobState, tuple[tuple[JobState, Actor], ...]] = {JobState.SUBMITTED: ()}
for _before, _after, _actor in (
    (JobState.SUBMITTED, JobState.QUEUED, Actor.POLICY),
    (JobState.SUBMITTED, JobState.REJECTED, Actor.RIGHTS_HOLDER),
    (JobState.QUEUED, JobState.PREPARING, Actor.WORKER),
    (JobState.QUEUED, JobState.CANCELLED, Actor.DATA_USER),
    (JobState.PREPARING, JobState.RUNNING, Actor.WORKER),
    (JobState.PREPARING, JobState.ERRORED, Actor.WORKER),
    (JobState.RUNNING, JobState.AGGREGATING, Actor.WORKER),
    (JobState.AGGREGATING, JobState.IN_REVIEW, Actor.WORKER),
    (JobState.IN_REVIEW, JobState.RELEASED, Actor.POLICY),
    (JobState.IN_REVIEW, JobState.WITHHELD, Actor.RIGHTS_HOLDER),
):
    WAY[_after] = (*WAY[_before], (_after, _actor))


def policy_fields(**overrides: Any) -> dict[str, Any]:
    return {
        "data_users": ["ada"],
        "images": ["python"],
        "accepted_channels": ["page_faults"],  # of the host's own files, in which most tests run
        **overrides,
    }


def column_fields(**overrides: Any) -> dict[str, Any]:
    return {"name": "age", "kind": "integer", "lower": 0, "upper": 120, **overrides}


def table_fields(**overrides: Any) -> dict[str, Any]:
    columns = [
        {"name": "participant_id", "kind": "person"},
        column_fields(),
        {"name": "sex", "kind": "categorical", "categories": ["f", "m", "d"], "missing_rate": 0.2},
        {"name": "height", "kind": "number", "lower": 1, "upper": 2.2, "typical": {"mean": 1.7, "sd": 0.4}},
    ]
    return {"path": "participants.tsv", "columns": columns, **overrides}


def declaration_fields(**overrides: Any) -> dict[str, Any]:
    return {
        "name": "heights",
        "title": "Heights of a small town",
        "privacy_unit": {"table": "participants.tsv", "column": "participant_id"},
        "nominal_size": 60,
        "tables": [table_fields()],
        "budget_epsilon": "10",
        "policy": policy_fields(),
        **overrides,
    }


def manifest_fields(**overrides: Any) -> dict[str, Any]:
    values = [{"name": "mean_age", "lower": 0, "upper": 120}]
    return {
        "name": "mean-age",
        "image": "python",
        "command": ["python3", "/pipeline/main.py"],
        "outputs": [{"file": "result.tsv", "values": values}],
        **overrides,
    }


def mechanism_fields(**overrides: Any) -> dict[str, Any]:
    return {"name": "sample_aggregate", "epsilon": "0.5", **overrides}


def job_request_fields(**overrides: Any) -> dict[str, Any]:
    """`epsilon` and `block_size` override the mechanism's."""
    chosen = {name: overrides.pop(name) for name in ("epsilon", "block_size") if name in overrides}
    return {
        "dataset": "heights",
        "pipeline": {"manifest": manifest_fields(), "sources": [make_source().model_dump()]},
        "shape": {"files": [{"file": "result.tsv", "rows": [["mean_age"], [None]]}]},
        "mechanism": mechanism_fields(**chosen),
        "anyway": True,  # nobody has run it on a twin
        **overrides,
    }


def make_policy(**overrides: Any) -> Policy:
    return parse(Policy, policy_fields(**overrides))


def make_column(**overrides: Any) -> Column:
    return parse(Column, column_fields(**overrides))


def make_table(**overrides: Any) -> Table:
    return parse(Table, table_fields(**overrides))


def make_declaration(**overrides: Any) -> Declaration:
    return parse(Declaration, declaration_fields(**overrides))


def make_dataset(*, declaration: Declaration | None = None, **overrides: Any) -> Dataset:
    fields = {"id": "d-1", "version": 1, "owner": "holder", "cohort": "heights", "state": DatasetState.READY}
    return Dataset(**{**fields, "declaration": declaration or make_declaration(), **overrides})


def make_manifest(**overrides: Any) -> Manifest:
    return parse(Manifest, manifest_fields(**overrides))


def make_output_file(*names: str, file: str = "result.tsv") -> OutputFile:
    values = [{"name": name, "lower": 0, "upper": 1} for name in names or ("mean",)]
    return parse(OutputFile, {"file": file, "values": values})


def make_source(path: str = "main.py", content: bytes = b"print('mean_age\\n41')\n") -> Source:
    return Source.of(path, content)


def make_pipeline(*, manifest: Manifest | None = None, sources: tuple[Source, ...] | None = None) -> Pipeline:
    return Pipeline(manifest=manifest or make_manifest(), sources=sources or (make_source(),))


def make_file_shape(**overrides: Any) -> TextShape:
    return parse(TextShape, {"file": "result.tsv", "rows": [["mean_age"], [None]], **overrides})


def make_shape(*files: FileShape) -> Shape:
    return Shape(files=files or (make_file_shape(),))


def make_job_request(**overrides: Any) -> JobRequest:
    return parse(JobRequest, {**job_request_fields(**overrides), "anyway": overrides.get("anyway", False)})


def make_user(name: str = "ada", role: Role = Role.DATA_USER) -> User:
    return User(name=name, role=role)


def make_release(*, job_id: str, **overrides: Any) -> Release:
    value = ReleasedValue(
        name="mean_age", value=41.5, lower_95=38, upper_95=45, noise_scale=1.5, grid_step=0.001
    )
    fields = {
        "id": f"release-{job_id}"[:36],
        "job_id": job_id,
        "dataset": "heights",
        "dataset_version": 1,
        "guarantee": GuaranteeClass.PURE_DP,
        "cost": {"epsilon": "0.5"},
        "values": (value,),
        "files": {"result.tsv": "mean_age\n41.5\n"},
        "certificate": {},
        "created_at": NOW,
    }
    return certified(Release(**{**fields, **overrides}))


def given_user(connection: sa.Connection, name: str = "ada", role: Role = Role.DATA_USER) -> User:
    """The user of this name, added if need be."""
    known = {user.name: user for user in users.listed(connection)}
    return known.get(name) or users.add(connection, name=name, role=role, now=NOW)[0]


def given_image(connection: sa.Connection, *, digest: str = IMAGE, name: str = "python") -> images.Image:
    """An approved image."""
    images.announce(connection, digest=digest, name=name, description="Python 3", now=NOW)
    return images.approve(connection, digest=digest, by="operator", now=NOW)


def given_dataset(
    connection: sa.Connection,
    *,
    owner: str = "holder",
    state: DatasetState = DatasetState.READY,
    **fields: Any,
) -> Dataset:
    """A registered data set; `fields` override its declaration."""
    given_user(connection, owner, Role.RIGHTS_HOLDER)
    declaration = make_declaration(**fields)
    dataset = datasets.register(
        connection, declaration=declaration, owner=owner, delivery="delivery", now=NOW
    )
    if state is DatasetState.READY:
        snapshot = f"keyed:{dataset.version:064x}"
        datasets.finish_import(
            connection, dataset_id=dataset.id, snapshot=snapshot, data_key="d" * 32, problem=None, now=NOW
        )
    return datasets.get(connection, dataset.id)


def given_account(
    connection: sa.Connection, *, cohort: str = "heights", currency: Currency = Currency.EPSILON, cap: int
) -> ledger.Account:
    """A cohort's account without a data set."""
    return ledger.open_account(
        connection, cohort=cohort, kind="cohort", holder=cohort, currency=currency, cap=cap
    )


def given_job(
    connection: sa.Connection,
    *,
    state: JobState = JobState.SUBMITTED,
    job_id: str | None = None,
    author: str = "ada",
    now: datetime = NOW,
    **fields: Any,
) -> Job:
    """A job that went the shortest way to this state; `fields` override its request.

    The data set, image and author come into being if need be. A job past AGGREGATING has its release.
    """
    given_user(connection, author)
    image = given_image(connection)
    request = make_job_request(**fields)
    dataset = _ready_dataset(connection, request.dataset)
    job, _ = jobs.submit(
        connection,
        job_id=job_id or f"job-{next(_numbers):06d}",
        author=author,
        dataset=dataset,
        request=request,
        image_digest=image.digest,
        now=now,
    )
    for after, actor in WAY[state]:
        if after is JobState.IN_REVIEW:
            given_release(connection, make_release(job_id=job.id))
        assert jobs.move(connection, job.id, job.state, after, actor=actor, now=now)
        job = jobs.get(connection, job.id)
    return job


def _ready_dataset(connection: sa.Connection, name: str) -> Dataset:
    holder = given_user(connection, "holder", Role.RIGHTS_HOLDER)
    try:
        return datasets.newest(connection, name, holder)
    except NotFound:
        return given_dataset(connection, name=name)
