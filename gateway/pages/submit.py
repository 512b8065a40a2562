"""The submit wizard: start, drafts, and the step that asks which data set. The other steps are next door."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from domain.dataset import DatasetState
from domain.errors import InvalidRequest, RequestError
from domain.job_draft import DraftContent, Step
from domain.model import parse
from domain.permissions import User
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import (
    START,
    Author,
    TheDraft,
    go,
    path_of,
    save,
    step_page,
    text_of,
    typed_texts,
)
from gateway.problems import STATUS
from store import datasets, grants, job_drafts
from store.database import Database

router = APIRouter(include_in_schema=False)


@router.get(START)
def start(request: Request, user: Author, database: TheDatabase, dataset: str = "") -> Response:
    """Choose a data set, or go on with a draft."""
    return _start_page(request, user, database, chosen=dataset)


@router.post(START)
def begin(request: Request, form: CheckedForm, user: Author, database: TheDatabase) -> Response:
    """A new draft on this data set."""
    try:
        content = _chosen(form_dataset=text_of(form, "dataset"), project=text_of(form, "project"))
        with database.transaction() as connection:
            datasets.newest(connection, content.dataset, user)
            draft = job_drafts.create(connection, author=user.name, content=content, now=datetime.now(UTC))
    except RequestError as error:
        chosen = typed_texts(form)
        return _start_page(request, user, database, chosen=chosen.get("dataset", ""), error=error)
    return go(draft, Step.PIPELINE)


@router.post(START + "/{draft_id}/removal")
def remove(_form: CheckedForm, drafted: TheDraft, database: TheDatabase) -> Response:
    with database.transaction() as connection:
        job_drafts.delete(connection, drafted.draft)
    return RedirectResponse(START, status_code=303)


@router.get(START + "/{draft_id}/dataset")
def show_dataset(request: Request, drafted: TheDraft, user: Author, database: TheDatabase) -> Response:
    return step_page(request, user, drafted, Step.DATASET, **_choices(database, user))


@router.post(START + "/{draft_id}/dataset")
def keep_dataset(
    request: Request, form: CheckedForm, drafted: TheDraft, user: Author, database: TheDatabase
) -> Response:
    """Another data set: the pipeline stays, and is rehearsed anew."""
    try:
        chosen = _chosen(form_dataset=text_of(form, "dataset"), project=text_of(form, "project"))
        with database.reading() as connection:
            datasets.newest(connection, chosen.dataset, user)
    except RequestError as error:
        context = _choices(database, user)
        return step_page(request, user, drafted, Step.DATASET, error=error, typed=form, **context)
    save(database, drafted, dataset=chosen.dataset, project=chosen.project)
    return go(drafted.draft, Step.PIPELINE)


def _chosen(*, form_dataset: str, project: str) -> DraftContent:
    if not form_dataset:
        raise InvalidRequest("dataset", "is missing.", "Choose a data set.")
    return parse(DraftContent, {"dataset": form_dataset, "project": project or None})


def _start_page(
    request: Request, user: User, database: Database, *, chosen: str, error: RequestError | None = None
) -> Response:
    with database.reading() as connection:
        drafts = job_drafts.of_author(connection, user.name)
    return page(
        request,
        "submit_start.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        drafts=[(draft, path_of(draft, Step.PIPELINE)) for draft in drafts],
        chosen=chosen,
        problems=error.problems if error else (),
        **_choices(database, user),
    )


def _choices(database: Database, user: User) -> dict[str, Any]:
    """Data sets that are ready, and the projects that may pay for each."""
    now = datetime.now(UTC)
    with database.reading() as connection:
        found = [
            dataset
            for dataset in datasets.visible_to(connection, user)
            if dataset.state is DatasetState.READY
        ]
        projects = {dataset.name: grants.paying_for(connection, user, dataset.name, now) for dataset in found}
    return {"datasets": found, "projects": sorted({name for names in projects.values() for name in names})}
