"""What a rehearsal says of a release: the error to expect of each output at one choice of a mechanism."""

from __future__ import annotations

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.choice_forecast import MOST_FORECAST, Asked, Forecast, NoForecast, forecast_of
from domain.dataset import Declaration
from domain.errors import Conflict, InvalidRequest
from domain.mechanism import MechanismRequest
from domain.model import Model
from domain.permissions import Permission, User
from domain.rehearsal import Rehearsal
from store import datasets, rehearsals
from store.database import Database


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


@needs(Permission.JOB_READ)
def forecast(database: Database, user: User, rehearsal_id: str, request: ForecastRequest) -> ForecastView:
    """Costs nothing and stores nothing. PAC and stability-calibrated noise need a rehearsal that was asked
    for with that mechanism."""
    with database.reading() as connection:
        found = rehearsals.get_own(connection, rehearsal_id, author=user.name)
        declaration = datasets.get(connection, found.dataset_id).declaration
    if found.runs is None or found.preview is None:
        raise Conflict("rehearsal", f"it is {found.state}.", "Wait until it is DONE.")
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
