"""What a notebook shows for the objects of the SDK: HTML with the drawings of the pages.

Loaded when something is displayed, never with `import dpgate`. It knows `drawing`, `domain.job_steps`
and `privacy.loss`, which need no more than the standard library. Everything that a platform answered is
foreign text here: it is escaped and cut, and an object that makes no sense is shown as its plain text.

Reading order: frame, then one file for each noun.
"""

from typing import TYPE_CHECKING

from dpgate.notebook.frame import careful, legible, paragraph, text, view
from dpgate.notebook.preview import preview_html
from dpgate.notebook.release import release_html
from drawing.account_bar import AccountBar, draw_account_bar

if TYPE_CHECKING:
    from dpgate.models import Account, Budget
from typing import TYPE_CHECKING

from dpgate.notebook.frame import table

if TYPE_CHECKING:
    from dpgate.models import Dataset
from typing import TYPE_CHECKING

from dpgate.notebook.frame import number, promise
from dpgate.notebook.preview import LEAST_ERROR, MOST_CURVES
from drawing.error_curve import Curve, ErrorCurve, draw_error_curve

if TYPE_CHECKING:
    from dpgate.forecasts import Forecast, OutputForecast
from typing import TYPE_CHECKING, Any

from domain.job_steps import WORDS, Step, charge_sentence, steps
from domain.states import JobState

if TYPE_CHECKING:
    from dpgate.job import Job


__all__ = ["budget_html", "dataset_html", "forecast_html", "job_html", "preview_html", "release_html"]


# A budget in a notebook: one bar for each account, and what the caps promise together.

WHOSE = {"cohort": "everybody together", "project": "the project", "user": "one user"}


@careful
def budget_html(budget: Budget) -> str:
    return view(
        f"Privacy budget of {budget.dataset}",
        paragraph(budget.sentence, kind="promise"),
        *(_account(account) for account in budget.accounts),
        paragraph("Currencies are never added to each other; what is spent never comes back."),
    )


def _account(account: Account) -> str:
    holder = "" if account.kind == "cohort" else f" {account.holder}"
    name = f"{account.currency} for {WHOSE[account.kind]}{holder}"
    bar = draw_account_bar(
        AccountBar(legible(name), account.cap, account.spent, account.reserved, account.left),
    )
    left = f"{account.left} of {account.cap} left"
    return f'<p class="named"><span>{text(name)}</span><strong>{text(left)}</strong></p>{bar}'


# A data set in a notebook: what is declared about it.


@careful
def dataset_html(dataset: Dataset) -> str:
    declared = dataset.declaration
    facts = [
        ("name", f"{dataset.name}, version {dataset.version}"),
        ("rights holder", dataset.owner),
        ("state", dataset.state),
        ("people, as declared", declared["nominal_size"]),
        ("twin", dataset.twin),
    ]
    return view(
        str(declared.get("title", dataset.name)),
        paragraph(declared.get("description", "")),
        table("What is declared", ("fact", "declared"), facts),
        paragraph(dataset.problem or ""),
    )


# A forecast in a notebook: for each output the curve of the pages, and the numbers behind it.


@careful
def forecast_html(forecast: Forecast) -> str:
    words = legible(forecast.mechanism.replace("_", " "))
    return view(
        f"Error to expect with {words}",
        promise(forecast.guarantee, {}),
        paragraph(
            "An estimate from runs on the twin, not a release. 95 of 100 releases stay within the error."
        ),
        *(_output(forecast, one) for one in forecast.outputs[:MOST_CURVES]),
        table(
            "The same as numbers", ("output", forecast.unit, "error, 95 %", "noise, 95 %"), _cells(forecast)
        ),
    )


def _output(forecast: Forecast, found: OutputForecast) -> str:
    points = tuple(
        (number(float(rung.amount)), max(number(rung.error_95), LEAST_ERROR)) for rung in found.rungs
    )
    curve = Curve(name=legible(forecast.mechanism), points=points, is_chosen=True)
    shown = ErrorCurve(
        output=legible(found.output),
        curves=(curve,),
        chosen=number(float(found.amount)),
        unit=legible(forecast.unit),
    )
    return f'<p class="named"><strong>{text(found.output)}</strong></p>{draw_error_curve(shown)}'


def _cells(forecast: Forecast) -> list[tuple[object, ...]]:
    return [
        (
            found.output,
            rung.amount,
            number(rung.error_95),
            "" if rung.noise_95 is None else number(rung.noise_95),
        )
        for found in forecast.outputs
        for rung in found.rungs
    ]


# A job in a notebook: where it is on its way, and what it costs under which promise.

# a sign for each stage, and the word for those who do not see it
_SIGNS = {"done": ("✓", "done"), "now": ("●", "now"), "ended": ("✕", "ended"), "ahead": ("○", "ahead")}


@careful
def job_html(job: Job[Any]) -> str:
    state = JobState(job.state)
    facts = {"is_answered": job.answered_by is not None, "is_charged": bool(job.raw.get("charged_at"))}
    way = steps(state, **facts, is_reviewed=False)
    return view(
        f"Job {job.raw.get('title', '')}: {WORDS[state].name}",
        f'<ol aria-label="Where it is">{"".join(_station(step) for step in way)}</ol>',
        paragraph(f"{WORDS[state].sentence} {job.reason or ''}"),
        promise(job.guarantee, job.cost),
        paragraph(charge_sentence(state, **facts)),
        paragraph(f"{job.mechanism} on {job.dataset}, {job.runs} runs. {_when(job)}"),
        f"<p>Its id is <code>{text(job.id)}</code>.</p>",
    )


def _station(step: Step) -> str:
    sign, word = _SIGNS[step.stage]
    now = ' class="now" aria-current="step"' if step.stage == "now" else ""
    return f'<li{now}><span role="img" aria-label="{word}">{sign}</span> {text(step.name)}</li>'


def _when(job: Job) -> str:
    if not job.due_at or job.is_finished:
        return ""
    if job.turns_over is None:
        return f"A release is planned before {job.due_at}."
    return f"A release is due at {job.due_at}; about {job.turns_over} of {job.raw['turns']} turns are over."
