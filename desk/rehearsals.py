"""Rehearsals: a pipeline on the twin, run by a worker, for its author alone."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from desk.messages import Messages
from desk.rights import needs
from domain.admission import check_pipeline
from domain.choice_forecast import MOST_FORECAST, Asked, Forecast, NoForecast, forecast_of
from domain.dataset import Dataset, Declaration
from domain.errors import InvalidRequest
from domain.mechanism import MechanismRequest
from domain.model import Model
from domain.permissions import Permission, User
from domain.refusals import jobs as refusals
from domain.rehearsal import Preview, Rehearsal, RehearsalRequest, RehearsalState, TwinRuns, largest_block
from domain.twin.basis import BLANK, TwinBasis
from store import audit, datasets, images, rehearsals, twins
from store.database import Database
from twins.drawn import MAX_BYTES, size_of_twin


class RehearsalView(BaseModel):
    """A rehearsal. All of it is about the twin, which has seen no data; none of it is a new release."""

    id: str
    state: RehearsalState
    dataset: str
    title: str = Field(description="The pipeline's name")
    pipeline_digest: str
    block_size: int
    done: int = Field(description="Runs made so far")
    total: int = Field(description="Runs to make; 0 before a worker took it")
    problem: str | None = Field(description="Why it failed, in the pipeline's own words where it did")
    created_at: datetime
    twin: str = Field(description="What the twin is made from and what it shows")

    @classmethod
    def of(cls, rehearsal: Rehearsal, basis: TwinBasis = BLANK) -> RehearsalView:
        return cls(**_facts(rehearsal, basis))


class FullRehearsal(RehearsalView):
    """With everything that its runs gave."""

    outputs: list[str] = Field(description="Names of the values, in the order of all numbers")
    runs: TwinRuns | None
    preview: Preview | None = Field(description="The error to expect of a release; an estimate from the twin")

    @classmethod
    def of(cls, rehearsal: Rehearsal, basis: TwinBasis = BLANK) -> FullRehearsal:
        return cls(
            **_facts(rehearsal, basis),
            outputs=[value.name for value in rehearsal.values],
            runs=rehearsal.runs,
            preview=rehearsal.preview,
        )


class ForecastRequest(Model):
    """One choice, as a job would make it."""

    mechanism: MechanismRequest


class ExpectedView(BaseModel):
    """The error at one amount, in the output's own units, measured from the whole twin's number."""

    amount: str
    typical: float = Field(description="Half of all releases stay within it")
    within_95: float = Field(description="95 of 100 releases stay within it")
    noise_95: float | None = Field(description="The same of the noise alone; null for medians")


class OutputForecast(BaseModel):
    """One output: the choice itself among others, and what releases would look like."""

    output: str
    amount: str = Field(description="The rung that the choice is at; with Laplace noise the next one below")
    rungs: list[ExpectedView]
    simulated: list[float] = Field(description="Releases at this rung if the twin were the data")


class ForecastView(BaseModel):
    """An estimate from the twin, which has seen no data; no release, and no promise of one."""

    mechanism: str
    guarantee: str = Field(description="The class of its promise: pure_dp, approx_dp, pac or empirical")
    guarantee_sentence: str
    unit: str = Field(description="Of the amounts: epsilon, nats or noise multiplier")
    outputs: list[OutputForecast] = Field(description=f"The first {MOST_FORECAST} at most")


@needs(Permission.JOB_SUBMIT)
def request_rehearsal(
    database: Database, user: User, rehearsal_id: str, request: RehearsalRequest, queue: Messages
) -> tuple[RehearsalView, bool]:
    """Costs nothing: the twin has seen no data. Jobs come first when workers are busy."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        rehearsal_id = rehearsals.id_of(connection, rehearsal_id, author=user.name)
        if present := rehearsals.on_record(connection, rehearsal_id, author=user.name, request=request):
            return RehearsalView.of(present, twins.basis_of(connection, present.counts)), False
        # names what a job would stumble over as well: image, resources, block size
        dataset = datasets.newest(connection, request.dataset, user)
        _check(request, dataset)
        # a pipeline can print the whole twin
        basis = twins.basis_for(connection, dataset, user)
        rehearsal, is_new = rehearsals.request(
            connection,
            rehearsal_id=rehearsal_id,
            author=user.name,
            dataset=dataset,
            request=request,
            image_digest=images.approved(connection, request.pipeline.manifest.image).digest,
            counts=basis.job_id,
            now=now,
        )
        audit.append(
            connection, at=now, actor=user.name, action="rehearsal.request", subject=rehearsal_id,
            dataset=dataset.id, pipeline=request.pipeline.digest,
        )  # fmt: skip
        view = RehearsalView.of(rehearsal, twins.basis_of(connection, rehearsal.counts))
    queue.rehearse(rehearsal.id)
    return view, is_new


@needs(Permission.JOB_READ)
def list_rehearsals(database: Database, user: User) -> list[RehearsalView]:
    with database.reading() as connection:
        return [
            RehearsalView.of(rehearsal, twins.basis_of(connection, rehearsal.counts))
            for rehearsal in rehearsals.of_author(connection, user.name)
        ]


@needs(Permission.JOB_READ)
def get_rehearsal(database: Database, user: User, rehearsal_id: str) -> FullRehearsal:
    with database.reading() as connection:
        found = rehearsals.get_own(connection, rehearsal_id, author=user.name)
        return FullRehearsal.of(found, twins.basis_of(connection, found.counts))


def _check(request: RehearsalRequest, dataset: Dataset) -> None:
    dataset.check_ready()
    check_pipeline(request.pipeline, dataset)
    _check_size(request, dataset)


def _check_size(request: RehearsalRequest, dataset: Dataset) -> None:
    declaration = dataset.declaration
    most = largest_block(declaration.nominal_size)
    if request.block_size > most:
        raise refusals.NO_TWO_BLOCKS(size=declaration.nominal_size, asked=request.block_size, most=most)
    size = size_of_twin(declaration)
    if size > MAX_BYTES:
        raise refusals.TWIN_TOO_LARGE(size=size >> 20, most=MAX_BYTES >> 20)


def _facts(rehearsal: Rehearsal, basis: TwinBasis) -> dict[str, object]:
    request = rehearsal.request
    return {
        **rehearsal.model_dump(
            include={"id", "state", "pipeline_digest", "done", "total", "problem", "created_at"}
        ),
        "dataset": request.dataset,
        "title": request.pipeline.manifest.name,
        "block_size": request.block_size,
        "twin": basis.sentence,
    }


@needs(Permission.JOB_READ)
def forecast(database: Database, user: User, rehearsal_id: str, request: ForecastRequest) -> ForecastView:
    """Costs nothing and stores nothing. PAC and stability-calibrated noise need a rehearsal that was asked
    for with that mechanism."""
    with database.reading() as connection:
        found = rehearsals.get_own(connection, rehearsal_id, author=user.name)
        declaration = datasets.get(connection, found.dataset_id).declaration
    if found.runs is None or found.preview is None:
        raise refusals.REHEARSAL_STATE(state=found.state)
    asked = request.mechanism
    forecasts = _forecasts(asked, found, declaration)
    return ForecastView(
        mechanism=asked.name,
        guarantee=asked.guarantee.value,
        guarantee_sentence=asked.guarantee.sentence,
        unit=forecasts[0].unit,
        outputs=[_shown(each) for each in forecasts],
    )


def _forecasts(asked: Asked, found: Rehearsal, declaration: Declaration) -> list[Forecast]:
    try:
        return [
            forecast_of(asked, found, declaration, index=index)
            for index in range(min(len(found.values), MOST_FORECAST))
        ]
    except NoForecast as error:
        fix = (
            f"Ask for a rehearsal with runs_of {found.id} and mechanism {asked.name}."
            if error.is_to_run
            else "Ask for another choice."
        )
        raise InvalidRequest("mechanism", str(error), fix) from None
    except ValueError as error:
        raise InvalidRequest("mechanism", f"{error}.", "Ask for another choice.") from None


def _shown(found: Forecast) -> OutputForecast:
    return OutputForecast(
        output=found.output,
        amount=found.amount,
        rungs=[
            ExpectedView(
                amount=rung.amount, typical=rung.typical, within_95=rung.within_95, noise_95=rung.noise_95
            )
            for rung in found.rungs
        ],
        simulated=list(found.simulated.values),
    )
