"""The jobs of a data set over all its versions, each with the policy that it keeps."""

from __future__ import annotations

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.job import Job
from domain.states import JobState, is_terminal
from store import datasets, job_lists
from store.tables import datasets as dataset_rows
from store.tables import jobs as job_rows

_ON_THEIR_WAY = [state for state in JobState if not is_terminal(state)]


def newest(connection: sa.Connection, name: str, *, limit: int) -> list[tuple[Job, Dataset]]:
    """So many of a data set's jobs, newest first."""
    found = job_lists.on_dataset(connection, name, limit=limit)
    return datasets.of_jobs(connection, found)


def count(connection: sa.Connection, name: str, *, on_their_way: bool = False) -> int:
    """How many jobs the data set has, or how many of them have not ended."""
    query = (
        sa.select(sa.func.count())
        .select_from(job_rows)
        .join(dataset_rows, dataset_rows.c.id == job_rows.c.dataset_id)
        .where(dataset_rows.c.name == name)
    )
    if on_their_way:
        query = query.where(job_rows.c.state.in_(_ON_THEIR_WAY))
    found: int = connection.execute(query).scalar_one()
    return found
