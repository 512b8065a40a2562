"""What a reviewer needs to know of a job: what it asks, in which image, at which price, and what its code
did on the twin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from desk.datasets import BudgetView
from domain import mechanisms
from domain.choice_forecast import NOT_KNOWN, NoForecast, check_noise, check_replayed, forecast_of
from domain.dataset import Dataset
from domain.image import ImageState
from domain.job import Job, JobRequest
from domain.loss import Currency, format_epsilon, texts
from domain.mechanism import SampleAggregateRequest
from domain.rehearsal import OutputText, Preview, Rehearsal
from drawing.distribution import Distribution, draw_distribution
from drawing.error_curve import Curve, ErrorCurve, draw_error_curve
from gateway.pages import request_facts, source_code
from gateway.pages.dataset_facts import promise_of
from gateway.pages.layout import day
from gateway.pages.other_errors import curve_of
from store.images import Image

MAX_PICTURES = 6
AGGREGATORS = {"clipped_mean": "mean of the blocks", "median": "median of the blocks"}


@dataclass(frozen=True)
class ImageFact:
    """The image of a pipeline, as it stands now."""

    name: str
    description: str
    sentence: str
    is_approved: bool


@dataclass(frozen=True)
class Price:
    """What a release takes of one account, and what is left of it besides."""

    currency: str
    cost: str
    left: str
    is_set_aside: bool


@dataclass(frozen=True)
class Picture:
    """One output on the twin: how its blocks are spread, and the error to expect against epsilon, nats or
    noise multiplier. `without` says why there is no curve."""

    name: str
    distribution: Markup
    unit: str
    curve: Markup | None
    without: str


@dataclass(frozen=True)
class RehearsalFact:
    """What the author's own run on the twin gave. The twin has seen no data."""

    when: str
    same_shape: bool
    outputs: tuple[OutputText, ...]
    said: str
    blocks: int
    failed: int
    pictures: list[Picture]
    unable: str


def asked(job: Job, dataset: Dataset) -> dict[str, Any]:
    """The request in words, and its code."""
    request = job.request
    pipeline = request.pipeline if isinstance(request, JobRequest) else None
    reviewed = dataset.declaration.policy.reviewed_pipelines
    return {
        "promise": promise_of(request.guarantee, request.guarantee.sentence),
        "mechanism": mechanisms.summary(request.mechanism_name),
        "choices": request_facts.choices(request.choices()),
        "outputs": request_facts.outputs(request),
        "manifest": source_code.manifest_rows(pipeline.manifest) if pipeline else [],
        "sources": source_code.shown(pipeline.sources) if pipeline else [],
        "is_read": request.pipeline_digest in reviewed,
    }


def image(found: Image) -> ImageFact:
    """Whether the operator lets it run, and since when."""
    if found.state is ImageState.APPROVED:
        sentence = (
            f"Approved by {found.approved_by} on {day(found.approved_at)}, system calls {found.syscalls}."
        )
    elif found.state is ImageState.WITHDRAWN:
        sentence = f"Its approval was withdrawn on {day(found.withdrawn_at)}: the job could not run."
    else:
        sentence = "The operator has not approved it: the job could not run."
    return ImageFact(found.name, found.description, sentence, found.is_approved)


def prices(job: Job, dataset: Dataset, budget: BudgetView) -> list[Price]:
    """The cost beside what is left for everybody together."""
    left = {account.currency: account.left for account in budget.accounts if account.kind == "cohort"}
    return [
        Price(currency, cost, left.get(Currency(currency), "0"), job.charged_at is None)
        for currency, cost in texts(job.request.cost(dataset.declaration)).items()
    ]


def rehearsal(
    found: Rehearsal | None, job: Job, dataset: Dataset, budget: BudgetView
) -> RehearsalFact | None:
    """None where the author ran this code elsewhere, or not at all."""
    if found is None or found.runs is None or not isinstance(job.request, JobRequest):
        return None
    runs, preview = found.runs, found.preview
    return RehearsalFact(
        when=day(found.created_at),
        same_shape=runs.shape == job.request.shape,
        outputs=runs.outputs,
        said=runs.said,
        blocks=len(runs.blocks),
        failed=runs.failed,
        pictures=[
            _picture(found, index, job, dataset, budget)
            for index in range(min(MAX_PICTURES, len(found.values)))
        ],
        unable=preview.unable if preview else "",
    )


def _picture(found: Rehearsal, index: int, job: Job, dataset: Dataset, budget: BudgetView) -> Picture:
    if found.runs is None:
        raise ValueError("a rehearsal that has not run shows nothing")
    value = found.values[index]
    spread = Distribution(
        value.name, found.runs.of_output(index), value.lower, value.upper, found.runs.numbers[index]
    )
    unit, curve, without = _curve(found, index, job, dataset, budget)
    # drawn by our own code, which escapes the names of outputs
    distribution = Markup(draw_distribution(spread))  # noqa: S704
    return Picture(name=value.name, distribution=distribution, unit=unit, curve=curve, without=without)


def _curve(
    found: Rehearsal, index: int, job: Job, dataset: Dataset, budget: BudgetView
) -> tuple[str, Markup | None, str]:
    """The unit of the amounts, and the error at the job's own choice, or why it is not known."""
    mechanism = job.request.mechanism if isinstance(job.request, JobRequest) else None
    if mechanism is None or found.preview is None:
        return "", None, ""
    declaration = dataset.declaration
    try:
        if isinstance(mechanism, SampleAggregateRequest) and _is_replayed(mechanism, found, dataset):
            if found.preview.unable:
                return "", None, ""  # said once, beneath all pictures
            return "epsilon", _ladder(found, found.preview, index, mechanism, dataset, budget), ""
        forecast = forecast_of(mechanism, found, declaration, index=index)
    except ValueError as error:
        return "", None, str(error)
    left = _cohort_left(budget, forecast.unit)
    return forecast.unit, curve_of(forecast, mechanism, declaration, left=left), ""


def _is_replayed(mechanism: SampleAggregateRequest, found: Rehearsal, dataset: Dataset) -> bool:
    """Whether the noise is that of the ladder, or no ladder says anything. Raises ValueError for a choice
    that cannot be built, NoForecast for noise that was not replayed."""
    declaration = dataset.declaration
    built = mechanism.build(
        found.values, nominal_size=declaration.nominal_size, accounting=declaration.accounting
    )
    if built.resolved_noise == "gaussian":
        return False
    if found.preview is not None and found.preview.rungs:
        check_noise(built.resolved_noise, mechanism.aggregator, found.preview)
    return True


def _ladder(
    found: Rehearsal,
    preview: Preview,
    index: int,
    mechanism: SampleAggregateRequest,
    dataset: Dataset,
    budget: BudgetView,
) -> Markup:
    """The error at the job's own block size, one curve for each aggregator; its epsilon is the point."""
    check_replayed(mechanism)
    ladders = {
        name: preview.ladder(output=index, block_size=mechanism.block_size, aggregator=name)
        for name in sorted({rung.aggregator for rung in preview.rungs})
    }
    curves = tuple(
        Curve(
            name=AGGREGATORS.get(name, name),
            points=tuple((_epsilon(rung.micro_epsilon), rung.within_95) for rung in rungs),
            is_chosen=mechanism.aggregator in (name, "auto"),
        )
        for name, rungs in ladders.items()
        if rungs
    )
    if not curves:
        raise NoForecast(NOT_KNOWN)
    left = _cohort_left(budget, Currency.EPSILON)
    shown = ErrorCurve(
        output=found.values[index].name,
        curves=curves,
        chosen=_epsilon(mechanism.micro_epsilon),
        left=None if left is None else float(left),
        cap=float(dataset.declaration.policy.max_epsilon_per_job),
    )
    return Markup(draw_error_curve(shown))  # noqa: S704 - of our own making


def _cohort_left(budget: BudgetView, currency: str) -> Fraction | None:
    """What is left for everybody together; None where no account counts it."""
    left = [a.left for a in budget.accounts if (a.kind, a.currency) == ("cohort", currency)]
    return Fraction(left[0]) if left else None


def _epsilon(micro_epsilon: int) -> float:
    return float(format_epsilon(micro_epsilon))
