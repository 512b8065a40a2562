"""Counts for twins on record: a job that went its way, and its release with noise on counts of nobody."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from certified import given_release
from factories import NOW, WAY, make_release

from domain.dataset import Dataset
from domain.model import canonical, parse
from domain.states import JobState
from domain.twin import TableCounts
from domain.twin.request import FILE, FORM, TwinRequest
from store import jobs, twins

TABLE = "participants.tsv"


def given_counts(
    connection: sa.Connection,
    dataset: Dataset,
    *,
    job_id: str = "counts-000001",
    level: int = 1,
    state: JobState = JobState.RELEASED,
    now: datetime = NOW,
    **fields: Any,
) -> str:
    """Asked for by the owner of the data set, and in this state."""
    order = {"dataset": dataset.name, "tables": [{"path": TABLE, "level": level}], "epsilon": "1", **fields}
    request = parse(TwinRequest, order)
    twins.submit(connection, job_id=job_id, request=request, dataset=dataset, by=dataset.owner, now=now)
    for after, actor in WAY[state][1:]:
        if after is JobState.IN_REVIEW:
            given_release(connection, _release(request, dataset, job_id))
        assert jobs.move(connection, job_id, jobs.get(connection, job_id).state, after, actor=actor, now=now)
    return job_id


def _release(request: TwinRequest, dataset: Dataset, job_id: str) -> Any:
    tables = {}
    for planned, mechanism in request.counted(dataset.declaration):
        noisy = mechanism.release([10] * mechanism.width)
        level = 2 if planned.level == 2 else 1
        tables[planned.path] = TableCounts(planned.counted, noisy, level).document()
    content = canonical({"form": FORM, "tables": tables}).decode() + "\n"
    # counts are kept by the id of their release, and another test's are others
    return make_release(
        id=str(uuid4()), job_id=job_id, values=(), files={FILE: content}, cost={"epsilon": request.epsilon}
    )
