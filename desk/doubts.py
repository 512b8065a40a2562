"""Jobs that would hardly be of use: refused before anything is charged, unless they are asked for anyway."""

from __future__ import annotations

import sqlalchemy as sa

from domain.cautions import check_use
from domain.dataset import Dataset
from domain.job import JobRequest, UserRequest
from domain.permissions import User
from domain.rehearsal import record_of
from store import rehearsals


def check_doubts(connection: sa.Connection, request: UserRequest, dataset: Dataset, user: User) -> None:
    """Raises Doubtful. Of a pipeline the request itself says what it gave on the twin, or else the newest
    rehearsal that this user made of it."""
    if isinstance(request, JobRequest) and request.on_twin is None:
        last = rehearsals.of_pipeline(
            connection, author=user.name, dataset_id=dataset.id, pipeline_digest=request.pipeline.digest
        )
        request = request.model_copy(update={"on_twin": last and record_of(request.pipeline, last)})
    check_use(request, dataset.declaration)
