"""What all steps of the submit wizard share: their draft, which steps can be reached, the page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import FormData

from domain.dataset import Dataset
from domain.draft_steps import has_untyped_bounds, is_rehearsed, pipeline_of
from domain.errors import FieldProblem, NotFound, RequestError
from domain.job_draft import DraftContent, JobDraft, Step
from domain.permissions import Permission, User
from domain.rehearsal import Rehearsal
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import page_requires
from gateway.problems import STATUS
from gateway.routes import OurId
from store import datasets, job_drafts, rehearsals
from store.database import Database

START = "/jobs/new"
Author = Annotated[User, Depends(page_requires(Permission.JOB_SUBMIT))]
NAMES = {
    Step.DATASET: "Data set",
    Step.PIPELINE: "Pipeline",
    Step.REHEARSAL: "Rehearsal",
    Step.BOUNDS: "Bounds",
    Step.MECHANISM: "Mechanism",
    Step.CHECK: "Check and submit",
}


@dataclass(frozen=True)
class Drafted:
    """A draft with what belongs to it."""

    draft: JobDraft
    dataset: Dataset
    rehearsal: Rehearsal | None

    @property
    def content(self) -> DraftContent:
        return self.draft.content

    @property
    def furthest(self) -> Step:
        """The last step that can be looked at."""
        try:
            pipeline = pipeline_of(self.content)
        except RequestError:
            return Step.PIPELINE
        if not is_rehearsed(self.content, self.rehearsal, dataset_id=self.dataset.id):
            return Step.REHEARSAL
        if has_untyped_bounds(pipeline.manifest):
            return Step.BOUNDS
        return Step.CHECK if self.content.mechanism else Step.MECHANISM

    def may_see(self, step: Step) -> bool:
        return step.number <= self.furthest.number


@dataclass(frozen=True)
class StepLink:
    """One entry of the list of steps at the top."""

    number: int
    name: str
    path: str
    stage: str


def draft_of_path(draft_id: OurId, user: Author, database: TheDatabase) -> Drafted:
    """The user's draft; to everybody else it does not exist."""
    return read(database, draft_id, user)


TheDraft = Annotated[Drafted, Depends(draft_of_path)]


def read(database: Database, draft_id: str, user: User) -> Drafted:
    with database.reading() as connection:
        draft = job_drafts.get_own(connection, draft_id, author=user.name)
        dataset = datasets.newest(connection, draft.content.dataset, user)
        rehearsal = None
        if draft.content.rehearsal:
            try:
                rehearsal = rehearsals.get_own(connection, draft.content.rehearsal, author=user.name)
            except NotFound:
                rehearsal = None  # older than what is kept: it can be made again
    return Drafted(draft, dataset, rehearsal)


def save(database: Database, drafted: Drafted, **changes: Any) -> None:
    """Other content of some fields; what a model refuses is a mistake of the step, not of the user."""
    content = DraftContent.model_validate({**dict(drafted.content), **changes})
    with database.transaction() as connection:
        job_drafts.save(connection, drafted.draft, content, now=datetime.now(UTC))


def path_of(draft: JobDraft, step: Step) -> str:
    return f"{START}/{draft.id}/{step}"


def go(draft: JobDraft, step: Step) -> RedirectResponse:
    return RedirectResponse(path_of(draft, step), status_code=303)


def step_page(
    request: Request,
    user: User,
    drafted: Drafted,
    step: Step,
    *,
    error: RequestError | None = None,
    typed: FormData | None = None,
    **context: Any,
) -> HTMLResponse:
    """A step's own template, in the wizard's frame. With an error: its status, and what was typed."""
    return page(
        request,
        f"submit_{step}.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        draft=drafted.draft,
        content=drafted.content,
        dataset=drafted.dataset,
        rehearsal=drafted.rehearsal,
        step=step,
        steps=links(drafted, step),
        here_path=path_of(drafted.draft, step),
        problems=error.problems if error else (),
        wrong=by_field(error.problems) if error else {},
        typed=typed_texts(typed),
        **context,
    )


def links(drafted: Drafted, here: Step) -> list[StepLink]:
    return [
        StepLink(
            number=step.number,
            name=NAMES[step],
            path=path_of(drafted.draft, step) if drafted.may_see(step) else "",
            stage="now" if step is here else "done" if step.number < here.number else "later",
        )
        for step in Step
    ]


def by_field(problems: tuple[FieldProblem, ...]) -> dict[str, FieldProblem]:
    """The first problem of each field."""
    return {problem.field: problem for problem in reversed(problems)}


def typed_texts(form: FormData | None) -> dict[str, str]:
    """The texts of a form, to be shown again; files stay where they are."""
    return {name: value for name, value in form.multi_items() if isinstance(value, str)} if form else {}


def text_of(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""
