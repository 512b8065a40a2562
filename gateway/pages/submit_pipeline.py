"""The wizard's second step: the pipeline's files, by upload or from git, and what dpgate.yaml would say."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from domain.admission import check_pipeline
from domain.draft_steps import pipeline_of, with_untyped_bounds
from domain.errors import InvalidRequest, RequestError
from domain.job_draft import DraftContent, Step
from domain.permissions import User
from domain.sent_files import SentFiles, read_sent
from formats.yaml_text import read_yaml
from gateway.access import TheDatabase
from gateway.git_source import fetch_commit
from gateway.pages.manifest_form import manifest_of, shown_manifest
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import START, Author, Drafted, TheDraft, go, save, step_page, text_of
from store import images
from store.database import Database

router = APIRouter(include_in_schema=False)


@router.get(START + "/{draft_id}/pipeline")
def show_pipeline(request: Request, drafted: TheDraft, user: Author, database: TheDatabase) -> Response:
    return _page(request, drafted, user, database)


@router.post(START + "/{draft_id}/files")
def keep_files(
    request: Request, form: CheckedForm, drafted: TheDraft, user: Author, database: TheDatabase
) -> Response:
    """New files take the place of all old ones; a dpgate.yaml among them fills the form."""
    try:
        sent = [
            (file.filename or "", file.file.read())
            for file in form.getlist("files")
            if isinstance(file, UploadFile) and file.filename  # browsers send an empty part for no file
        ]
        if not sent:
            raise InvalidRequest("files", "none was chosen.", "Choose the pipeline's files, or one zip.")
        _take(database, drafted, read_sent(sent), origin=_sent_words(sent))
    except RequestError as error:
        return _page(request, drafted, user, database, error=error, typed=form)
    return go(drafted.draft, Step.PIPELINE)


@router.post(START + "/{draft_id}/git")
def keep_commit(
    request: Request, form: CheckedForm, drafted: TheDraft, user: Author, database: TheDatabase
) -> Response:
    """The files of one commit, from a host that the operator allows."""
    address, commit, folder = (text_of(form, name) for name in ("address", "commit", "folder"))
    try:
        hosts = request.app.state.settings.git_hosts
        files = fetch_commit(address, commit, folder=folder, hosts=hosts)
        _take(database, drafted, read_sent(files), origin=f"{address} at {commit}")
    except RequestError as error:
        return _page(request, drafted, user, database, error=error, typed=form)
    return go(drafted.draft, Step.PIPELINE)


@router.post(START + "/{draft_id}/pipeline")
def keep_manifest(
    request: Request, form: CheckedForm, drafted: TheDraft, user: Author, database: TheDatabase
) -> Response:
    """What dpgate.yaml says, as a form."""
    try:
        manifest = with_untyped_bounds(manifest_of(form, before=drafted.content.manifest))
        content = drafted.content.model_copy(update={"manifest": manifest})
        check_pipeline(pipeline_of(content), drafted.dataset)
    except RequestError as error:
        return _page(request, drafted, user, database, error=error, typed=form)
    save(database, drafted, manifest=manifest)
    return go(drafted.draft, Step.REHEARSAL)


def _take(database: Database, drafted: Drafted, sent: SentFiles, *, origin: str) -> None:
    """Raises InvalidRequest when dpgate.yaml is no YAML; what it says is checked with the form."""
    changes: dict[str, Any] = {"sources": sent.sources, "origin": origin[:1000]}
    if sent.manifest is not None:
        changes["manifest"] = with_untyped_bounds(read_yaml(sent.manifest, field="dpgate.yaml"))
    save(database, drafted, **changes)


def _sent_words(sent: list[tuple[str, bytes]]) -> str:
    names = ", ".join(name for name, _ in sent[:3])
    return f"{names[:200]}{' and more' if len(sent) > 3 else ''}, uploaded"


def _page(
    request: Request,
    drafted: Drafted,
    user: User,
    database: Database,
    *,
    error: RequestError | None = None,
    typed: FormData | None = None,
) -> Response:
    allowed = drafted.dataset.declaration.policy.images
    with database.reading() as connection:
        known = [image for image in images.listed(connection) if image.is_approved and image.name in allowed]
    return step_page(
        request,
        user,
        drafted,
        Step.PIPELINE,
        error=error,
        typed=typed,
        images=known,
        shown=shown_manifest(drafted.content.manifest),
        problem=_problem(drafted.content) if error is None else None,
        git_hosts=request.app.state.settings.git_hosts,
    )


def _problem(content: DraftContent) -> RequestError | None:
    """What is still wrong with what is kept, once there is something."""
    if not content.manifest:
        return None
    try:
        pipeline_of(content)
    except RequestError as error:
        return error
    return None
