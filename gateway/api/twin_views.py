"""Twins as the interface shows them: what they are drawn from, and how far better ones are."""

from __future__ import annotations

from pydantic import BaseModel, Field

from desk.jobs import JobView
from domain.dataset import Dataset
from domain.permissions import User
from domain.review import Stage, TwinState
from domain.twin.levels import CUSTODIAN_LABELS
from domain.twin_basis import TwinBasis
from domain.twin_request import TwinOrder
from gateway.api.review_views import TallyView
from store.twins import Counts


class TwinTableView(BaseModel):
    """One table of the twin."""

    path: str
    level: int = Field(description="0 blank form, 1 counts of columns, 2 patterns of columns and pairs")
    label: str


class TwinView(BaseModel):
    """What everybody who gets the twin may know of it."""

    dataset: str
    version: int
    level: int = Field(description="Of the best table")
    label: str
    sentence: str
    guarantee: str | None = Field(description="The class of the counts; none for the blank form")
    epsilon: str | None = Field(description="Each set of counts is charged once, for any number of twins")
    delta: str | None = Field(description="Beside epsilon, where the class is approx_dp")
    counts: str | None = Field(description="The job whose release it is drawn from")
    tables: list[TwinTableView]
    unprotected: list[str] = Field(description="What the promise does not cover")

    @classmethod
    def of(cls, dataset: Dataset, basis: TwinBasis) -> TwinView:
        levels = [(table.path, basis.level_of(table.path)) for table in dataset.declaration.tables]
        return cls(
            dataset=dataset.name,
            version=dataset.version,
            level=basis.level,
            label=basis.label,
            sentence=basis.sentence,
            guarantee=None if basis.guarantee is None else str(basis.guarantee),
            epsilon=None if basis.request is None else basis.request.epsilon,
            delta=None if basis.request is None else basis.request.delta,
            counts=basis.job_id,
            tables=[
                TwinTableView(path=path, level=level, label=CUSTODIAN_LABELS[level]) for path, level in levels
            ],
            unprotected=list(basis.unprotected()),
        )


class CountsView(BaseModel):
    """Counts that were asked for: the job that makes them, and how far their approval is."""

    job: JobView
    order: TwinOrder
    state: TwinState = Field(description="Of the approval, which follows the release")
    tally: TallyView
    is_in_use: bool = Field(description="Whether data users' twins are drawn from them")

    @classmethod
    def of(cls, counts: Counts, dataset: Dataset, user: User, *, in_use: str | None) -> CountsView:
        order = {name: getattr(counts.request, name) for name in TwinOrder.model_fields}
        return cls(
            job=JobView.of(counts.job, dataset, user),
            order=TwinOrder(**order),
            state=counts.state,
            tally=TallyView.of(Stage.TWIN, counts.tally),
            is_in_use=counts.job.id == in_use,
        )
