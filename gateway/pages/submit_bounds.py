"""The wizard's fourth step: bounds, drawn over what the blocks of the twin gave."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup
from starlette.datastructures import FormData

from desk.rehearsals import request_rehearsal
from domain.draft_steps import BoundsEntry, bounds_entries, pipeline_of, with_bounds
from domain.errors import FieldProblem, InvalidRequest, RequestError
from domain.job_draft import Step
from domain.model import parse
from domain.permissions import User
from domain.pipeline import OutputValue, Pipeline
from domain.rehearsal import RehearsalRequest
from drawing import Distribution, draw_distribution
from gateway.access import TheDatabase, TheQueue
from gateway.pages.manifest_form import read_number
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import START, Author, Drafted, TheDraft, go, save, step_page, text_of

router = APIRouter(include_in_schema=False)
MOST_DRAWN = 40


@dataclass(frozen=True)
class ShownBounds:
    """One place with its inputs and its drawing; `lower` and `upper` are texts as typed."""

    entry: BoundsEntry
    lower: str
    upper: str
    drawing: Markup | None
    outside: int


@router.get(START + "/{draft_id}/bounds")
def show_bounds(request: Request, drafted: TheDraft, user: Author) -> Response:
    if not drafted.may_see(Step.BOUNDS):
        return go(drafted.draft, drafted.furthest)
    return _page(request, drafted, user)


@router.post(START + "/{draft_id}/bounds")
def keep_bounds(
    request: Request,
    form: CheckedForm,
    drafted: TheDraft,
    user: Author,
    database: TheDatabase,
    queue: TheQueue,
) -> Response:
    """Draw what was typed, or keep it and go on. Other bounds need another forecast, but no other runs."""
    if not drafted.may_see(Step.BOUNDS):
        return go(drafted.draft, drafted.furthest)
    try:
        typed = _typed(form, drafted)
        if form.get("action") == "redraw":
            return _page(request, drafted, user, typed=form)
        manifest = with_bounds(pipeline_of(drafted.content).manifest, typed)
        content = drafted.content.model_copy(update={"manifest": manifest})
        pipeline = pipeline_of(content)
        rehearsal_id = _forecast_again(drafted, pipeline, user, database, queue)
    except RequestError as error:
        return _page(request, drafted, user, typed=form, error=error)
    save(database, drafted, manifest=manifest, rehearsal=rehearsal_id)
    return go(drafted.draft, Step.MECHANISM)


def _forecast_again(
    drafted: Drafted, pipeline: Pipeline, user: User, database: TheDatabase, queue: TheQueue
) -> str:
    """The id of a rehearsal with these bounds: the one that there is, or one that takes its runs over."""
    before = drafted.rehearsal
    assert before is not None
    if before.pipeline_digest == pipeline.digest:
        return before.id
    asked = RehearsalRequest(
        dataset=drafted.content.dataset,
        pipeline=pipeline,
        block_size=before.request.block_size,
        runs_of=before.id,
    )
    rehearsal, _ = request_rehearsal(database, user, str(uuid.uuid4()), asked, queue)
    return rehearsal.id


def _typed(form: FormData, drafted: Drafted) -> dict[str, tuple[float, float]]:
    """Bounds by place. Raises InvalidRequest naming each field that is wrong."""
    found, wrong = {}, list[FieldProblem]()
    for entry in _entries(drafted):
        lower, upper = (read_number(text_of(form, f"{side}-{entry.place}")) for side in ("lower", "upper"))
        for side, value in (("lower", lower), ("upper", upper)):
            if value is None:
                field = f"{side}-{entry.place}"
                wrong.append(
                    FieldProblem(field, f"of {entry.name} is not a number.", "Write one such as 0.5.")
                )
        if lower is None or upper is None:
            continue
        try:
            parse(OutputValue, {"name": entry.name, "lower": lower, "upper": upper})
        except InvalidRequest as error:
            wrong.append(FieldProblem(f"upper-{entry.place}", error.problems[0].problem, "Fix the bounds."))
        found[entry.place] = (lower, upper)
    if wrong:
        first, *more = wrong
        raise InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))
    return found


def _entries(drafted: Drafted) -> list[BoundsEntry]:
    runs = drafted.rehearsal.runs if drafted.rehearsal else None
    return bounds_entries(pipeline_of(drafted.content).manifest, runs)


def _page(
    request: Request,
    drafted: Drafted,
    user: User,
    *,
    typed: FormData | None = None,
    error: RequestError | None = None,
) -> Response:
    entries = _entries(drafted)
    return step_page(
        request,
        user,
        drafted,
        Step.BOUNDS,
        error=error,
        typed=typed,
        entries=[_shown(entry, typed, is_drawn=at < MOST_DRAWN) for at, entry in enumerate(entries)],
        most_drawn=MOST_DRAWN,
    )


def _shown(entry: BoundsEntry, typed: FormData | None, *, is_drawn: bool) -> ShownBounds:
    lower = _text(typed, f"lower-{entry.place}", entry.lower)
    upper = _text(typed, f"upper-{entry.place}", entry.upper)
    low, high = read_number(lower), read_number(upper)
    if low is None or high is None or low >= high:
        # nothing to draw against: the outputs' own range, so that there is something to look at
        low, high = None, None
    shown = _distribution(entry, low, high)
    return ShownBounds(
        entry=entry,
        lower=lower,
        upper=upper,
        drawing=Markup(draw_distribution(shown)) if is_drawn else None,  # noqa: S704 - of our own making
        outside=shown.outside,
    )


def _distribution(entry: BoundsEntry, low: float | None, high: float | None) -> Distribution:
    whole = entry.whole[0] if len(entry.whole) == 1 else None
    return Distribution(output=entry.name, values=entry.numbers, lower=low, upper=high, whole=whole)


def _text(typed: FormData | None, name: str, kept: float | None) -> str:
    if typed is not None:
        return text_of(typed, name)
    return "" if kept is None else number_text(kept)


def number_text(value: float) -> str:
    """As an input takes it back: every digit."""
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
