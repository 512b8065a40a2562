"""Whether a version of a data set is still there for new work, up to the end of a transaction."""

from __future__ import annotations

import sqlalchemy as sa

from domain.dataset import Dataset, DatasetState
from domain.errors import Conflict
from store.tables import datasets


def check(connection: sa.Connection, dataset: Dataset) -> None:
    """Raises Conflict where it was withdrawn since it was read."""
    if not hold(connection, dataset.id):
        raise Conflict("dataset", f"{dataset.name} takes nothing new.", "Look at its page.")


def hold(connection: sa.Connection, dataset_id: str) -> bool:
    """Before any row of a job: a withdrawal waits until this transaction ends, and then finds its job; or
    this one waits for the withdrawal."""
    query = sa.select(datasets.c.state).where(datasets.c.id == dataset_id)
    state = connection.execute(query.with_for_update(read=True)).scalar_one()
    return bool(state == DatasetState.READY)
