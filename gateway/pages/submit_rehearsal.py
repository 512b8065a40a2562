"""The wizard's third step: the pipeline on the twin. Everything may be shown: the twin has seen no data."""

from __future__ import annotations

import uuid

from fastapi import APIRouter, Request
from fastapi.responses import Response

from desk.rehearsals import request_rehearsal
from domain.admission import usual_block_size
from domain.draft_steps import is_rehearsed, pipeline_of
from domain.errors import InvalidRequest, RequestError
from domain.job_draft import Step
from domain.permissions import User
from domain.pipeline import Pipeline
from domain.rehearsal import RehearsalRequest, code_digest
from gateway.access import TheDatabase, TheQueue
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import START, Author, Drafted, TheDraft, go, save, step_page, text_of

router = APIRouter(include_in_schema=False)


@router.get(START + "/{draft_id}/rehearsal")
def show_rehearsal(request: Request, drafted: TheDraft, user: Author) -> Response:
    """How far the runs are, and what they gave."""
    if not drafted.may_see(Step.REHEARSAL):
        return go(drafted.draft, Step.PIPELINE)
    return _page(request, drafted, user)


@router.post(START + "/{draft_id}/rehearsal")
def begin_rehearsal(
    request: Request,
    form: CheckedForm,
    drafted: TheDraft,
    user: Author,
    database: TheDatabase,
    queue: TheQueue,
) -> Response:
    """Run anew, with blocks of this size."""
    try:
        pipeline, size = pipeline_of(drafted.content), block_size_of(text_of(form, "block_size"))
        _check_fits(pipeline, size)
        asked = RehearsalRequest(dataset=drafted.content.dataset, pipeline=pipeline, block_size=size)
        rehearsal, _ = request_rehearsal(database, user, str(uuid.uuid4()), asked, queue)
    except RequestError as error:
        return _page(request, drafted, user, error=error, typed=form)
    save(database, drafted, rehearsal=rehearsal.id)
    return go(drafted.draft, Step.REHEARSAL)


def block_size_of(text: str) -> int:
    """Raises InvalidRequest for anything but a whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text) >= 1):
        raise InvalidRequest("block_size", "is not a whole number of at least 1.", "Write one such as 10.")
    return min(int(text), 100_000)


def _check_fits(pipeline: Pipeline, size: int) -> None:
    """Raises InvalidRequest for blocks of several people where each person's own number is wanted."""
    try:
        pipeline.manifest.check_block_size(size)
    except ValueError as error:
        raise InvalidRequest("block_size", f"{error}.", "Write 1.") from None


def _page(
    request: Request,
    drafted: Drafted,
    user: User,
    *,
    error: RequestError | None = None,
    typed: CheckedForm | None = None,
) -> Response:
    rehearsal = drafted.rehearsal
    pipeline = pipeline_of(drafted.content)
    is_current = rehearsal is not None and code_digest(rehearsal.request.pipeline) == code_digest(pipeline)
    declaration = drafted.dataset.declaration
    usual = usual_block_size(pipeline.manifest, declaration)
    return step_page(
        request,
        user,
        drafted,
        Step.REHEARSAL,
        error=error,
        typed=typed,
        pipeline=pipeline,
        is_current=is_current and rehearsal is not None and rehearsal.dataset_id == drafted.dataset.id,
        is_done=is_rehearsed(drafted.content, rehearsal, dataset_id=drafted.dataset.id),
        block_size=rehearsal.request.block_size if rehearsal else usual,
        least=declaration.policy.min_block_size,
        percent=_percent(drafted),
        names=[value.name for value in rehearsal.values] if rehearsal else [],
    )


def _percent(drafted: Drafted) -> str:
    rehearsal = drafted.rehearsal
    if rehearsal is None or rehearsal.total == 0:
        return "0"
    return f"{100 * rehearsal.done / rehearsal.total:.0f}"
